import { crc32, deflateRawSync } from 'node:zlib';

export interface Part {
  readonly name: string;
  readonly data: string | Uint8Array;
  /** The size that the directory declares, if it is not the real one. */
  readonly declared?: number;
  /** The check sum, if it is not the right one. */
  readonly sum?: number;
}

/** Creates a ZIP file (APPNOTE.TXT, 4.3). */
export function zip(parts: readonly Part[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, declared, sum } of parts) {
    const raw = Buffer.from(data);
    const packed = deflateRawSync(raw);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(sum ?? crc32(raw), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(declared ?? raw.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), packed]);
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 'latin1');
    shared.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    files.push(file);
    offset += file.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, entries, end]);
}

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** The parts of a workbook with these sheets, by name: the XML of their rows, or parts with any data. */
export function workbookParts(
  sheets: Readonly<Record<string, string>>,
  more: { readonly styles?: string; readonly texts?: string; readonly properties?: string } = {},
): Part[] {
  const names = Object.keys(sheets);
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${kind}" Target="${target}"/>`;
  return [
    {
      name: 'xl/workbook.xml',
      data: `<workbook xmlns:r="${RELATIONS}">${more.properties ?? ''}<sheets>${names
        .map(
          (name, index) =>
            `<sheet name="${name}" sheetId="${index + 1}" r:id="s${index}"${name.startsWith('hidden') ? ' state="hidden"' : ''}/>`,
        )
        .join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `<Relationships>${names.map((_, index) => relation(`s${index}`, 'worksheet', `worksheets/sheet${index}.xml`)).join('')}${relation('x', 'styles', '/xl/styles.xml')}${relation('y', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    },
    { name: 'xl/styles.xml', data: more.styles ?? '<styleSheet/>' },
    { name: 'xl/sharedStrings.xml', data: more.texts ?? '<sst/>' },
    ...names.map((name, index) => ({
      name: `xl/worksheets/sheet${index}.xml`,
      data: `<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`,
    })),
  ];
}

/** The XML of a row of texts. */
export const textRow = (...texts: readonly string[]): string =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;

import { FIRST_ROWS, findHeader, hasKnown, isFilled } from '../header.ts';
import { UnreadableFile } from '../limits.ts';
import { NoSheet, type RowSink, type Sheets, type TypedRow, type TypedTask } from '../typed-rows.ts';
import { Archive } from './archive.ts';
import { type NumberFormat, numberFormat } from './formats.ts';
import { type CellTables, RowsReader, TextsReader } from './rows.ts';
import { type Attribute, parseXml, type XmlReader } from './xml.ts';

/**
 * Reads the rows of a sheet of an Excel workbook (.xlsx): of the wanted one, or of the first visible one with a header.
 * Empty rows are skipped.
 * @throws {UnreadableFile}, {@link NoSheet}
 */
export async function readWorkbook(task: TypedTask, sink: RowSink): Promise<Sheets> {
  const archive = await Archive.open(Buffer.from(task.bytes.buffer));
  if (!archive.has('xl/workbook.xml')) throw new UnreadableFile('it is not an Excel workbook (.xlsx)');
  const list = await read(archive, 'xl/workbook.xml', new SheetsReader());
  const { relations } = await read(archive, 'xl/_rels/workbook.xml.rels', new RelationsReader());
  const partOf = (kind: string) => relations.find((each) => each.kind === kind)?.path;
  const { texts } = await read(archive, partOf('sharedStrings'), new TextsReader());
  const { formats } = await read(archive, partOf('styles'), new FormatsReader(list.is1904));
  const readSheet = async (sheet: Sheet, onRow: (row: TypedRow, reader: RowsReader) => void) => {
    const path = relations.find(({ id }) => id === sheet.relation)?.path;
    if (path === undefined) throw new UnreadableFile(`it has no part for its sheet '${sheet.name}'`);
    await parseXml(archive.read(path), new RowsReader({ formats, texts } satisfies CellTables, onRow));
  };
  const sheet = await chooseSheet(list.sheets, task, readSheet);
  await readSheet(sheet, rowFilter(task, sink));
  return { sheet: sheet.name, sheets: list.sheets.map(({ name }) => name), formulas: sink.formulas };
}

type ReadSheet = (sheet: Sheet, onRow: (row: TypedRow, reader: RowsReader) => void) => Promise<void>;

async function chooseSheet(sheets: readonly Sheet[], task: TypedTask, readSheet: ReadSheet): Promise<Sheet> {
  const { sheet: wanted, headerLine = 1, named } = task;
  const byName = sheets.find(({ name }) => name.toLowerCase() === wanted?.toLowerCase());
  if (byName !== undefined) return byName;
  if (wanted !== undefined) throw new NoSheet(sheets.map(({ name }) => name));
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  let filled: Sheet | undefined;
  for (const sheet of visible.length > 1 ? visible : []) {
    const first: (readonly string[])[] = [];
    await readSheet(sheet, ({ row, cells }, reader) => {
      if (row >= headerLine) first.push(cells);
      reader.isDone = first.length >= FIRST_ROWS;
    });
    if (findHeader(first.slice(0, FIRST_ROWS), named) !== -1) return sheet;
    if (first.some(isFilled)) filled ??= sheet;
  }
  const sheet = filled ?? visible[0];
  if (sheet === undefined) throw new UnreadableFile('it has no visible sheet');
  return sheet;
}

/** Leaves out rows above the header line, and values right of the header, or of the rows in which it is looked for. */
function rowFilter({ headerLine, named }: TypedTask, sink: RowSink) {
  const most = headerLine === undefined ? FIRST_ROWS : 1;
  let count = 0;
  let width = 0;
  return (row: TypedRow, reader: RowsReader): void => {
    if (row.row < (headerLine ?? 0)) return;
    sink.add(row);
    count += 1;
    if (count > most) return;
    width = Math.max(width, row.cells.length);
    const isHeader = hasKnown(row.cells, named) && (count === 1 || isFilled(row.cells));
    if (!isHeader && count < most) return;
    reader.width = width;
    count = most;
  };
}

/** @param path undefined if the workbook has no such part */
async function read<Reader extends XmlReader>(
  archive: Archive,
  path: string | undefined,
  reader: Reader,
): Promise<Reader> {
  if (path !== undefined) await parseXml(archive.read(path), reader);
  return reader;
}

interface Sheet {
  readonly name: string;
  readonly relation: string;
  readonly isHidden: boolean;
}

class SheetsReader implements XmlReader {
  readonly sheets: Sheet[] = [];
  is1904 = false;

  open(name: string, attribute: Attribute): void {
    if (name === 'workbookPr') this.is1904 = ['1', 'true'].includes(attribute('date1904') ?? '');
    if (name !== 'sheet') return;
    const relation = attribute('r:id') ?? attribute('id') ?? '';
    const isHidden = (attribute('state') ?? 'visible') !== 'visible';
    this.sheets.push({ name: attribute('name') ?? '', relation, isHidden });
  }
}

class RelationsReader implements XmlReader {
  /** `kind` is the last word of its type, such as `worksheet`. */
  readonly relations: { readonly id: string; readonly kind: string; readonly path: string }[] = [];

  open(name: string, attribute: Attribute): void {
    if (name !== 'Relationship') return;
    const target = attribute('Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`;
    const kind = (attribute('Type') ?? '').split('/').at(-1) ?? '';
    this.relations.push({ id: attribute('Id') ?? '', kind, path });
  }
}

/** Reads the formats of cells, in the order in which cells number them. */
class FormatsReader implements XmlReader {
  readonly formats: NumberFormat[] = [];
  readonly #is1904: boolean;
  readonly #codes = new Map<number, string>();
  readonly #known = new Map<number, NumberFormat>();
  #isInCells = false;

  constructor(is1904: boolean) {
    this.#is1904 = is1904;
  }

  open(name: string, attribute: Attribute): void {
    if (name === 'numFmt') this.#codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
    if (name === 'cellXfs') this.#isInCells = true;
    if (name !== 'xf' || !this.#isInCells) return;
    const id = Number(attribute('numFmtId') ?? 0);
    const format = this.#known.get(id) ?? numberFormat(id, this.#codes.get(id), this.#is1904);
    this.#known.set(id, format);
    this.formats.push(format);
  }

  close(name: string): void {
    if (name === 'cellXfs') this.#isInCells = false;
  }
}

import { AppError } from '../../../errors.ts';
import { again, type Hint } from '../../../hint.ts';
import { type CsvRecord, type Delimiter, encodeRecord } from '../../../util/csv.ts';
import { Archive } from './archive.ts';
import { WorkbookError } from './error.ts';
import {
  FormatsReader,
  type Relation,
  RelationsReader,
  type Sheet,
  SheetsReader,
  TextsReader,
} from './parts.ts';
import { type Lookup, RowsReader } from './rows.ts';
import { parseXml, type XmlReader } from './xml.ts';

/** Maximum size of the parts that list sheets and formats. */
const MAX_INDEX = 16 * 1024 * 1024;

const AS_CSV: Hint = [
  { text: 'in Excel: File > Save As > CSV UTF-8' },
  { text: 'then', command: again({}, { operands: ['list.csv'] }) },
];

interface WorkbookOptions {
  /** As the user named the file. */
  readonly name: string;
  /** The name of the sheet; undefined for the first one that is visible. */
  readonly sheet: string | undefined;
  readonly delimiter: Delimiter;
  readonly signal: AbortSignal;
}

/**
 * Reads the rows of a sheet of an Excel workbook (.xlsx) as records, one at a time. Empty rows are skipped.
 * @param descriptor of the open file
 * @throws {AppError} `bad_input` if it cannot be read, `usage` if it has no such sheet; the signal's reason
 */
export async function* readWorkbook(descriptor: number, options: WorkbookOptions): AsyncGenerator<CsvRecord> {
  const { name, delimiter, signal } = options;
  try {
    const archive = await Archive.open(descriptor, signal);
    const { path, lookup } = await findSheet(archive, options);
    for await (const { number, cells } of parseXml(archive.read(path), new RowsReader(lookup)))
      yield { cells, line: number, row: number, text: encodeRecord(cells, delimiter), end: '\n' };
  } catch (cause) {
    if (!(cause instanceof WorkbookError)) throw cause;
    throw new AppError('bad_input', `${name} cannot be read: ${cause.message}`, { cause, hint: AS_CSV });
  }
}

async function findSheet(
  archive: Archive,
  { name, sheet: wanted }: WorkbookOptions,
): Promise<{ readonly path: string; readonly lookup: Lookup }> {
  if (!archive.has('xl/workbook.xml')) throw new WorkbookError('it is not an Excel workbook (.xlsx)');
  const list = new SheetsReader();
  const sheets = await readPart(archive, 'xl/workbook.xml', list);
  const relations = await readPart(archive, 'xl/_rels/workbook.xml.rels', new RelationsReader());
  const isWanted = (each: Sheet) =>
    wanted === undefined ? !each.isHidden : each.name.toLowerCase() === wanted.toLowerCase();
  const sheet = sheets.find(isWanted);
  if (sheet === undefined) throw noSheet(name, wanted, sheets);
  const path = relations.find(({ id }) => id === sheet.relation)?.path;
  if (path === undefined) throw new WorkbookError(`it has no part for its sheet '${sheet.name}'`);
  const partOf = (kind: string) => relations.find((each: Relation) => each.kind === kind)?.path;
  const formats = await optionalPart(archive, partOf('styles'), new FormatsReader(list.is1904), MAX_INDEX);
  const texts = await optionalPart(archive, partOf('sharedStrings'), new TextsReader());
  return { path, lookup: { formats, texts } };
}

async function readPart<Item>(archive: Archive, path: string, reader: XmlReader<Item>): Promise<Item[]> {
  return optionalPart(archive, path, reader, MAX_INDEX);
}

async function optionalPart<Item>(
  archive: Archive,
  path: string | undefined,
  reader: XmlReader<Item>,
  maxSize?: number,
): Promise<Item[]> {
  const items: Item[] = [];
  if (path === undefined) return items;
  for await (const item of parseXml(archive.read(path, maxSize), reader)) items.push(item);
  return items;
}

function noSheet(name: string, wanted: string | undefined, sheets: readonly Sheet[]): Error {
  if (wanted === undefined) return new WorkbookError('it has no visible sheet');
  const names = sheets.map((sheet) => `'${sheet.name}'`).join(', ');
  const [first] = sheets;
  return new AppError('usage', `${name} has no sheet '${wanted}'; it has ${names || 'none'}`, {
    ...(first === undefined ? {} : { hint: { command: again({ '--sheet': first.name }) } }),
  });
}

import { AppError, failure } from '../../../errors.ts';
import { again, type Hint } from '../../../hint.ts';
import type { CsvRecord, Delimiter } from '../../../util/csv.ts';
import { Archive, WorkbookError } from './archive.ts';
import { type CellTables, type NumberFormat, numberFormat, RowsReader, TextsReader } from './rows.ts';
import { type Attribute, parseXml, XmlReader } from './xml.ts';

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
    const { path, tables } = await findSheet(archive, options);
    yield* parseXml(archive.read(path), new RowsReader(tables, delimiter));
  } catch (cause) {
    if (!(cause instanceof WorkbookError)) throw cause;
    throw failure('bad_input', `${name} cannot be read: ${cause.message}`, AS_CSV, cause);
  }
}

async function findSheet(
  archive: Archive,
  { name, sheet: wanted }: WorkbookOptions,
): Promise<{ readonly path: string; readonly tables: CellTables }> {
  if (!archive.has('xl/workbook.xml')) throw new WorkbookError('it is not an Excel workbook (.xlsx)');
  const list = new SheetsReader();
  const sheets = await readPart(archive, 'xl/workbook.xml', list, MAX_INDEX);
  const relations = await readPart(archive, 'xl/_rels/workbook.xml.rels', new RelationsReader(), MAX_INDEX);
  const isWanted = (each: Sheet) =>
    wanted === undefined ? !each.isHidden : each.name.toLowerCase() === wanted.toLowerCase();
  const sheet = sheets.find(isWanted);
  if (sheet === undefined) throw noSheet(name, wanted, sheets);
  const path = relations.find(({ id }) => id === sheet.relation)?.path;
  if (path === undefined) throw new WorkbookError(`it has no part for its sheet '${sheet.name}'`);
  const partOf = (kind: string) => relations.find((each) => each.kind === kind)?.path;
  const formats = await readPart(archive, partOf('styles'), new FormatsReader(list.is1904), MAX_INDEX);
  const texts = await readPart(archive, partOf('sharedStrings'), new TextsReader());
  return { path, tables: { formats, texts } };
}

/** @param path undefined if the workbook has no such part */
async function readPart<Item>(
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

interface Sheet {
  readonly name: string;
  readonly relation: string;
  readonly isHidden: boolean;
}

class SheetsReader extends XmlReader<Sheet> {
  is1904 = false;

  override open(name: string, attribute: Attribute): void {
    if (name === 'workbookPr') this.is1904 = ['1', 'true'].includes(attribute('date1904') ?? '');
    if (name !== 'sheet') return;
    const relation = attribute('r:id') ?? attribute('id') ?? '';
    const isHidden = (attribute('state') ?? 'visible') !== 'visible';
    this.add({ name: attribute('name') ?? '', relation, isHidden });
  }
}

interface Relation {
  readonly id: string;
  /** The last word of its type, such as `worksheet`. */
  readonly kind: string;
  readonly path: string;
}

class RelationsReader extends XmlReader<Relation> {
  override open(name: string, attribute: Attribute): void {
    if (name !== 'Relationship') return;
    const target = attribute('Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`;
    const kind = (attribute('Type') ?? '').split('/').at(-1) ?? '';
    this.add({ id: attribute('Id') ?? '', kind, path });
  }
}

/** Reads the formats of cells, in the order in which cells number them. */
class FormatsReader extends XmlReader<NumberFormat> {
  readonly #is1904: boolean;
  readonly #codes = new Map<number, string>();
  #isInCells = false;

  constructor(is1904: boolean) {
    super();
    this.#is1904 = is1904;
  }

  override open(name: string, attribute: Attribute): void {
    if (name === 'numFmt') this.#codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
    if (name === 'cellXfs') this.#isInCells = true;
    if (name !== 'xf' || !this.#isInCells) return;
    const id = Number(attribute('numFmtId') ?? 0);
    this.add(numberFormat(id, this.#codes.get(id), this.#is1904));
  }

  override close(name: string): void {
    if (name === 'cellXfs') this.#isInCells = false;
  }
}

import { collect } from '../../../util/async.ts';
import { FIRST_ROWS, findHeader, hasTexts } from '../header.ts';
import { UnreadableFile } from '../limits.ts';
import type { FileRow, TypedFile, TypedTask } from '../typed-rows.ts';
import { openArchive } from './archive.ts';
import { type NumberFormat, numberFormat } from './formats.ts';
import { RowsReader, TextsReader } from './rows.ts';
import { type Element, elementsOf, parseXml } from './xml.ts';

const TRUE: readonly unknown[] = ['1', 'true'];

/**
 * Reads the rows of a sheet of an Excel workbook (.xlsx): of the wanted one, or of the first visible one with a header.
 * Empty rows are skipped. Without the wanted sheet, there are no rows. Not by a library: read-excel-file, exceljs, and hucre
 * lose leading zeros (`04109`); they and SheetJS take 400 to 1,100 MB for 200,000 rows, and unpack a ZIP bomb.
 * @throws {UnreadableFile}
 */
export async function readWorkbook(task: TypedTask): Promise<TypedFile> {
  const { has, read } = await openArchive(Buffer.from(task.bytes.buffer));
  if (!has('xl/workbook.xml')) throw new UnreadableFile('it is not an Excel workbook (.xlsx)');
  const book = await elementsOf(read('xl/workbook.xml'), 'workbookPr', 'sheet');
  const relations = await elementsOf(read('xl/_rels/workbook.xml.rels'), 'Relationship');
  const partOf = (kind: string) => {
    const relation = relations.find(({ attributes }) => attributes.Type?.endsWith(`/${kind}`));
    return relation === undefined ? nothing() : read(pathOf(relation));
  };
  const texts = await collect(parseXml(partOf('sharedStrings'), new TextsReader()));
  const is1904 = book.some(({ attributes }) => TRUE.includes(attributes.date1904));
  const formats = formatsOf(await elementsOf(partOf('styles'), 'numFmt', 'xf'), is1904);
  const rowsOf = ({ attributes: { id, name } }: Element) => {
    const relation = relations.find(({ attributes }) => attributes.Id === id);
    if (relation === undefined) throw new UnreadableFile(`it has no part for its sheet '${name}'`);
    return parseXml(read(pathOf(relation)), new RowsReader({ formats, texts }));
  };
  const all = book.filter(({ name }) => name === 'sheet');
  const sheets = all.map(({ attributes }) => attributes.name ?? '');
  const opened = await openSheet(wantedSheets(all, task.sheet), task, rowsOf);
  return opened === undefined
    ? { sheets, rows: nothing() }
    : { sheets, sheet: opened.sheet.attributes.name ?? '', rows: cutRows(opened, task.named) };
}

async function* nothing(): AsyncGenerator<never> {}

function pathOf({ attributes: { Target: target = '' } }: Element): string {
  return target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`;
}

/** The formats of cells, in the order in which cells number them. */
function formatsOf(styles: readonly Element[], is1904: boolean): NumberFormat[] {
  const codes = new Map<number, string | undefined>();
  const known = new Map<number, NumberFormat>();
  return styles.flatMap(({ parent, attributes: { numFmtId, formatCode } }) => {
    const id = Number(numFmtId ?? 0);
    if (parent === 'numFmts') codes.set(id, formatCode);
    if (parent !== 'cellXfs') return [];
    const format = known.get(id) ?? numberFormat(id, codes.get(id), is1904);
    known.set(id, format);
    return [format];
  });
}

/** The sheet of that name, if there is one; without a name, the visible ones. */
function wantedSheets(all: readonly Element[], name: string | undefined): readonly Element[] {
  if (name !== undefined) {
    const isWanted = ({ attributes }: Element) => attributes.name?.toLowerCase() === name.toLowerCase();
    return all.filter(isWanted).slice(0, 1);
  }
  const visible = all.filter(({ attributes: { state = 'visible' } }) => state === 'visible');
  if (visible.length === 0) throw new UnreadableFile('it has no visible sheet');
  return visible;
}

interface OpenSheet {
  readonly sheet: Element;
  readonly first: readonly FileRow[];
  readonly texts: readonly (readonly string[])[];
  readonly rest: AsyncGenerator<FileRow>;
}

/** Opens the first sheet with a header; else the first one with several columns, or the first one. */
async function openSheet(
  sheets: readonly Element[],
  { headerLine, named }: TypedTask,
  rowsOf: (sheet: Element) => AsyncGenerator<FileRow>,
): Promise<OpenSheet | undefined> {
  const opened: OpenSheet[] = [];
  for (const sheet of sheets) {
    const rest = rowsOf(sheet);
    const first = await takeRows(rest, headerLine);
    const texts = first.map(({ cells }) => Array.from(cells, (cell) => cell?.[0] ?? ''));
    opened.push({ sheet, first, texts, rest });
    if (findHeader(texts, named) !== -1) return opened.at(-1);
  }
  return opened.find(({ texts }) => texts.some(hasTexts)) ?? opened[0];
}

/** Takes the row of that number; without a number, the rows in which the header is looked for. */
async function takeRows(rows: AsyncGenerator<FileRow>, headerLine?: number): Promise<FileRow[]> {
  const first: FileRow[] = [];
  const most = headerLine === undefined ? FIRST_ROWS : 1;
  while (first.length < most) {
    const { done, value } = await rows.next();
    if (done === true) break;
    if (value.row >= (headerLine ?? 0)) first.push(value);
  }
  return first;
}

/** Leaves out values right of the header, which would fill the memory with empty cells, and reports the last one. */
async function* cutRows(
  { first, texts, rest }: OpenSheet,
  named: TypedTask['named'],
): AsyncGenerator<FileRow> {
  yield* first;
  const head = first.slice(0, findHeader(texts, named) + 1);
  const width = Math.max(...(head.length > 0 ? head : first).map(({ filled = 0 }) => filled));
  for await (const row of rest) yield (row.filled ?? 0) > width ? { ...row, cells: [] } : row;
}

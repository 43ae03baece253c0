import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { type AppError, usage } from '../errors.ts';
import { again } from '../hint.ts';
import { startOf } from '../util/format.ts';
import { columnName, MAX_CELL, MAX_SHEET_COLUMNS, MAX_SHEET_ROWS } from '../util/sheet.ts';
import { type TableCell, type TableFile, textOf } from './table-file.ts';

/** Number of characters that are compressed at once. */
const CHUNK = 65_536;
/** Equal data gives equal files, in every time zone: a time in the format of DOS is local. */
const TIME = { mtime: new Date(2000, 0, 1), forceDosTimestamp: true };

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
/** The parts of a workbook (ECMA-376) with one sheet, a bold font for its header, and formats for days and times. */
const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Restaurants" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml':
    `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
    `<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>' +
    '<cellXfs count="4"><xf xfId="0"/><xf fontId="1" xfId="0" applyFont="1"/>' +
    '<xf numFmtId="164" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" xfId="0" applyNumberFormat="1"/></cellXfs>' +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
};

/** Text is stored as text, so it is never a formula. @throws {AppError} `usage` for more than a sheet can have */
export async function* xlsxBytes(table: TableFile): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  // A failure ends the reading below.
  zip.on('error', (error) => (zip.outputStream as Readable).destroy(error));
  for (const [name, xml] of Object.entries(PARTS)) zip.addBuffer(Buffer.from(HEAD + xml), name, TIME);
  const sheet = Readable.from(chunksOf(sheetXml(table)), { objectMode: false });
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', TIME);
  zip.end();
  for await (const chunk of zip.outputStream) yield chunk as Buffer;
}

async function* chunksOf(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let pending = '';
  for await (const text of texts) {
    pending += text;
    if (pending.length < CHUNK) continue;
    yield Buffer.from(pending);
    pending = '';
  }
  yield Buffer.from(pending);
}

async function* sheetXml({ columns, rows }: TableFile): AsyncGenerator<string> {
  if (columns.length > MAX_SHEET_COLUMNS) throw tooLarge('columns', MAX_SHEET_COLUMNS);
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">`;
  yield '<pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews><sheetData>';
  const letters = columns.map((_, index) => columnName(index + 1));
  yield rowXml(
    1,
    columns.map(({ name }) => name),
    letters,
    ' s="1"',
  );
  let number = 1;
  for await (const cells of rows) {
    number += 1;
    if (number > MAX_SHEET_ROWS) throw tooLarge('rows', MAX_SHEET_ROWS);
    yield rowXml(number, cells, letters);
  }
  yield '</sheetData></worksheet>';
}

function rowXml(number: number, cells: readonly TableCell[], letters: readonly string[], style = ''): string {
  const xml = cells.map((cell, index) => cellXml(cell, `r="${letters[index]}${number}"${style}`));
  return `<row r="${number}">${xml.join('')}</row>`;
}

function cellXml(cell: TableCell, attributes: string): string {
  if (cell === null || cell === '') return '';
  if (cell instanceof Date) return dateXml(cell, attributes);
  if (typeof cell === 'number') return `<c ${attributes}><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c ${attributes} t="b"><v>${Number(cell)}</v></c>`;
  return `<c ${attributes} t="inlineStr"><is><t xml:space="preserve">${textXml(cell)}</t></is></c>`;
}

/** The styles of a day and of a time, by position. */
const DAY_STYLE = 2;
const TIME_STYLE = 3;
const DAY_MS = 86_400_000;
/** 1 January 1970 as Excel counts days; before 1 March 1900 it counts a day that did not exist. */
const DAY_1970 = 25_569;
const FIRST_DAY = 61;
const LAST_DAY = 2_958_466;

function dateXml(date: Date, attributes: string): string {
  const days = date.getTime() / DAY_MS + DAY_1970;
  if (!(days >= FIRST_DAY && days < LAST_DAY)) return cellXml(textOf(date), attributes);
  return `<c ${attributes} s="${Number.isInteger(days) ? DAY_STYLE : TIME_STYLE}"><v>${days}</v></c>`;
}

const NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text that is too long for a cell is cut. Characters that XML cannot contain are written as `_x0007_`. */
function textXml(text: string): string {
  const shown = text.length > MAX_CELL ? `${startOf(text, MAX_CELL - 1)}…` : text;
  return shown
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replace(/[&<>]/g, (sign) => NAMES[sign] ?? '')
    .replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (sign) => `_x${hex(sign)}_`);
}

const hex = (sign: string): string => sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

const tooLarge = (what: string, max: number): AppError =>
  usage(`an Excel sheet has at most ${max.toLocaleString('en-US')} ${what}`, {
    command: again({ '--output': 'out.parquet' }),
  });

import { AppError, failure } from '../../errors.ts';
import { restaurant } from '../../hint.ts';
import { prepend } from '../../util/async.ts';
import { CsvError, CsvReader, type CsvRecord, DELIMITERS, type Delimiter } from '../../util/csv.ts';
import { columnName, MAX_SHEET_COLUMNS } from '../../util/sheet.ts';
import { isKnownHeader } from '../match/headers.ts';
import type { CellRow, OnProblem, Sheets } from '../row.ts';
import { FIRST_ROWS, findHeader, hasKnown, hasTexts } from './header.ts';
import { MAX_ROW } from './objects.ts';
import type { TypedRow } from './typed-rows.ts';

/** @param wanted the delimiter; undefined to use that of a line `sep=;`, or to detect it */
export async function openDelimited(
  pieces: AsyncIterable<string>,
  head: string,
  wanted: Delimiter | undefined,
  onProblem: OnProblem,
) {
  const separator = /^"?sep=(.)"?[\r\n]/i.exec(head)?.[1];
  const named = DELIMITERS.find((each) => each === separator);
  const delimiter = wanted ?? named ?? detectDelimiter(head);
  // A spreadsheet does not show the line sep=.
  const reader = new CsvReader(delimiter, MAX_ROW, separator === undefined ? 1 : 0);
  const records = readRecords(pieces, reader, onProblem);
  if (separator !== undefined) await records.next();
  return { delimiter, records };
}

async function* readRecords(
  pieces: AsyncIterable<string>,
  reader: CsvReader,
  onProblem: OnProblem,
): AsyncGenerator<CsvRecord> {
  try {
    for await (const piece of pieces) yield* reader.push(piece);
    yield* reader.end();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    onProblem({ line: error.line, row: error.row, what: error.message });
  }
}

/**
 * Detects the delimiter in the first lines: the one that gives all of them the same number of fields; of several, the one
 * with the most known headers, then the most fields. In a tie, the order of DELIMITERS decides.
 */
export function detectDelimiter(head: string): Delimiter {
  return DELIMITERS.map((delimiter) => candidateOf(head, delimiter)).reduce((best, next) => {
    const difference = next.even - best.even || next.known - best.known || next.fields - best.fields;
    return difference > 0 ? next : best;
  }).delimiter;
}

function candidateOf(head: string, delimiter: Delimiter) {
  const all = firstRecords(head, delimiter);
  // Above the header may be titles.
  const lines = all.slice(Math.max(0, all.findIndex(hasTexts)));
  const header = lines[0] ?? [];
  const even = header.length > 1 && lines.every(({ length }) => length === header.length) ? 1 : 0;
  return { delimiter, even, known: even * header.filter(isKnownHeader).length, fields: header.length };
}

/** The first complete records; at least the header, also if its line is not complete. */
function firstRecords(head: string, delimiter: Delimiter): string[][] {
  const reader = new CsvReader(delimiter);
  const records: string[][] = [];
  for (const { cells } of reader.push(head)) {
    records.push(cells);
    if (records.length === FIRST_ROWS) break;
  }
  if (records.length > 0) return records;
  const [line = ''] = head
    .trimStart()
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1);
  return [line.split(delimiter)];
}

/** Whether the beginning of a text is long enough to detect the delimiter: a line with one is complete, or ten lines are. */
export function hasHeader(head: string): boolean {
  const lines = head.trimStart().split(/[\r\n]+/, FIRST_ROWS + 1);
  return lines.length > FIRST_ROWS || lines.slice(0, -1).some((line) => /[,;\t|]/.test(line));
}

type TableRecord = CsvRecord & Partial<Pick<TypedRow, 'kinds' | 'filled'>>;

export interface TableSource {
  readonly records: AsyncGenerator<TableRecord>;
  readonly format: 'csv' | 'tsv';
  readonly bom: boolean;
  readonly delimiter: Delimiter;
  /** Whether the columns have letters, which errors name. */
  readonly isSheet: boolean;
  readonly sheets?: Sheets;
}

interface HeaderOptions {
  readonly headerLine?: number | undefined;
  readonly named?: readonly (string | undefined)[];
}

class NoHeader extends AppError {
  constructor(name: string, headerLine: number | undefined) {
    const problem =
      headerLine === undefined ? 'has no header row' : `has no line ${headerLine} (--header-line)`;
    super('bad_input', `${name} ${problem}`, {
      hint: {
        text: 'the first line names the columns, such as name,city',
        command: restaurant('help', 'formats'),
      },
    });
  }
}

/** Titles, lines with a single cell, are skipped if a known header follows. @param name of the list. @throws {NoHeader} */
export async function openTable(
  name: string,
  { records, ...source }: TableSource,
  { headerLine, named = [] }: HeaderOptions,
  onProblem: OnProblem,
) {
  const first: TableRecord[] = [];
  for (let next = await records.next(); next.done !== true; next = await records.next()) {
    if (next.value.line < (headerLine ?? 0)) continue;
    first.push(next.value);
    if (headerLine !== undefined || first.length === FIRST_ROWS || hasKnown(first[0]?.cells ?? [], named))
      break;
  }
  const known = findHeader(
    first.map(({ cells }) => cells),
    named,
  );
  const hasTitles = known > 0 && !first.slice(0, known).some(({ cells }) => hasTexts(cells));
  const at = hasTitles ? known : 0;
  const header = first[at];
  if (header === undefined) throw new NoHeader(name, headerLine);
  if (header.cells.length > MAX_SHEET_COLUMNS)
    throw failure('bad_input', `${name} has more than 16,384 columns`, { text: 'check its delimiter' });
  const layout = { ...source, header: header.cells, lineEnd: header.end === '' ? '\n' : header.end };
  return {
    ...layout,
    headerText: header.text,
    likelyHeader: known > 0 && !hasTitles ? first[known]?.line : undefined,
    rows: paddedRows(prepend(first.slice(at + 1), records), layout, onProblem),
  };
}

interface TableLayout extends Omit<TableSource, 'records'> {
  readonly header: readonly string[];
  readonly lineEnd: string;
}

async function* paddedRows(
  records: AsyncGenerator<TableRecord>,
  layout: TableLayout,
  onProblem: OnProblem,
): AsyncGenerator<CellRow> {
  const { delimiter, lineEnd } = layout;
  const width = layout.header.length;
  for await (const { cells, line, row: number, text, end, kinds, filled: last } of records) {
    // Some programs end every row with delimiters.
    const filled = last ?? cells.findLastIndex((cell) => cell !== '') + 1;
    if (filled > width) {
      onProblem({ line, row: number, what: tooWide(filled, layout) });
      continue;
    }
    const row = layout.isSheet ? text : fitted(text, cells.length, width, delimiter);
    while (cells.length > width) cells.pop();
    while (cells.length < width) cells.push('');
    // Rows of the output end in the same character, also if those of the list do not.
    const isSame = end !== '' && end.at(-1) === lineEnd.at(-1);
    yield {
      kind: 'cells',
      line,
      row: number,
      cells,
      text: row,
      end: isSame ? end : lineEnd,
      ...(kinds && { kinds }),
    };
  }
}

/** Adds the delimiters of missing cells to a record, or removes those of empty cells at its end. */
function fitted(text: string, count: number, width: number, delimiter: string): string {
  let end = text.length;
  for (let left = count; left > width; left -= 1) end = text.lastIndexOf(delimiter, end - 1);
  return text.slice(0, end) + delimiter.repeat(Math.max(0, width - count));
}

const tooWide = (count: number, { header, isSheet }: TableLayout): string =>
  isSheet
    ? `has a value in column ${columnName(count)}, the header ends with column ${columnName(header.length)}`
    : `has ${count} fields, the header has ${header.length}`;

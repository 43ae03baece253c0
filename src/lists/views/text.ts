import { failure, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { guardFormula, guardJson } from '../../output/csv.ts';
import { toCell } from '../../output/records.ts';
import { encodeRecord } from '../../util/csv.ts';
import { toJson } from '../../util/json.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import type { RowResult } from '../match/match.ts';
import { flatCells } from '../read/list.ts';
import { type ResultColumns, repeated } from '../result.ts';
import type { InputRow, ListFormat, ObjectRow } from '../row.ts';

export interface TextOptions {
  readonly format: ListFormat;
  readonly delimiter: string;
  readonly bom: boolean;
  /** The columns of the list; for objects that become a table, the paths of all of them. */
  readonly columns: readonly string[];
  /** The header as received; undefined if the list has another format or delimiter. */
  readonly headerText?: string | undefined;
  readonly lineEnd: string;
  readonly result: ResultColumns;
  /** Whether to neutralize formulas: of the service, and of lists in which they were plain text. */
  readonly guard: boolean;
  /** Whether the list is a CSV or TSV, whose cells stay as they are. */
  readonly isDelimited: boolean;
}

export interface RowText {
  /** The first line with its line break; empty for NDJSON. */
  readonly header: string;
  row(row: InputRow, result: RowResult): string;
}

/** @throws {AppError} `usage` if a column would be there twice */
export const openRowText = (options: TextOptions): RowText =>
  options.format === 'ndjson' ? ndjsonText(options) : delimitedText(options);

function delimitedText(options: TextOptions): RowText {
  const { format, delimiter, columns, headerText, lineEnd, result, guard } = options;
  result.assertNew(columns, false);
  const known = new Set(columns);
  const ownCell = (text: string): string => (guard && !options.isDelimited ? guardFormula(text) : text);
  const record = (cells: readonly string[]): string => encodeRecord(cells.map(ownCell), delimiter);
  const ownText = (row: InputRow): string => {
    if (row.kind === 'object') return record(objectCells(row, columns, known));
    return headerText === undefined ? record(row.cells) : row.text;
  };
  // The list may have no columns apart from those that are replaced.
  const start = (own: string): string => (columns.length === 0 ? '' : own + delimiter);
  const resultCell = (value: unknown, index: number): string => {
    if (result.isDetails(index)) return guard ? guardJson(detailsCell(value)) : detailsCell(value);
    const cell = toCell(value) ?? '';
    if (typeof cell !== 'string') return String(cell);
    const text = format === 'tsv' ? cleanLine(cell) : cleanCell(cell);
    return guard ? guardFormula(text) : text;
  };
  const mark = options.bom ? '\ufeff' : '';
  const header = start(headerText ?? record(columns)) + encodeRecord(result.names, delimiter);
  return {
    header: mark + header + lineEnd,
    row(row, found) {
      const end = row.kind === 'cells' ? row.end : lineEnd;
      return start(ownText(row)) + encodeRecord(result.values(found).map(resultCell), delimiter) + end;
    },
  };
}

export const detailsCell = (details: unknown): string =>
  details === undefined || details === null ? '' : toJson(details, false);

function objectCells(row: ObjectRow, columns: readonly string[], known: ReadonlySet<string>): string[] {
  const cells = flatCells(row);
  const extra = [...cells.keys()].find((key) => !known.has(key));
  if (extra !== undefined) {
    throw failure('bad_input', `line ${row.line} has a key '${extra}' that the first row does not have`, {
      text: 'give the list as a file, so that all keys are known before the first row',
      command: again({}, { operands: ['list.ndjson'] }),
    });
  }
  return columns.map((column) => String(cells.get(column) ?? ''));
}

function ndjsonText({ columns, result }: TextOptions): RowText {
  const { keys, member } = result;
  const names = columns.map((column) => toJson(column, false));
  result.assertNew(columns, true);
  const duplicate = repeated(columns);
  if (duplicate !== undefined) {
    throw usage(`the list has two columns '${duplicate}', which ndjson cannot distinguish`, {
      text: 'write a CSV',
      command: again({ '--output': 'out.csv' }, { without: ['--format'] }),
    });
  }
  const memberText = toJson(member, false);
  return {
    header: '',
    row(row, found) {
      const values = result.values(found);
      const record = Object.fromEntries(keys.map((key, index) => [key, values[index] ?? null]));
      const own = row.kind === 'cells' ? membersOf(names, row.cells) : openObject(row, member);
      return `${own}${memberText}:${toJson(record, false)}}\n`;
    },
  };
}

/** @param names as JSON */
const membersOf = (names: readonly string[], cells: readonly string[]): string =>
  `{${names.map((name, index) => `${name}:${toJson(cells[index] ?? '', false)},`).join('')}`;

/** The text of an object up to its last member. */
function openObject({ value, text, line }: ObjectRow, member: string): string {
  if (Object.hasOwn(value, member)) {
    throw failure('bad_input', `line ${line} already has a key '${member}'`, {
      text: 'give the new key another name',
      command: again({ '--prefix': 'found_' }),
    });
  }
  const open = text.slice(0, -1).trimEnd();
  return open === '{' ? open : `${open},`;
}

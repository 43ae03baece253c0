import { failure, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { guardFormula, guardJson } from '../../output/csv.ts';
import { type Scalar, toCell } from '../../output/records.ts';
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

/** Formats rows as text: the columns of the list, then those of the result. */
export interface RowText {
  /** The first line with its line break; empty for NDJSON. */
  readonly header: string;
  row(row: InputRow, result: RowResult): string;
}

/** @throws {AppError} `usage` if a column would be there twice */
export const openRowText = (options: TextOptions): RowText =>
  options.format === 'ndjson' ? new NdjsonText(options) : new DelimitedText(options);

class DelimitedText implements RowText {
  readonly header: string;
  readonly #options: TextOptions;
  readonly #columns: ReadonlySet<string>;

  constructor(options: TextOptions) {
    this.#options = options;
    const { delimiter, bom, columns, headerText, lineEnd, result } = options;
    this.#columns = new Set(columns);
    result.assertNew(columns, false);
    const own =
      headerText ??
      encodeRecord(
        columns.map((name) => this.#ownCell(name)),
        delimiter,
      );
    this.header = `${bom ? '\ufeff' : ''}${this.#start(own)}${encodeRecord(result.names, delimiter)}${lineEnd}`;
  }

  row(row: InputRow, result: RowResult): string {
    const { lineEnd } = this.#options;
    const end = row.kind === 'cells' ? row.end : lineEnd;
    return this.#start(this.#own(row)) + this.#result(result) + end;
  }

  #own(row: InputRow): string {
    const { headerText, columns, delimiter } = this.#options;
    if (row.kind === 'cells' && headerText !== undefined) return row.text;
    const cells = row.kind === 'cells' ? row.cells : objectCells(row, columns, this.#columns);
    return encodeRecord(
      cells.map((cell) => this.#ownCell(cell)),
      delimiter,
    );
  }

  /** The list may have no columns apart from those that are replaced. */
  #start(own: string): string {
    return this.#options.columns.length === 0 ? '' : own + this.#options.delimiter;
  }

  #ownCell(text: string): string {
    const { guard, isDelimited } = this.#options;
    return guard && !isDelimited ? guardFormula(text) : text;
  }

  #result(found: RowResult): string {
    const { result, delimiter } = this.#options;
    const cells = result
      .values(found)
      .map((value, index) =>
        result.isDetails(index) ? this.#details(value) : this.#cell(toCell(value) ?? ''),
      );
    return encodeRecord(cells, delimiter);
  }

  #details(details: unknown): string {
    const json = detailsCell(details);
    return this.#options.guard ? guardJson(json) : json;
  }

  #cell(cell: Scalar): string {
    if (typeof cell !== 'string') return String(cell);
    const text = this.#options.format === 'tsv' ? cleanLine(cell) : cleanCell(cell);
    return this.#options.guard ? guardFormula(text) : text;
  }
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

class NdjsonText implements RowText {
  readonly header = '';
  readonly #result: ResultColumns;
  readonly #member: string;
  readonly #keys: readonly string[];
  readonly #columnTexts: readonly string[];

  constructor({ columns, result }: TextOptions) {
    this.#result = result;
    this.#member = result.member;
    this.#keys = result.keys;
    this.#columnTexts = columns.map((column) => toJson(column, false));
    result.assertNew(columns, true);
    const duplicate = repeated(columns);
    if (duplicate === undefined) return;
    throw usage(`the list has two columns '${duplicate}', which ndjson cannot distinguish`, {
      text: 'write a CSV',
      command: again({ '--output': 'out.csv' }, { without: ['--format'] }),
    });
  }

  row(row: InputRow, result: RowResult): string {
    const values = this.#result.values(result);
    const record = Object.fromEntries(this.#keys.map((key, index) => [key, values[index] ?? null]));
    return `${this.#start(row)}${toJson(this.#member, false)}:${toJson(record, false)}}\n`;
  }

  #start(row: InputRow): string {
    if (row.kind === 'cells') {
      const members = this.#columnTexts.map(
        (key, index) => `${key}:${toJson(row.cells[index] ?? '', false)},`,
      );
      return `{${members.join('')}`;
    }
    if (Object.hasOwn(row.value, this.#member)) {
      throw failure('bad_input', `line ${row.line} already has a key '${this.#member}'`, {
        text: 'give the new key another name',
        command: again({ '--prefix': 'found_' }),
      });
    }
    const open = row.text.slice(0, -1).trimEnd();
    return open === '{' ? open : `${open},`;
  }
}

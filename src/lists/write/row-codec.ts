import { failure, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import { type Scalar, toCell, valueAt } from '../../output/records.ts';
import { encodeRecord } from '../../util/csv.ts';
import { isObject, toJson, tryParseJson } from '../../util/json.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import { type RowResult, STATUSES, type Status } from '../match/match.ts';
import { flatCells } from '../read/list.ts';
import type { InputRow, ListFormat, ObjectRow } from '../row.ts';

/** Fields of the restaurant. The others are fields of the result itself. */
export const RESTAURANT_FIELDS = [
  'name',
  'address',
  'city',
  'neighborhood',
  'lat',
  'lng',
  'cuisine_tags',
  'grade',
  'coverage_level',
] as const;

/** Fields of a result, in the order of their columns. Column names consist of the prefix and a field name. */
export const RESULT_FIELDS = [
  'status',
  'match',
  'candidates',
  'id',
  ...RESTAURANT_FIELDS,
  'details',
  'error',
  'similarity',
  'distance_m',
] as const;
type ResultField = (typeof RESULT_FIELDS)[number];
const OF_RESTAURANT: ReadonlySet<ResultField> = new Set(RESTAURANT_FIELDS);

export interface AddedColumn {
  readonly name: string;
  readonly path: string;
}

export interface RowCodecOptions {
  readonly format: ListFormat;
  readonly delimiter: string;
  readonly bom: boolean;
  readonly columns: readonly string[];
  /** The header as received; undefined if the rows of the list have another format or delimiter. */
  readonly headerText?: string | undefined;
  readonly lineEnd: string;
  readonly prefix: string;
  readonly added: readonly AddedColumn[];
  readonly details: boolean;
  /** Whether to neutralize formulas in text from the service. */
  readonly guard: boolean;
}

export interface RowText {
  readonly start: string;
  readonly end: string;
}

/**
 * Formats and parses rows of the output. A row consists of the input, which depends only on the input, and the result,
 * which depends only on the responses. So a finished row can be compared with the input, and its result can be reused.
 */
export abstract class RowCodec {
  /** The first line with its line break; empty for NDJSON. */
  abstract readonly header: string;
  /** The last character of every row. */
  abstract readonly terminator: string;
  /** Undefined for NDJSON, whose rows have no line breaks in quotes. */
  abstract readonly delimiter: string | undefined;
  /** The fields of a result, and the added columns. */
  readonly names: readonly string[];
  protected readonly options: RowCodecOptions;
  protected readonly fields: readonly ResultField[];

  constructor(options: RowCodecOptions) {
    this.options = options;
    this.fields = RESULT_FIELDS.filter((field) => options.details || field !== 'details');
    this.names = [...this.fields, ...options.added.map(({ name }) => name)];
  }

  abstract input(row: InputRow): RowText;
  /** Texts of cells, or JSON values, in the order of the names. */
  abstract values(result: RowResult): readonly unknown[];
  /** The same, by name. */
  record(result: RowResult): Readonly<Record<string, unknown>> {
    const values = this.values(result);
    return Object.fromEntries(this.names.map((name, index) => [name, values[index]]));
  }

  abstract result(result: RowResult): string;
  abstract statusOf(text: string): Status | undefined;

  protected received({ restaurant = {}, ...result }: RowResult): unknown[] {
    const own: Readonly<Record<string, unknown>> = { id: restaurant.service_id, ...result };
    return [
      ...this.fields.map((field) => (OF_RESTAURANT.has(field) ? valueAt(restaurant, field) : own[field])),
      ...this.options.added.map(({ path }) => valueAt(result.details, path)),
    ];
  }
}

export const openRowCodec = (options: RowCodecOptions): RowCodec =>
  options.format === 'ndjson' ? new NdjsonCodec(options) : new DelimitedCodec(options);

class DelimitedCodec extends RowCodec {
  readonly header: string;
  readonly terminator: string;
  readonly delimiter: string;
  readonly #columns: ReadonlySet<string>;

  constructor(options: RowCodecOptions) {
    super(options);
    const { delimiter, bom, columns, headerText, lineEnd, prefix, added } = options;
    this.delimiter = delimiter;
    this.#columns = new Set(columns);
    const names = [...this.fields.map((field) => prefix + field), ...added.map(({ name }) => name)];
    assertNoCollision(columns, names);
    assertNewNames(added, prefix);
    const own = headerText ?? encodeRecord(columns, delimiter);
    this.header = `${bom ? '\ufeff' : ''}${this.#start(own)}${encodeRecord(names, delimiter)}${lineEnd}`;
    this.terminator = lineEnd.slice(-1);
  }

  input(row: InputRow): RowText {
    const { headerText, columns, lineEnd } = this.options;
    if (row.kind === 'object') {
      const cells = objectCells(row, columns, this.#columns);
      return { start: this.#start(encodeRecord(cells, this.delimiter)), end: lineEnd };
    }
    const text = headerText === undefined ? encodeRecord(row.cells, this.delimiter) : row.text;
    return { start: this.#start(text), end: row.end };
  }

  /** The list may have no columns apart from those that are replaced. */
  #start(own: string): string {
    return this.options.columns.length === 0 ? '' : own + this.delimiter;
  }

  values(result: RowResult): string[] {
    return this.received(result).map((value, index) =>
      // JSON is harmless in a spreadsheet, and must stay parseable.
      this.fields[index] === 'details' ? detailsCell(value) : this.#cell(toCell(value) ?? ''),
    );
  }

  result(result: RowResult): string {
    return encodeRecord(this.values(result), this.delimiter);
  }

  statusOf(text: string): Status | undefined {
    return asStatus(text.slice(0, Math.max(0, text.indexOf(this.delimiter))));
  }

  #cell(cell: Scalar): string {
    if (typeof cell !== 'string') return String(cell);
    const text = this.options.format === 'tsv' ? cleanLine(cell) : cleanCell(cell);
    return this.options.guard ? guardFormula(text) : text;
  }
}

const detailsCell = (details: unknown): string =>
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

class NdjsonCodec extends RowCodec {
  readonly header = '';
  readonly terminator = '\n';
  readonly delimiter = undefined;
  readonly #key: string;
  readonly #keyText: string;
  readonly #columnTexts: readonly string[];

  constructor(options: RowCodecOptions) {
    super(options);
    this.#key = nestedKey(options.prefix);
    this.#keyText = `${toJson(this.#key, false)}:`;
    this.#columnTexts = options.columns.map((column) => toJson(column, false));
    assertNoCollision(options.columns, [this.#key]);
    assertNewNames(options.added, '');
    const duplicate = repeated(options.columns);
    if (duplicate === undefined) return;
    throw usage(`the list has two columns '${duplicate}', which ndjson cannot distinguish`, {
      text: 'write a CSV',
      command: again({ '--output': 'out.csv', '--format': 'csv' }),
    });
  }

  input(row: InputRow): RowText {
    const end = '}\n';
    if (row.kind === 'cells') {
      const members = this.#columnTexts.map(
        (key, index) => `${key}:${toJson(row.cells[index] ?? '', false)},`,
      );
      return { start: `{${members.join('')}`, end };
    }
    if (Object.hasOwn(row.value, this.#key)) {
      throw failure('bad_input', `line ${row.line} already has a key '${this.#key}'`, {
        text: 'give the new key another name',
        command: again({ '--prefix': 'found_' }),
      });
    }
    const open = row.text.slice(0, -1).trimEnd();
    return { start: open === '{' ? open : `${open},`, end };
  }

  values(result: RowResult): unknown[] {
    return this.received(result).map((value) => value ?? null);
  }

  result(result: RowResult): string {
    return `${this.#keyText}${toJson(this.record(result), false)}`;
  }

  statusOf(text: string): Status | undefined {
    const value = text.startsWith(this.#keyText) ? tryParseJson(text.slice(this.#keyText.length)) : undefined;
    return isObject(value) ? asStatus(value.status) : undefined;
  }
}

export function nestedKey(prefix: string): string {
  const key = prefix.replace(/_{1,100}$/, '');
  if (key !== '') return key;
  throw usage(`--prefix '${prefix}': NDJSON needs a name for the key`, {
    command: again({ '--prefix': 'restaurant_' }),
  });
}

/** @throws {AppError} `usage` with the name of a new column that is in the list */
function assertNoCollision(columns: readonly string[], appended: readonly string[]): void {
  const clash = appended.find((name) => columns.includes(name));
  if (clash === undefined) return;
  throw usage(`the list already has a column '${clash}'`, {
    text: 'give the new columns another prefix',
    command: again({ '--prefix': 'found_' }),
  });
}

/**
 * Also refuses the names of fields that this run does not write, because the finished list could not be read.
 * @throws {AppError} `usage` with the name of an added column that is a field of the result, or is added twice
 */
function assertNewNames(added: RowCodecOptions['added'], prefix: string): void {
  const names = added.map(({ name }) => name);
  const duplicate = repeated([...RESULT_FIELDS.map((field) => prefix + field), ...names]);
  if (duplicate === undefined) return;
  throw usage(`the column '${duplicate}' would be added twice`, {
    text: 'give each column a different name: --add <column>=<path>',
  });
}

function repeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

const asStatus = (value: unknown): Status | undefined => STATUSES.find((status) => status === value);

import { AppError } from '../../errors.ts';
import { again, restaurant, slot } from '../../hint.ts';
import { flatten, type Scalar } from '../../output/records.ts';
import { CsvError, CsvReader, type CsvRecord, DELIMITERS, type Delimiter } from '../../util/csv.ts';
import { tryParseJson } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import { isKnownHeader } from '../match/columns.ts';
import type { CellRow, InputRow, ListFormat, ObjectRow, OnProblem, Problem } from '../row.ts';
import { decodeText } from './decode.ts';
import type { Input } from './input.ts';

export interface ListOptions {
  /** Undefined: detected from the file extension, else from the text. */
  readonly format: ListFormat | undefined;
  /** Undefined: detected from the header line. */
  readonly delimiter: Delimiter | undefined;
  /** WHATWG label. Undefined: UTF-8, or UTF-16 if there is a byte order mark. */
  readonly encoding?: string | undefined;
}

export interface List {
  readonly format: ListFormat;
  readonly delimiter: Delimiter | undefined;
  /** Whether the output should begin with a byte order mark. */
  readonly bom: boolean;
  /** Columns of CSV and TSV; for NDJSON the keys of the first row. */
  readonly header: readonly string[];
  /** The header of CSV and TSV as received, without its line break. */
  readonly headerText: string;
  readonly lineEnd: string;
  readonly first?: ObjectRow | undefined;
  readonly rows: AsyncGenerator<InputRow>;
}

export interface CheckedList extends Omit<List, 'rows' | 'first'> {
  /** Reads the rows. Those of a stream can be read only once. */
  rows(): AsyncGenerator<InputRow>;
  /** Columns; for NDJSON, the keys of all rows if the whole list was read. */
  readonly header: readonly string[];
  /** Header for NDJSON that is written as CSV, with dotted nested keys. */
  readonly flatHeader: readonly string[];
  /** Number of rows; undefined for a stream. */
  readonly total: number | undefined;
}

/** Maximum length of a row and of a line, in characters. Also limits an unclosed quote. */
const MAX_ROW = 16 * 1024 * 1024;
/** Maximum number of characters in which the header line is searched for. */
const MAX_HEADER = 1024 * 1024;
/** Maximum number of lines that an error lists, and of those listed with their problem. */
const MAX_NAMED = 40;
const MAX_EXPLAINED = 3;
/** Maximum number of different keys in all rows of NDJSON. */
const MAX_KEYS = 10_000;
/** Number of rows between two checks of the abort signal. */
const CHECK_EVERY = 256;
const KEEP_NDJSON = {
  hint: { text: 'keep the format', command: again({ '--output': 'out.ndjson', '--format': 'ndjson' }) },
};

export async function openList(input: Input, options: ListOptions, onProblem: OnProblem): Promise<List> {
  const { bom, isWorkbook, pieces } = await decodeText(input.chunks(), options.encoding, onProblem);
  if (isWorkbook) {
    throw new AppError('bad_input', `${input.name} is a workbook, not a list of rows`, {
      hint: [
        { text: 'in Excel: File > Save As > CSV UTF-8' },
        { text: 'then', command: again({ '--output': 'out.csv' }, { operands: ['list.csv'] }) },
      ],
    });
  }
  const { head, all } = await peekHeader(pieces);
  const format = options.format ?? input.format ?? (/^\s*[{[]/.test(head) ? 'ndjson' : 'csv');
  if (format === 'ndjson') {
    const objects = readNdjson(all, onProblem);
    const { value: first }: { value: ObjectRow | undefined } = await objects.next();
    const rows = first === undefined ? objects : prepend([first], objects);
    return {
      format,
      delimiter: undefined,
      bom,
      header: Object.keys(first?.value ?? {}),
      headerText: '',
      lineEnd: '\n',
      first,
      rows,
    };
  }
  const separator = /^"?sep=(.)"?[\r\n]/i.exec(head)?.[1];
  const delimiter = options.delimiter ?? (format === 'tsv' ? '\t' : namedDelimiter(separator, head));
  const records = readRecords(all, delimiter, onProblem);
  if (separator !== undefined) await records.next();
  const first = await records.next();
  if (first.done === true) {
    throw new AppError('bad_input', `${input.name} has no header row`, {
      hint: {
        text: 'the first line names the columns, such as name,city',
        command: restaurant('help', 'formats'),
      },
    });
  }
  const { cells: header, text: headerText, end } = first.value;
  const lineEnd = end === '' ? '\n' : end;
  const rows = paddedRows(records, { width: header.length, delimiter, lineEnd }, onProblem);
  return { format, delimiter, bom, header, headerText, lineEnd, rows };
}

function namedDelimiter(separator: string | undefined, head: string): Delimiter {
  if (separator === undefined) return detectDelimiter(head);
  const found = DELIMITERS.find((delimiter) => delimiter === separator);
  if (found !== undefined) return found;
  throw new AppError('bad_input', `line 1 declares the unsupported delimiter '${separator}'`, {
    hint: { text: 'save the list with commas, semicolons, tabs, or pipes between the columns' },
  });
}

const FIRST_LINES = 10;

/**
 * Detects the delimiter in the first lines: the one that gives all of them the same number of fields; of several, the one
 * with the most known headers, then the most fields. In a tie, the order of DELIMITERS decides.
 */
export function detectDelimiter(head: string): Delimiter {
  const scores = DELIMITERS.map((delimiter) => ({ delimiter, score: scoreOf(head, delimiter) }));
  const isBetter = (one: readonly number[], other: readonly number[]): boolean => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return at !== -1 && (one[at] ?? 0) > (other[at] ?? 0);
  };
  return scores.reduce((best, next) => (isBetter(next.score, best.score) ? next : best)).delimiter;
}

function scoreOf(head: string, delimiter: Delimiter): readonly number[] {
  const lines = firstRecords(head, delimiter);
  const header = lines[0] ?? [];
  const isEven = header.length > 1 && lines.every(({ length }) => length === header.length);
  return [isEven ? 1 : 0, isEven ? header.filter(isKnownHeader).length : 0, header.length];
}

/** The first complete records; at least the header, also if its line is not complete. */
function firstRecords(head: string, delimiter: Delimiter): string[][] {
  const reader = new CsvReader(delimiter);
  const records: string[][] = [];
  for (const { cells } of reader.push(head)) {
    records.push(cells);
    if (records.length === FIRST_LINES) break;
  }
  if (records.length > 0) return records;
  const [line = ''] = head
    .trimStart()
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1);
  return [line.split(delimiter)];
}

async function peekHeader(
  pieces: AsyncGenerator<string>,
): Promise<{ head: string; all: AsyncGenerator<string> }> {
  const read: string[] = [];
  let size = 0;
  let isInLine = false;
  while (size < MAX_HEADER) {
    const next = await pieces.next();
    if (next.done === true) break;
    const piece: string = next.value;
    read.push(piece);
    size += piece.length;
    const start: number = isInLine ? 0 : piece.search(/\S/);
    isInLine ||= start !== -1;
    if (isInLine && /[\r\n]/.test(piece.slice(start))) break;
  }
  return { head: read.join(''), all: prepend(read, pieces) };
}

async function* prepend<T>(first: readonly T[], rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function* readRecords(
  pieces: AsyncIterable<string>,
  delimiter: Delimiter,
  onProblem: OnProblem,
): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader(delimiter, MAX_ROW);
  try {
    for await (const piece of pieces) yield* reader.push(piece);
    yield* reader.end();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    onProblem({ line: error.line, what: error.message });
  }
}

async function* paddedRows(
  records: AsyncGenerator<CsvRecord>,
  list: { readonly width: number; readonly delimiter: Delimiter; readonly lineEnd: string },
  onProblem: OnProblem,
): AsyncGenerator<CellRow> {
  const { width, delimiter, lineEnd } = list;
  for await (const { cells, line, text, end } of records) {
    let row = text;
    // Some programs end every row with a delimiter.
    while (cells.length > width && cells.at(-1) === '') {
      cells.pop();
      row = row.slice(0, row.lastIndexOf(delimiter));
    }
    if (cells.length > width) {
      onProblem({ line, what: `has ${cells.length} fields, the header has ${width}` });
      continue;
    }
    while (cells.length < width) {
      cells.push('');
      row += delimiter;
    }
    // Rows of the output end in the same character, also if those of the list do not.
    const isSame = end !== '' && end.at(-1) === lineEnd.at(-1);
    yield { kind: 'cells', line, cells, text: row, end: isSame ? end : lineEnd };
  }
}

async function* readNdjson(pieces: AsyncIterable<string>, onProblem: OnProblem): AsyncGenerator<ObjectRow> {
  const reader = new LineReader();
  let line = 0;
  const rowsOf = function* (lines: Iterable<string>): Generator<ObjectRow> {
    for (const text of lines) {
      line += 1;
      const row = readObject(text, line, onProblem);
      if (row !== undefined) yield row;
    }
  };
  for await (const piece of pieces) yield* rowsOf(reader.push(piece));
  yield* rowsOf(reader.end());
}

function readObject(whole: string, line: number, onProblem: OnProblem): ObjectRow | undefined {
  const text = whole.length > MAX_ROW ? whole : whole.trim();
  if (text === '') return undefined;
  const value = text.length > MAX_ROW ? undefined : tryParseJson(text);
  if (isObject(value)) return { kind: 'object', line, text, value };
  const advice = text.startsWith('[') ? ' (NDJSON has one object per line: jq -c ".[]")' : '';
  const what = text.length > MAX_ROW ? 'is longer than 16 MiB' : `is not a JSON object${advice}`;
  onProblem({ line, what });
  return undefined;
}

/** Splits text into lines. A line that is too long is cut, and returned before its end, because it may be endless. */
class LineReader {
  #line = '';
  #isCut = false;

  *push(piece: string): Generator<string> {
    const [end = '', ...others] = piece.split('\n');
    if (!this.#isCut) this.#line += end;
    for (const next of others) {
      if (!this.#isCut) yield this.#line;
      this.#isCut = false;
      this.#line = next;
    }
    if (this.#line.length <= MAX_ROW) return;
    yield this.#line;
    this.#isCut = true;
    this.#line = '';
  }

  end(): string[] {
    return this.#line === '' ? [] : [this.#line];
  }
}

/** Flattens an object into cells, with dotted nested keys. @throws {AppError} `bad_input` if it nests too deep */
export function flatCells({ value, line }: ObjectRow): Map<string, Scalar> {
  try {
    return flatten(value);
  } catch (cause) {
    throw new AppError('bad_input', `line ${line} nests too deep for the columns of a CSV`, {
      cause,
      ...KEEP_NDJSON,
    });
  }
}

/**
 * Checks a whole file, and rejects it if a row is malformed. A stream is only opened; its rows are checked as they
 * arrive.
 * @param options `flat`: collect the keys of NDJSON as columns
 * @throws {AppError} `bad_input` naming the lines
 */
export async function checkList(
  input: Input,
  options: ListOptions & { readonly flat: boolean },
  signal: AbortSignal,
): Promise<CheckedList> {
  /** Stops reading a stream, or a file that has changed since it was checked. */
  const stop = (problem: Problem): never => {
    throw badRows(input, [problem], 1);
  };
  const keys = new KeyCollector(input.name, options.flat);
  if (!input.replayable) {
    const list = await openList(input, options, stop);
    if (list.first !== undefined) keys.add(list.first);
    return { ...list, flatHeader: keys.flat, total: undefined, rows: () => list.rows };
  }
  const problems: Problem[] = [];
  let count = 0;
  const collect = (problem: Problem): void => {
    count += 1;
    if (problems.length < MAX_NAMED) problems.push(problem);
  };
  const list = await openList(input, options, collect).catch((error: unknown) => {
    throw count > 0 ? badRows(input, problems, count) : error;
  });
  let total = 0;
  for await (const row of list.rows) {
    total += 1;
    if (total % CHECK_EVERY === 0) signal.throwIfAborted();
    if (row.kind === 'object') keys.add(row);
  }
  if (count > 0) throw badRows(input, problems, count);
  async function* rows(): AsyncGenerator<InputRow> {
    yield* (await openList(input, options, stop)).rows;
  }
  // The header line is kept unchanged, even if it repeats a name.
  const header = list.format === 'ndjson' ? keys.top : list.header;
  return { ...list, header, flatHeader: keys.flat, total, rows };
}

class KeyCollector {
  readonly #name: string;
  readonly #isFlat: boolean;
  readonly #top = new Set<string>();
  readonly #flat = new Set<string>();

  constructor(name: string, isFlat: boolean) {
    this.#name = name;
    this.#isFlat = isFlat;
  }

  get top(): string[] {
    return [...this.#top];
  }

  get flat(): string[] {
    return [...this.#flat];
  }

  add(row: ObjectRow): void {
    if (this.#top.size <= MAX_KEYS) for (const key of Object.keys(row.value)) this.#top.add(key);
    if (!this.#isFlat) return;
    for (const key of flatCells(row).keys()) this.#flat.add(key);
    if (this.#flat.size <= MAX_KEYS) return;
    const message = `the rows of ${this.#name} have more than ${MAX_KEYS} different keys`;
    throw new AppError('bad_input', message, KEEP_NDJSON);
  }
}

/** @param problems the first ones of all `found` */
function badRows({ name, replayable }: Input, problems: readonly Problem[], found: number): AppError {
  const explained = problems.slice(0, MAX_EXPLAINED).map(({ line, what }) => `line ${line} ${what}`);
  const others = problems.slice(MAX_EXPLAINED).map(({ line }) => line);
  const also =
    others.length === 0 ? '' : `; also ${others.length === 1 ? 'line' : 'lines'} ${others.join(', ')}`;
  const rest = found > problems.length ? `, … (${found} in all)` : '';
  const bytes = problems.find((problem) => 'encoding' in problem);
  const likely = bytes?.encoding === undefined ? '' : `; it is probably ${bytes.encoding}`;
  const correct = replayable
    ? { text: 'nothing was sent; correct these lines, then check', command: again({ '--dry-run': true }) }
    : { text: 'correct this line and send the list again; for a file, --dry-run lists all such lines' };
  return new AppError('bad_input', `${name}: ${explained.join('; ')}${also}${rest}${likely}`, {
    hint:
      bytes === undefined
        ? correct
        : { command: again({ '--encoding': bytes.encoding ?? slot('encoding') }) },
  });
}

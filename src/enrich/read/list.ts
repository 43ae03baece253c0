import { AppError } from '../../errors.ts';
import { again, restaurant, slot } from '../../hint.ts';
import { flatten, type Scalar } from '../../output/records.ts';
import type { CsvRecord, Delimiter } from '../../util/csv.ts';
import { tryParseJson } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import { columnName } from '../../util/sheet.ts';
import { isKnownHeader } from '../match/columns.ts';
import {
  type InputFormat,
  type InputRow,
  type ListFormat,
  type ObjectRow,
  type OnProblem,
  type Problem,
  placeText,
} from '../row.ts';
import { decodeText } from './decode.ts';
import { hasHeader, openDelimited } from './delimited.ts';
import type { Input } from './input.ts';
import { columnsOf, MAX_ROW, readFeatures, readNdjson } from './objects.ts';
import { openTable, paddedRows, prepend, type Table } from './table.ts';

export interface ListOptions {
  /** Undefined: detected from the file extension, else from the text. */
  readonly format: InputFormat | undefined;
  /** Undefined: detected from the header line. */
  readonly delimiter: Delimiter | undefined;
  /** WHATWG label. Undefined: UTF-8, or UTF-16 if there is a byte order mark. */
  readonly encoding?: string | undefined;
  /** The line of the header, from 1. Undefined: detected. */
  readonly headerLine?: number | undefined;
  readonly sheet?: string | undefined;
  readonly named?: readonly (string | undefined)[];
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
  /** A line that looks more like a header than the one that is used. */
  readonly likelyHeader?: number | undefined;
  readonly lineEnd: string;
  readonly first?: ObjectRow | undefined;
  readonly rows: AsyncGenerator<InputRow>;
}

export interface CheckedList extends Omit<List, 'rows'> {
  /** Reads the rows. Those of a stream can be read only once. */
  rows(): AsyncGenerator<InputRow>;
  /** Columns; for NDJSON, the keys of all rows if the whole list was read. */
  readonly header: readonly string[];
  /** Header for NDJSON that is written as CSV, with dotted nested keys. */
  readonly flatHeader: readonly string[];
  readonly total: number | undefined;
  readonly detectedEncoding?: string | undefined;
}

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
  const { bom, workbook, pieces } = await decodeText(input.chunks(), options.encoding, onProblem);
  if (workbook !== undefined) {
    await pieces.return(undefined);
    return openSheet(input, workbook, options, onProblem);
  }
  if (options.sheet !== undefined) throw noWorkbook(input);
  const { head, all } = await peekHeader(pieces);
  const format = options.format ?? input.format ?? formatOfText(head);
  if (format === 'ndjson' || format === 'geojson')
    return openObjects(
      all,
      bom,
      format === 'geojson' && !isLineOfJson(head) ? readFeatures : readNdjson,
      onProblem,
    );
  const wanted = options.delimiter ?? (format === 'tsv' ? '\t' : undefined);
  const { delimiter, records } = await openDelimited(all, head, wanted, { maxLength: MAX_ROW, onProblem });
  const table = await tableOf(input, records, options);
  const { cells: header, text: headerText, end } = table.header;
  const lineEnd = end === '' ? '\n' : end;
  const rows = paddedRows(table.rows, { width: header.length, delimiter, lineEnd }, onProblem);
  const { likelyHeader } = table;
  return {
    format: format === 'tsv' ? 'tsv' : 'csv',
    delimiter,
    bom,
    header,
    headerText,
    likelyHeader,
    lineEnd,
    rows,
  };
}

async function tableOf(
  input: Input,
  records: AsyncGenerator<CsvRecord>,
  options: ListOptions,
): Promise<Table> {
  const isKnown = (column: string) => isKnownHeader(column) || options.named?.includes(column) === true;
  const table = await openTable(records, { headerLine: options.headerLine, isKnown });
  if (table === undefined) throw noHeader(input, options.headerLine);
  return table;
}

async function openSheet(
  input: Input,
  kind: 'xlsx' | 'xls',
  options: ListOptions,
  onProblem: OnProblem,
): Promise<List> {
  const { name, descriptor, signal } = input;
  if (kind === 'xls') throw oldWorkbook(name);
  if (descriptor === undefined) throw streamedWorkbook(name);
  const { readWorkbook } = await import('./xlsx/workbook.ts');
  const delimiter = options.delimiter ?? ',';
  const records = readWorkbook(descriptor, { name, sheet: options.sheet, delimiter, signal });
  const table = await tableOf(input, records, options);
  const { cells: header, text: headerText } = table.header;
  const width = header.length;
  const whatIfWider = (count: number) =>
    `has a value in column ${columnName(count)}, the header ends with column ${columnName(width)}`;
  const rows = paddedRows(table.rows, { width, delimiter, lineEnd: '\n', whatIfWider }, onProblem);
  const { likelyHeader } = table;
  return { format: 'csv', delimiter, bom: true, header, headerText, likelyHeader, lineEnd: '\n', rows };
}

const oldWorkbook = (name: string): AppError =>
  new AppError('bad_input', `${name} is a workbook of an old format, or one with a password`, {
    hint: [
      { text: 'save it as .xlsx without a password' },
      { text: 'then', command: again({}, { operands: ['list.xlsx'] }) },
    ],
  });

const streamedWorkbook = (name: string): AppError =>
  new AppError('bad_input', `${name} is a workbook, which is only read from a file`, {
    hint: { command: again({}, { operands: ['list.xlsx'] }) },
  });

const noWorkbook = ({ name }: Input): AppError =>
  new AppError('usage', `--sheet: ${name} is not a workbook`, {
    hint: { command: again({}, { without: ['--sheet'] }) },
  });

function formatOfText(head: string): InputFormat {
  if (!/^\s*[{[]/.test(head)) return 'csv';
  return /^\s*\{.{0,1000}"FeatureCollection"/s.test(head) ? 'geojson' : 'ndjson';
}

/** Whether the first line is complete JSON, as in GeoJSON with one Feature per line. */
const isLineOfJson = (head: string): boolean => {
  const [line = ''] = head.trimStart().split('\n', 1);
  const value = tryParseJson(line.replace(/^\x1e/, ''));
  return isObject(value) && value.type === 'Feature';
};

async function openObjects(
  pieces: AsyncIterable<string>,
  bom: boolean,
  read: typeof readNdjson,
  onProblem: OnProblem,
): Promise<List> {
  const objects = read(pieces, onProblem);
  const { value: first }: { value: ObjectRow | undefined } = await objects.next();
  const rows = first === undefined ? objects : prepend([first], objects);
  const header = columnsOf(first?.value ?? {});
  return { format: 'ndjson', delimiter: undefined, bom, header, headerText: '', lineEnd: '\n', first, rows };
}

function noHeader({ name }: Input, headerLine: number | undefined): AppError {
  const message =
    headerLine === undefined ? 'has no header row' : `has no line ${headerLine} (--header-line)`;
  return new AppError('bad_input', `${name} ${message}`, {
    hint: {
      text: 'the first line names the columns, such as name,city',
      command: restaurant('help', 'formats'),
    },
  });
}

async function peekHeader(
  pieces: AsyncGenerator<string>,
): Promise<{ head: string; all: AsyncGenerator<string> }> {
  const read: string[] = [];
  let size = 0;
  while (size < MAX_HEADER) {
    const next = await pieces.next();
    if (next.done === true) break;
    read.push(next.value);
    size += next.value.length;
    if (/[\r\n]/.test(next.value) && hasHeader(read.join(''))) break;
  }
  return { head: read.join(''), all: prepend(read, pieces) };
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
 * Checks a whole file, and rejects it if a row is malformed. A file that is not UTF-8 is read in its likely encoding. A
 * stream is only opened; its rows are checked as they arrive.
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
    if (count === 0) throw error;
  });
  let total = 0;
  for await (const row of list?.rows ?? []) {
    total += 1;
    if (total % CHECK_EVERY === 0) signal.throwIfAborted();
    if (row.kind === 'object') keys.add(row);
  }
  const encoding = problems.find((problem) => problem.encoding !== undefined)?.encoding;
  if (encoding !== undefined && options.encoding === undefined)
    return { ...(await checkList(input, { ...options, encoding }, signal)), detectedEncoding: encoding };
  if (list === undefined || count > 0) throw badRows(input, problems, count);
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
    if (this.#top.size <= MAX_KEYS) for (const key of columnsOf(row.value)) this.#top.add(key);
    if (!this.#isFlat) return;
    for (const key of flatCells(row).keys()) this.#flat.add(key);
    if (this.#flat.size <= MAX_KEYS) return;
    const message = `the rows of ${this.#name} have more than ${MAX_KEYS} different keys`;
    throw new AppError('bad_input', message, KEEP_NDJSON);
  }
}

/** @param problems the first ones of all `found` */
function badRows({ name, replayable }: Input, problems: readonly Problem[], found: number): AppError {
  const explained = problems
    .slice(0, MAX_EXPLAINED)
    .map((problem) => `line ${placeText(problem)} ${problem.what}`);
  const others = problems.slice(MAX_EXPLAINED).map(placeText);
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

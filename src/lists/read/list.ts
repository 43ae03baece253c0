import { type AppError, failure, usage } from '../../errors.ts';
import { again, type Hint, slot } from '../../hint.ts';
import { flatten, type Scalar } from '../../output/records.ts';
import type { Delimiter } from '../../util/csv.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
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
import type { Input } from './input.ts';
import { columnsOf, readObjects } from './objects.ts';
import { hasHeader, openDelimited, openTable, prepend, type TableSource } from './table.ts';

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
const KEEP_NDJSON: Hint = {
  text: 'keep the format',
  command: again({ '--output': 'out.ndjson', '--format': 'ndjson' }),
};

export async function openList(input: Input, options: ListOptions, onProblem: OnProblem): Promise<List> {
  const { bom, workbook, pieces } = await decodeText(input.chunks(), options.encoding, onProblem);
  if (workbook !== undefined) {
    await pieces.return(undefined);
    return openTable(input.name, await openSheet(input, workbook, options), options, onProblem);
  }
  if (options.sheet !== undefined)
    throw usage(`--sheet: ${input.name} is not a workbook`, { command: again({}, { without: ['--sheet'] }) });
  const { head, all } = await peekHeader(pieces);
  const format = options.format ?? input.format ?? formatOfText(head);
  if (format === 'ndjson' || format === 'geojson') {
    const isCollection = format === 'geojson' && !isLineOfJson(head);
    return openObjects(readObjects(all, isCollection, onProblem), bom);
  }
  const wanted = options.delimiter ?? (format === 'tsv' ? '\t' : undefined);
  const text = await openDelimited(all, head, wanted, onProblem);
  return openTable(input.name, { ...text, format, bom, isSheet: false }, options, onProblem);
}

async function openSheet(
  { name, file, signal }: Input,
  kind: 'xlsx' | 'xls',
  { sheet, delimiter = ',' }: ListOptions,
): Promise<TableSource> {
  const command = again({}, { operands: ['list.xlsx'] });
  if (kind === 'xls')
    throw failure('bad_input', `${name} is a workbook of an old format, or one with a password`, [
      { text: 'save it as .xlsx without a password' },
      { text: 'then', command },
    ]);
  if (file === undefined)
    throw failure('bad_input', `${name} is a workbook, which is only read from a file`, { command });
  const { readWorkbook } = await import('./xlsx/workbook.ts');
  const records = readWorkbook(file.descriptor, { name, sheet, delimiter, signal });
  return { records, delimiter, format: 'csv', bom: true, isSheet: true };
}

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

async function openObjects(objects: AsyncGenerator<ObjectRow>, bom: boolean): Promise<List> {
  const { value: first }: { value: ObjectRow | undefined } = await objects.next();
  const rows = first === undefined ? objects : prepend([first], objects);
  const header = columnsOf(first?.value ?? {});
  return { format: 'ndjson', delimiter: undefined, bom, header, headerText: '', lineEnd: '\n', first, rows };
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
    throw failure('bad_input', `line ${line} nests too deep for the columns of a CSV`, KEEP_NDJSON, cause);
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
): Promise<CheckedList> {
  const keys: Keys = { top: new Set(), flat: new Set(), isFlat: options.flat };
  if (input.file === undefined) {
    const list = await openList(input, options, stopAt(input));
    if (list.first !== undefined) addKeys(keys, list.first, input);
    return { ...list, flatHeader: [...keys.flat], total: undefined, rows: () => list.rows };
  }
  const problems = new Problems();
  const list = await openList(input, options, (problem) => problems.add(problem)).catch((error: unknown) => {
    if (problems.count === 0) throw error;
  });
  let total = 0;
  for await (const row of list?.rows ?? []) {
    total += 1;
    if (total % CHECK_EVERY === 0) input.signal.throwIfAborted();
    if (row.kind === 'object') addKeys(keys, row, input);
  }
  const { encoding } = problems;
  if (encoding !== undefined && options.encoding === undefined)
    return { ...(await checkList(input, { ...options, encoding })), detectedEncoding: encoding };
  if (list === undefined || problems.count > 0) throw problems.toError(input);
  async function* rows(): AsyncGenerator<InputRow> {
    yield* (await openList(input, options, stopAt(input))).rows;
  }
  // The header line is kept unchanged, even if it repeats a name.
  const header = list.format === 'ndjson' ? [...keys.top] : list.header;
  return { ...list, header, flatHeader: [...keys.flat], total, rows };
}

/** Stops reading a stream, or a file that has changed since it was checked. */
const stopAt =
  (input: Input) =>
  (problem: Problem): never => {
    throw new Problems(problem).toError(input);
  };

/** The keys of objects: their own ones with recognized paths, and those of all levels if these become columns. */
interface Keys {
  readonly top: Set<string>;
  readonly flat: Set<string>;
  readonly isFlat: boolean;
}

function addKeys({ top, flat, isFlat }: Keys, row: ObjectRow, { name }: Input): void {
  if (top.size <= MAX_KEYS) for (const key of columnsOf(row.value)) top.add(key);
  if (!isFlat) return;
  for (const key of flatCells(row).keys()) flat.add(key);
  if (flat.size <= MAX_KEYS) return;
  const message = `the rows of ${name} have more than ${MAX_KEYS} different keys`;
  throw failure('bad_input', message, KEEP_NDJSON);
}

/** The problems of a list, of which an error names the first ones. */
class Problems {
  readonly #named: Problem[];
  count: number;

  constructor(...problems: readonly Problem[]) {
    this.#named = [...problems];
    this.count = problems.length;
  }

  add(problem: Problem): void {
    this.count += 1;
    if (this.#named.length < MAX_NAMED) this.#named.push(problem);
  }

  /** The likely encoding of the list, if it has bytes in another one than expected. */
  get encoding(): string | undefined {
    return this.#named.find(({ encoding }) => encoding !== undefined)?.encoding;
  }

  toError({ name, file }: Input): AppError {
    const named = this.#named;
    const explained = named
      .slice(0, MAX_EXPLAINED)
      .map((problem) => `line ${placeText(problem)} ${problem.what}`);
    const others = named.slice(MAX_EXPLAINED).map(placeText);
    const also =
      others.length === 0 ? '' : `; also ${others.length === 1 ? 'line' : 'lines'} ${others.join(', ')}`;
    const rest = this.count > named.length ? `, … (${this.count} in all)` : '';
    const bytes = named.find((problem) => 'encoding' in problem);
    const likely = bytes?.encoding === undefined ? '' : `; it is probably ${bytes.encoding}`;
    const correct = file
      ? { text: 'nothing was sent; correct these lines, then check', command: again({ '--dry-run': true }) }
      : { text: 'correct this line and send the list again; for a file, --dry-run lists all such lines' };
    return failure(
      'bad_input',
      `${name}: ${explained.join('; ')}${also}${rest}${likely}`,
      bytes === undefined
        ? correct
        : { command: again({ '--encoding': bytes.encoding ?? slot('encoding') }) },
    );
  }
}

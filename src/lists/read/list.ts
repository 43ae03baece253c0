import { setImmediate } from 'node:timers/promises';
import { failure, usage } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import { flatten, type Scalar } from '../../output/records.ts';
import { prepend } from '../../util/async.ts';
import type { Delimiter } from '../../util/csv.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
import type { InputFormat, InputRow, ListFormat, ObjectRow, OnProblem, Sheets } from '../row.ts';
import { decodeChunks, type FileKind } from './decode.ts';
import type { Input } from './input.ts';
import { excess, MAX_BYTES, MIB } from './limits.ts';
import { columnsOf, readObjects } from './objects.ts';
import { Problems, stopAt } from './problems.ts';
import { hasHeader, openDelimited, openTable, type TableSource } from './table.ts';

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
  /** Whether its cells come from a workbook or a Parquet file, so that their text was never part of a CSV. */
  readonly isSheet?: boolean;
  readonly sheets?: Sheets | undefined;
  readonly first?: ObjectRow | undefined;
  readonly rows: AsyncGenerator<InputRow>;
}

/** A list in memory. Its header has, for NDJSON, the keys of all rows. */
export interface InputList extends Omit<List, 'rows' | 'first'> {
  readonly rows: readonly InputRow[];
  /** The encoding of a list that is not UTF-8, unless it was given. */
  readonly detectedEncoding?: string | undefined;
}

/** Maximum number of characters in which the header line is searched for. */
const MAX_HEADER = 1024 * 1024;
const MAX_KEYS = 10_000;
const KEEP_NDJSON: Hint = {
  text: 'keep the format',
  command: again({ '--output': 'out.ndjson', '--format': 'ndjson' }),
};

export async function openList(input: Input, options: ListOptions, onProblem: OnProblem): Promise<List> {
  const { bom, kind, chunks, pieces } = await decodeChunks(input.chunks(), options.encoding, onProblem);
  if (kind !== undefined) {
    const bytes = await readBytes(input, chunks);
    return openTable(input.name, await openTypedFile(input, kind, bytes, options), options, onProblem);
  }
  if (options.sheet !== undefined)
    throw usage(`--sheet: ${input.name} is not a workbook`, { command: again({}, { without: ['--sheet'] }) });
  const { head, all } = await peekHeader(pieces);
  const format = options.format ?? input.format ?? formatOfText(head);
  if (format === 'ndjson' || format === 'geojson') {
    const isCollection = format === 'geojson' && !isLineOfJson(head);
    return openObjects(readObjects(all, isCollection, input.signal, onProblem), bom);
  }
  const wanted = options.delimiter ?? (format === 'tsv' ? '\t' : undefined);
  const text = await openDelimited(all, head, wanted, onProblem);
  return openTable(input.name, { ...text, format, bom, isSheet: false }, options, onProblem);
}

async function openTypedFile(
  { name, signal }: Input,
  kind: FileKind,
  bytes: readonly Uint8Array[],
  { sheet, delimiter = ',', headerLine, named = [] }: ListOptions,
): Promise<TableSource> {
  if (kind === 'xls')
    throw failure('bad_input', `${name} is a workbook of an old format, or one with a password`, [
      { text: 'save it as .xlsx without a password' },
      { text: 'then', command: again({}, { operands: ['list.xlsx'] }) },
    ]);
  const task = { kind, bytes: new Uint8Array(Buffer.concat(bytes)), sheet, headerLine, named };
  const { readTyped } = await import('./typed-file.ts');
  const { records, sheets } = await readTyped(name, task, signal);
  return { records: each(records), sheets, delimiter, format: 'csv', bom: true, isSheet: true };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
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

/** Flattens an object into cells, with dotted nested keys. @throws {AppError} `bad_input` if it is nested too deeply */
export function flatCells({ value, line }: ObjectRow): Map<string, Scalar> {
  try {
    return flatten(value);
  } catch (cause) {
    throw failure('bad_input', `line ${line} is nested too deeply for columns`, KEEP_NDJSON, cause);
  }
}

/** Text that is not UTF-8 is read in its likely encoding. @throws {AppError} `bad_input` naming the lines, `usage` */
export async function readList(input: Input, options: ListOptions): Promise<InputList> {
  const bytes = await readBytes(input, input.chunks());
  const kept: Input = { ...input, chunks: () => inTurn(bytes, input.signal) };
  const problems = new Problems();
  const list = await readRows(kept, options, problems);
  const { encoding } = problems;
  if (encoding === undefined || options.encoding !== undefined) {
    if (list === undefined || problems.count > 0) throw problems.toError(input);
    return list;
  }
  const others = new Problems();
  const again = await readRows(kept, { ...options, encoding }, others);
  if (again === undefined || others.count > 0) throw others.toError(input);
  return { ...again, detectedEncoding: encoding };
}

/** @returns undefined if the problems leave nothing to read */
async function readRows(
  input: Input,
  options: ListOptions,
  problems: Problems,
): Promise<InputList | undefined> {
  const list = await openList(input, options, (problem) => problems.add(problem)).catch((error: unknown) => {
    if (problems.count === 0) throw error;
  });
  if (list === undefined) return undefined;
  const { first: _, ...layout } = list;
  const rows: InputRow[] = [];
  const keys = new Set<string>();
  let cells = 0;
  for await (const row of list.rows) {
    rows.push(row);
    cells += row.kind === 'cells' ? row.cells.length : 1;
    const excessive = excess(rows.length, cells);
    if (excessive !== undefined)
      throw failure('bad_input', `${input.name} has ${excessive}`, {
        text: 'split the list, or leave out columns',
      });
    if (row.kind === 'object' && keys.size <= MAX_KEYS) for (const key of columnsOf(row.value)) keys.add(key);
  }
  return { ...layout, header: list.format === 'ndjson' ? [...keys] : list.header, rows };
}

async function readBytes(
  { name, signal }: Input,
  chunks: AsyncIterable<Uint8Array>,
): Promise<readonly Uint8Array[]> {
  const bytes: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    bytes.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES)
      throw failure('bad_input', `${name} is larger than ${MAX_BYTES / MIB} MiB`, { text: 'split the list' });
  }
  return bytes;
}

/** Returns to the event loop between two pieces, so that signals are heard. */
async function* inTurn(pieces: readonly Uint8Array[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await setImmediate();
    signal.throwIfAborted();
    yield piece;
  }
}

/** Opens a list whose rows are read as they arrive. Its header has, for NDJSON, the keys of the first row. */
export const openStreamedList = (input: Input, options: ListOptions): Promise<List> =>
  openList(input, options, stopAt(input));

/** The columns of objects as a table. @throws {AppError} `bad_input` if they are nested too deeply, or are too many */
export function flatColumns(name: string, rows: readonly InputRow[]): string[] {
  const keys = new Set<string>();
  for (const row of rows) {
    if (row.kind === 'object') for (const key of flatCells(row).keys()) keys.add(key);
    if (keys.size > MAX_KEYS)
      throw failure(
        'bad_input',
        `the rows of ${name} have more than ${MAX_KEYS} different keys`,
        KEEP_NDJSON,
      );
  }
  return [...keys];
}

import { AppError } from '../../errors.ts';
import type { Input } from './input.ts';
import { flatKeys, type List, type ListOptions, openList } from './list.ts';
import type { InputRow, Problem } from './row.ts';

/** Most lines that are named in an error, and most that are told with what is wrong. */
const MOST_NAMED = 40;
const MOST_TOLD = 3;
/** Most keys that the rows of NDJSON may have together. */
const MOST_KEYS = 10_000;

/** A list that was found good, as far as that can be known before its rows are worked on. */
export interface CheckedList extends Omit<List, 'rows'> {
  /** Columns, or for NDJSON all keys of all rows where the list was read whole. */
  readonly header: readonly string[];
  /** Header of a CSV made of NDJSON: nested keys dotted. */
  readonly flatHeader: readonly string[];
  /** Number of rows; undefined where it is not known before. */
  readonly total: number | undefined;
  /** The rows, once. */
  rows(): AsyncGenerator<InputRow>;
}

/**
 * Reads a file whole and refuses it where a row is bad; a stream is only opened, and its rows are judged as they come.
 * @throws {AppError} `bad_input` naming the lines
 */
export async function checkList(
  input: Input,
  options: Omit<ListOptions, 'onProblem'> & {
    /** Collect the keys of NDJSON as columns. */
    readonly flat: boolean;
  },
  signal: AbortSignal,
): Promise<CheckedList> {
  const stop = (problem: Problem): never => {
    throw badRows(input, [problem], 1);
  };
  if (!input.replayable)
    return openStream(await openList(input, { ...options, onProblem: stop }), options.flat);

  const problems: Problem[] = [];
  let found = 0;
  const onProblem = (problem: Problem): void => {
    found += 1;
    if (problems.length < MOST_NAMED) problems.push(problem);
  };
  const { rows, ...list } = await openList(input, { ...options, onProblem }).catch((error: unknown) => {
    throw problems.length > 0 ? badRows(input, problems, found) : error;
  });
  const keys = new Set(list.header);
  const flat = new Set<string>();
  let total = 0;
  for await (const row of rows) {
    total += 1;
    if (total % 256 === 0) signal.throwIfAborted();
    if (row.kind !== 'object') continue;
    if (keys.size <= MOST_KEYS) for (const key of Object.keys(row.value)) keys.add(key);
    if (options.flat) for (const key of flatKeys(row)) flat.add(key);
    if (flat.size > MOST_KEYS) throw tooWide(input.name);
  }
  if (problems.length > 0) throw badRows(input, problems, found);
  return {
    ...list,
    // A header line stays as it is, also where a name stands in it twice.
    header: list.format === 'ndjson' ? [...keys] : list.header,
    flatHeader: [...flat],
    total,
    async *rows() {
      yield* (await openList(input, { ...options, onProblem: stop })).rows;
    },
  };
}

async function openStream({ rows, ...list }: List, flat: boolean): Promise<CheckedList> {
  if (list.format !== 'ndjson')
    return { ...list, flatHeader: list.header, total: undefined, rows: () => rows };
  const first = await rows.next();
  async function* all(): AsyncGenerator<InputRow> {
    if (first.done !== true) yield first.value;
    yield* rows;
  }
  const flatHeader =
    flat && first.done !== true && first.value.kind === 'object' ? flatKeys(first.value) : [];
  return { ...list, flatHeader, total: undefined, rows: all };
}

function tooWide(name: string): AppError {
  return new AppError('bad_input', `the rows of ${name} have more than ${MOST_KEYS} different keys`, {
    hint: 'keep the form: restaurant enrich list.ndjson -o out.ndjson',
  });
}

/** @param problems the first of `found` */
function badRows(input: Input, problems: readonly Problem[], found: number): AppError {
  const told = problems.slice(0, MOST_TOLD).map(({ line, what }) => `line ${line} ${what}`);
  const named = problems.slice(MOST_TOLD).map(({ line }) => line);
  const more =
    named.length === 0 ? '' : `; also ${named.length === 1 ? 'line' : 'lines'} ${named.join(', ')}`;
  const rest = found > problems.length ? `, … (${found} in all)` : '';
  return new AppError('bad_input', `${input.name}: ${told.join('; ')}${more}${rest}`, {
    hint: remedy(input, problems),
  });
}

function remedy(input: Input, problems: readonly Problem[]): string {
  if (problems.some(({ what }) => what.includes('UTF-'))) {
    return 'convert the list first: iconv -f <encoding> -t UTF-8 list.csv > utf8.csv';
  }
  return input.replayable
    ? 'nothing was sent; correct these lines, then look again: restaurant enrich … --dry-run'
    : 'correct this line and give the list again; as a file, --dry-run finds all such lines: restaurant enrich list.csv --dry-run';
}

import { copyRawNumbers, rawNumber } from '../util/exact-json.ts';
import { checkDepth, toJson } from '../util/json.ts';

/** What a cell of a table, TSV or CSV holds. */
export type Scalar = string | number | boolean | null;

/** Columns that stand for a nested key, where the record has no key of that name itself. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['lat', 'coordinates.lat'],
  ['lng', 'coordinates.lng'],
]);
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([...ALIASES].map(([short, path]) => [path, short]));

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The record as one row: nested keys dotted, lists of scalars joined with `; `, other lists as compact JSON,
 * `coordinates.lat` and `.lng` as `lat` and `lng`. Keys in the order of the record.
 * @throws {AppError} `bad_response` where it nests deeper than 200 levels.
 */
export function flatten(record: Record<string, unknown>): Map<string, Scalar> {
  const cells = new Map<string, Scalar>();
  checkDepth(record);
  const walk = (holder: Record<string, unknown>, start: string): void => {
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (isRecord(value) && Object.keys(value).length > 0) walk(value, `${start}${key}.`);
      else cells.set(columnName(record, start + key), memberCell(holder, key));
    }
  };
  if (isRecord(record)) walk(record, '');
  return cells;
}

function columnName(record: Record<string, unknown>, path: string): string {
  const short = SHORT_NAMES.get(path);
  return short === undefined || Object.hasOwn(record, short) ? path : short;
}

/** A value of any shape as one cell; null where there is none. */
export function toCell(value: unknown): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : 'out of range';
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return value.map((_, index) => String(memberCell(value, index) ?? '')).join('; ');
  }
  return isRecord(value) && Object.keys(value).length === 0 ? null : toJson(value, false);
}

/** A member of an object or a list as one cell; a number that JavaScript would change is the text that it was written as. */
export function memberCell(container: object, key: string | number): Scalar {
  return rawNumber(container, key) ?? toCell((container as Record<string | number, unknown>)[key]);
}

/** What the record holds under a column's name, as one cell. */
export function cellAt(record: unknown, column: string): Scalar {
  const member = memberAt(record, column);
  return member === undefined ? null : memberCell(...member);
}

/** How the number under a column's name was written, where JavaScript would change it. */
export function rawNumberAt(record: unknown, column: string): string | undefined {
  const member = memberAt(record, column);
  return member === undefined ? undefined : rawNumber(...member);
}

/** What the record holds under a column's name: a key, a dotted path, `lat` or `lng`. Undefined where it has none. */
export function valueAt(record: unknown, column: string): unknown {
  const path = pathOf(record, column);
  return path === undefined ? undefined : follow(record, path);
}

/** The object that holds what stands under a column's name, and the key there. */
function memberAt(record: unknown, column: string): [holder: object, key: string] | undefined {
  const path = pathOf(record, column);
  const holder = path === undefined ? undefined : follow(record, path.slice(0, -1));
  return isRecord(holder) ? [holder, path?.at(-1) ?? ''] : undefined;
}

function follow(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), record);
}

/** The record cut down to these columns; nested keys keep their place. What it does not have is left out. */
export function pick(record: unknown, columns: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = Object.create(null);
  for (const column of columns) {
    const path = pathOf(record, column);
    if (path !== undefined) copy(record, picked, path);
  }
  return picked;
}

function copy(from: unknown, to: Record<string, unknown>, [key, ...rest]: readonly string[]): void {
  if (!isRecord(from) || key === undefined) return;
  const value = from[key];
  const present = to[key];
  copyRawNumbers(from, to);
  if (rest.length === 0) to[key] = value;
  else if (present !== value) {
    const inner: Record<string, unknown> = isRecord(present) ? present : Object.create(null);
    to[key] = inner;
    copy(value, inner, rest);
  }
}

function pathOf(record: unknown, column: string): readonly string[] | undefined {
  const alias = ALIASES.get(column);
  return keysTo(record, column) ?? (alias === undefined ? undefined : keysTo(record, alias));
}

/** Keys may hold dots themselves, so every way to cut the path is tried, the whole first. */
function keysTo(record: unknown, path: string): readonly string[] | undefined {
  if (!isRecord(record)) return undefined;
  if (Object.hasOwn(record, path)) return [path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const key = path.slice(0, dot);
    if (!Object.hasOwn(record, key)) continue;
    const rest = keysTo(record[key], path.slice(dot + 1));
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

/** All flattened keys of the records, in order of appearance. */
export function keysOf(records: readonly unknown[]): string[] {
  const keys = new Set<string>();
  for (const record of records) if (isRecord(record)) for (const key of flatten(record).keys()) keys.add(key);
  return [...keys];
}

/** The records as rows of cells. Without columns: all flattened keys, in order of appearance. */
export function tabulate(
  records: readonly unknown[],
  columns?: readonly string[],
): { keys: readonly string[]; rows: Scalar[][] } {
  if (columns !== undefined)
    return { keys: columns, rows: records.map((record) => columns.map((column) => cellAt(record, column))) };
  // Looking each key up again would try every way to cut it at its dots.
  const flattened = records.map((record) => (isRecord(record) ? flatten(record) : new Map<string, Scalar>()));
  const keys = [...new Set(flattened.flatMap((cells) => [...cells.keys()]))];
  return { keys, rows: flattened.map((cells) => keys.map((key) => cells.get(key) ?? null)) };
}

/** Joins lines, each with its line break. */
export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

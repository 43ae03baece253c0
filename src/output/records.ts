import { checkDepth, isObject, type JsonObject, toJson } from '../util/json.ts';

export type Scalar = string | number | boolean | null;

/** Short names of nested keys, for records without a key of that name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['lat', 'coordinates.lat'],
  ['lng', 'coordinates.lng'],
]);
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([...ALIASES].map(([short, path]) => [path, short]));

/**
 * Flattens a record into one row: nested keys dotted, lists of scalars joined with `; `, other lists as compact JSON,
 * `coordinates.lat` and `.lng` as `lat` and `lng`. Keys in the order of the record.
 * @throws {AppError} `bad_response` for more than 200 levels
 */
export function flatten(record: JsonObject): Map<string, Scalar> {
  const cells = new Map<string, Scalar>();
  const copies = new Map<string, number>();
  checkDepth(record);
  const walk = (holder: JsonObject, start: string): void => {
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (isObject(value) && Object.keys(value).length > 0) walk(value, `${start}${key}.`);
      else cells.set(columnName(record, start + key, start !== '', { cells, copies }), toCell(value));
    }
  };
  walk(record, '');
  return cells;
}

function columnName(
  record: JsonObject,
  path: string,
  isNested: boolean,
  { cells, copies }: { cells: ReadonlyMap<string, Scalar>; copies: Map<string, number> },
): string {
  // A key of the record that looks like this path has its name.
  const isTaken = isNested && Object.hasOwn(record, path);
  const short = isTaken ? undefined : SHORT_NAMES.get(path);
  const name = short === undefined || Object.hasOwn(record, short) ? path : short;
  if (!isTaken && !cells.has(name)) return name;
  // Goes on after the last number, because a hostile record may have thousands of such keys.
  for (let copy = copies.get(path) ?? 2; ; copy += 1) {
    const other = `${path}_${copy}`;
    if (Object.hasOwn(record, other) || cells.has(other)) continue;
    copies.set(path, copy + 1);
    return other;
  }
}

export function toCell(value: unknown): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : 'out of range';
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return value.map((item) => String(toCell(item) ?? '')).join('; ');
  }
  return isObject(value) && Object.keys(value).length === 0 ? null : toJson(value, false);
}

export function cellAt(record: unknown, column: string): Scalar {
  return toCell(valueAt(record, column));
}

/** Returns the value of a column: a key, a dotted path (`addresses.0.city`), `lat` or `lng`. Undefined if the record has none. */
export function valueAt(record: unknown, column: string): unknown {
  const [holder, key = ''] = pathTo(record, column).at(-1) ?? [];
  return holder?.[key];
}

export function pick(record: unknown, columns: readonly string[]): JsonObject {
  const picked: JsonObject = Object.create(null);
  for (const column of columns) {
    const path = pathTo(record, column);
    let copy = picked;
    for (const [index, [holder, key]] of path.entries()) {
      const [value, present] = [holder[key], copy[key]];
      // Another column may have selected this value, or an object around it, as a whole.
      if (present === value) break;
      const isLast = index === path.length - 1;
      const inner: JsonObject = isObject(present) ? present : Object.create(null);
      copy[key] = isLast ? value : inner;
      copy = inner;
    }
  }
  return picked;
}

type Member = readonly [holder: JsonObject, key: string];

/** Finds the value of a column. @returns the members that lead to it, from the record's own; empty if there is none */
function pathTo(record: unknown, column: string): readonly Member[] {
  const alias = ALIASES.get(column);
  return membersTo(record, column) ?? (alias === undefined ? undefined : membersTo(record, alias)) ?? [];
}

/** Keys may contain dots, so every way to split a path is tried, the whole path first. The keys of a list count from 0. */
function membersTo(value: unknown, path: string): readonly Member[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const holder = value as JsonObject;
  if (hasMember(holder, path)) return [[holder, path]];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const key = path.slice(0, dot);
    if (!hasMember(holder, key)) continue;
    const rest = membersTo(holder[key], path.slice(dot + 1));
    if (rest !== undefined) return [[holder, key], ...rest];
  }
  return undefined;
}

const hasMember = (holder: JsonObject, key: string): boolean =>
  Object.hasOwn(holder, key) && (key !== 'length' || !Array.isArray(holder));

export function tabulate(
  records: readonly unknown[],
  columns?: readonly string[],
): { keys: readonly string[]; rows: Scalar[][] } {
  if (columns !== undefined)
    return { keys: columns, rows: records.map((record) => columns.map((column) => cellAt(record, column))) };
  // Looking up each key again would try every way to split it at its dots.
  const flattened = records.map((record) => (isObject(record) ? flatten(record) : new Map<string, Scalar>()));
  const keys = [...new Set(flattened.flatMap((cells) => [...cells.keys()]))];
  return { keys, rows: flattened.map((cells) => keys.map((key) => cells.get(key) ?? null)) };
}

export function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

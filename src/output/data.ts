import { isObject, type JsonObject, toJson } from '../util/json.ts';
import { clean, cleanLine, label, wrap } from '../util/text.ts';
import { indented, maxWidth, type Pair, pairLines } from './pairs.ts';

import { EMPTY, glyphs, link, type View, webUrl } from './style.ts';
import { type Column, renderTable } from './table.ts';

const MAX_DATA_LEVEL = 6;
const MIN_DATA_WIDTH = 16;
const INDENT = 2;
const MAX_TABLE_COLUMNS = 6;

export type DataField = readonly [key: string, value: unknown];

/** Renders any value for reading: key/value lines, then a section per nested value. Nothing is omitted. */
export function dataLines(value: unknown, columns: number, view: View, level = 0): string[] {
  if (level > MAX_DATA_LEVEL || columns < MIN_DATA_WIDTH)
    return isSimple(value) ? wrap(inline(value), columns) : wrap(toJson(value, false), columns);
  if (Array.isArray(value)) return listLines(value, columns, view, level);
  return isObject(value)
    ? entryLines(Object.entries(value), columns, view, level)
    : wrap(inline(value), columns);
}

export function entryLines(entries: readonly DataField[], columns: number, view: View, level = 0): string[] {
  const pairs = entries
    .filter(([, value]) => isSimple(value))
    .map(([key, value]) => pairOf(key, value, view));
  const sections = entries
    .filter(([, value]) => !isSimple(value))
    .map(([key, value]) => [
      ...wrap(label(key), columns).map(level === 0 ? view.palette.heading : view.palette.key),
      ...indented(dataLines(value, columns - INDENT, view, level + 1), INDENT),
    ]);
  const blocks = [pairLines(pairs, columns, view), ...sections];
  return level === 0 ? separate(blocks) : blocks.flat();
}

export function separate(blocks: readonly (readonly string[])[]): string[] {
  return blocks
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function pairOf(key: string, value: unknown, view: View): Pair {
  const text = inline(value, key);
  if (typeof value !== 'string' || !/^https?:\/\/\S+$/i.test(value)) return { key: label(key), text };
  return { key: label(key), text, paint: (line) => link(view.palette.url(line), webUrl(value), view) };
}

function listLines(items: readonly unknown[], columns: number, view: View, level: number): string[] {
  const table = tableLines(items, columns, view);
  if (table !== undefined) return table;
  return items.flatMap((item) => bulleted(dataLines(item, columns - INDENT, view, level + 1), view));
}

export function bulleted([first = '', ...rest]: readonly string[], view: View): string[] {
  return [`${view.palette.dim(glyphs(view).bullet)} ${first}`.trimEnd(), ...indented(rest, INDENT)];
}

interface SmallTable {
  readonly keys: readonly string[];
  readonly numeric: readonly boolean[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns a list of similar records, such as dishes, as a table; undefined for another value. */
export function smallTable(items: readonly unknown[]): SmallTable | undefined {
  const records = items.filter(isObject);
  const keys = idsLast([...new Set(records.flatMap((record) => Object.keys(record)))]);
  const isPlain = records.every((record) =>
    Object.values(record).every((value) => isSimple(value) && !inline(value).includes('\n')),
  );
  if (records.length !== items.length || records.length < 2 || keys.length > MAX_TABLE_COLUMNS || !isPlain)
    return undefined;
  return {
    keys,
    numeric: keys.map((key) => records.every((record) => typeof record[key] === 'number')),
    rows: records.map((record) =>
      keys.map((key) => (Object.hasOwn(record, key) ? cleanLine(inline(record[key], key)) : '')),
    ),
  };
}

function tableLines(items: readonly unknown[], columns: number, view: View): string[] | undefined {
  const small = smallTable(items);
  if (small === undefined) return undefined;
  const { keys, numeric, rows } = small;
  const table = keys.map((key, index): Column => {
    return {
      key,
      title: label(key),
      priority: Number.POSITIVE_INFINITY,
      align: numeric[index] === true ? 'right' : 'left',
      min: maxWidth([label(key).toUpperCase(), ...rows.map((row) => row[index] ?? '')]),
    };
  });
  if (table.reduce((sum, { min = 0 }) => sum + min + INDENT, -INDENT) > columns) return undefined;
  return renderTable(table, rows, { ...view, width: columns }).split('\n');
}

const MAX_SHORT_TEXT = 32;
const MAX_SHORT_OBJECT = 40;
const MAX_KEYS = 3;
const ENDS: readonly (readonly [first: string, last: string])[] = [
  ['open', 'close'],
  ['opens', 'closes'],
  ['from', 'to'],
  ['start', 'end'],
  ['min', 'max'],
];

const DAY = /^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|holidays?)$/i;
/** A key that names an identifier: `id`, `service_id`, `restaurantId`. */
const ID = /(?:^|[_-])(?:id|uuid)$|[a-z]I[dD]$/;

export function isSimple(value: unknown): boolean {
  if (Array.isArray(value))
    return value.every((item) => isScalar(item) || range(item) !== undefined) && !isListOfTexts(value);
  return isScalar(value) || range(value) !== undefined || isSmall(value);
}

export const isEmptyValue = (value: unknown): boolean => isSimple(value) && inline(value) === EMPTY;

/** Returns whether the keys of an object are days, as those of opening hours are. */
export const hasDays = (value: JsonObject): boolean => {
  const keys = Object.keys(value);
  return keys.length > 1 && keys.every((key) => DAY.test(key));
};

/** Formats a simple value; `-` for any other. An empty list is `none`, or `closed` for a day of the week. */
export function inline(value: unknown, key = ''): string {
  if (Array.isArray(value) && value.length === 0) return DAY.test(key) ? 'closed' : 'none';
  if (Array.isArray(value)) return value.map((item) => inline(item)).join(', ') || EMPTY;
  if (isObject(value)) return isSimple(value) ? (range(value) ?? words(value)) : EMPTY;
  return scalarText(value);
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined || value === '') return EMPTY;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'out of range';
  return clean(String(value));
}

/** Formats a range, `{open, close}` for example, as `18:00 to 23:30`; undefined for any other value. */
function range(value: unknown): string | undefined {
  if (!isObject(value) || Object.keys(value).length !== 2) return undefined;
  const ends = ENDS.find(([first, last]) => Object.hasOwn(value, first) && Object.hasOwn(value, last));
  const texts = ends?.map((key) => value[key]).filter((end) => end !== null && isScalar(end));
  return texts?.length === 2 ? texts.map((end) => inline(end)).join(' to ') : undefined;
}

export function itemText(item: unknown): string | undefined {
  if (isSimple(item)) return inline(item);
  return isObject(item) && Object.values(item).every(isSimple) ? words(item) : undefined;
}

function words(record: JsonObject): string {
  const { name, ...others } = record;
  const isNamed = typeof name === 'string' && name !== '';
  const facts = idsLast(Object.keys(isNamed ? others : record)).map((key) => {
    const text = label(key).replace(/^[A-Z](?![A-Z]|$)/, (letter) => letter.toLowerCase());
    return `${text} ${inline(record[key], key)}`;
  });
  return [...(isNamed ? [inline(name)] : []), ...facts].join(', ') || EMPTY;
}

function idsLast(keys: readonly string[]): string[] {
  return [...keys.filter((key) => !ID.test(key)), ...keys.filter((key) => ID.test(key))];
}

function isSmall(value: unknown): boolean {
  if (!isObject(value)) return false;
  const values = Object.values(value);
  if (values.length > MAX_KEYS || !values.every(isScalar)) return false;
  const text = words(value);
  return text.length <= MAX_SHORT_OBJECT && !text.includes('\n');
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

function isListOfTexts(items: readonly unknown[]): boolean {
  const isLong = (item: unknown): boolean =>
    typeof item === 'string' && (item.length > MAX_SHORT_TEXT || item.includes('\n'));
  return items.length > 1 && items.some(isLong);
}

import { isObject, type JsonObject } from '../util/json.ts';
import { clean, cleanLine, label } from '../util/text.ts';
import { EMPTY } from './presentation.ts';

export type DataField = readonly [key: string, value: unknown];

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

export const isDay = (key: string): boolean => DAY.test(key);

export const hasDays = (value: JsonObject): boolean => {
  const keys = Object.keys(value);
  return keys.length > 1 && keys.every(isDay);
};

/** Formats a simple value; `-` for any other. An empty list is `none`, or `closed` for a day of the week. */
export function inline(value: unknown, key = ''): string {
  if (Array.isArray(value) && value.length === 0) return isDay(key) ? 'closed' : 'none';
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

/** The items of a list as one line each, for a narrow column; undefined for another value, or if one needs more lines. */
export function itemTexts(value: unknown): string[] | undefined {
  const texts = Array.isArray(value) ? value.map(itemText) : [];
  return texts.length > 0 && texts.every((text) => text !== undefined) ? texts : undefined;
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

const MAX_TABLE_COLUMNS = 6;

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

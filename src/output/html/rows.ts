import { stringifyRawNumbers } from '../../util/exact-json.ts';
import { toJson } from '../../util/json.ts';
import { clean, cleanLine, label } from '../../util/text.ts';
import { pointOf } from '../geo.ts';
import { webUrl } from '../link.ts';
import { isRecord, pick, toCell, valueAt } from '../records.ts';
import { type Field, fieldsOf, inOrder, type LookupItem, placeOf } from '../render/card.ts';
import { inline, isSimple, plainTable } from '../render/data.ts';
import {
  type ColumnKind,
  type Detail,
  type Entry,
  MAX_CELL_LENGTH,
  type PageColumn,
  type PageDocument,
  type PageRow,
} from './document.ts';

/** A search and its result. */
export interface SearchInfo {
  readonly name: string;
  readonly city: string;
  /** Number of matches according to the service. */
  readonly total: number;
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
}

const plural = (count: number, one: string, more: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : more}`;

/** Returns a search as a page. */
export function findPage(
  restaurants: readonly unknown[],
  { name, city, total, at }: SearchInfo,
  columns?: readonly string[],
): PageDocument {
  const shown = restaurants.length;
  const all = Math.max(total, shown);
  const count =
    all > shown
      ? `${shown.toLocaleString('en-US')} of ${plural(all, 'match', 'matches')}`
      : plural(shown, 'match', 'matches');
  return {
    kind: 'Restaurant search',
    heading: cleanLine(`${name} in ${city}`),
    notes: [count],
    at,
    ...searchRows(restaurants, columns),
  };
}

/** Returns lookups as a page: one restaurant, or a list. */
export function lookupPage(
  items: readonly LookupItem[],
  at: number,
  columns?: readonly string[],
): PageDocument {
  const listed = lookupRows(items, columns);
  const failed = items.filter((item) => 'failure' in item).length;
  const [only] = listed.rows;
  const one = items.length === 1 ? only?.c[0] : undefined;
  return {
    kind: 'Restaurant details',
    heading:
      one === undefined || one === null ? plural(items.length, 'restaurant', 'restaurants') : String(one),
    notes: failed === 0 ? [] : [`${plural(failed, 'lookup', 'lookups')} failed`],
    at,
    ...listed,
  };
}

const KINDS: Readonly<Record<string, ColumnKind>> = { name: 'name', grade: 'grade' };
const LABELS: Readonly<Record<string, string>> = {
  cuisine_tags: 'Cuisine',
  distance_km: 'Distance (km)',
  lat: 'Latitude',
  lng: 'Longitude',
};

/** Returns a column with its label. */
function columnOf(key: string): PageColumn {
  const named = Object.hasOwn(LABELS, key) ? LABELS[key] : undefined;
  return { label: named ?? label(key), kind: (Object.hasOwn(KINDS, key) ? KINDS[key] : undefined) ?? 'text' };
}

/** Returns a value as a cell of the list, on one line; null for a missing value. */
export function pageCell(value: unknown): string | number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value === null || value === undefined) return null;
  const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  const text = isList ? inline(value) : String(toCell(value) ?? '');
  return cleanLine(text).trim() || null;
}

/** Returns the position of a row on the map, if it has one. */
export function pointCell(coordinates: unknown): Pick<PageRow, 'p'> {
  const point = pointOf(coordinates);
  return point === undefined ? {} : { p: [point.lat, point.lng] };
}

/** Returns whether a cell of these columns shows a field in full. The page always shows names in full. */
export function isInCell(key: string, value: unknown, keys: readonly string[]): boolean {
  return keys.includes(key) && (key === 'name' || String(pageCell(value) ?? '').length <= MAX_CELL_LENGTH);
}

/** The columns and rows of a list. */
export interface PageList {
  readonly columns: readonly PageColumn[];
  readonly rows: readonly PageRow[];
}

/** Default columns of a search; the city only if there are several, the distance only if there is one. */
const SEARCH_COLUMNS = ['name', 'grade', 'distance_km', 'cuisine_tags', 'neighborhood', 'address', 'city'];

/** Returns the restaurants of a search as rows. With `columns`, nothing else is shown. */
export function searchRows(restaurants: readonly unknown[], columns?: readonly string[]): PageList {
  const records = restaurants.filter(isRecord);
  const optional: Readonly<Record<string, boolean>> = {
    city: new Set(records.map(({ city }) => city)).size > 1,
    distance_km: records.some((record) => 'distance_km' in record),
  };
  const keys = columns ?? SEARCH_COLUMNS.filter((key) => optional[key] ?? true);
  const rows = restaurants.map((restaurant): PageRow => {
    if (!isRecord(restaurant)) return namedOnly('(unreadable)', keys);
    const shown = stringifyRawNumbers(columns === undefined ? restaurant : pick(restaurant, columns));
    return {
      c: keys.map((key) => pageCell(valueAt(shown, key))),
      ...pointCell(restaurant.coordinates),
      d: entriesOf(Object.entries(shown).filter(([key, value]) => !isInCell(key, value, keys))),
    };
  });
  return { columns: keys.map(columnOf), rows };
}

function namedOnly(name: string, keys: readonly string[], d: PageRow['d'] = []): PageRow {
  const place = Math.max(0, keys.indexOf('name'));
  return { c: keys.map((_, index) => (index === place ? name : null)), d };
}

const LOOKUP_COLUMNS = ['name', 'grade', 'cuisine', 'price', 'neighborhood'];
const RESULT: PageColumn = { label: 'Result', kind: 'status' };

/** Returns lookups as rows, including failed ones. */
export function lookupRows(items: readonly LookupItem[], columns?: readonly string[]): PageList {
  const failed = items.some((item) => 'failure' in item);
  const keys = columns ?? LOOKUP_COLUMNS;
  const rows = items.map((item): PageRow => {
    const { c, ...row } = lookupRow(item, keys, columns);
    return { c: failed ? [...c, 'failure' in item ? item.failure.code : 'ok'] : c, ...row };
  });
  return { columns: failed ? [...keys.map(columnOf), RESULT] : keys.map(columnOf), rows };
}

function lookupRow(item: LookupItem, keys: readonly string[], columns?: readonly string[]): PageRow {
  if ('failure' in item) {
    const { code, message } = item.failure;
    return namedOnly(item.restaurantId, keys, entriesOf([['error', `${code}: ${message}`]]));
  }
  const { restaurantId, output } = item;
  const p = pointCell(placeOf(output));
  if (columns !== undefined) {
    const shown = stringifyRawNumbers(pick(output, columns));
    const d = entriesOf(Object.entries(shown).filter(([key, value]) => !isInCell(key, value, columns)));
    return { c: columns.map((key) => pageCell(valueAt(shown, key))), ...p, d };
  }
  const { known, rest } = fieldsOf(output, undefined);
  const { name, grade, cuisine, price, summary } = known;
  const neighborhood = rest.find(([key]) => key === 'neighborhood')?.[1];
  const cells = [grade?.value, cuisine?.value, price?.value, neighborhood].map(pageCell);
  const hasId = rest.some(([, value]) => value === restaurantId);
  const others = rest.filter(([key, value]) => !isInCell(key, value, keys));
  return {
    c: [pageCell(name?.value) ?? restaurantId, ...cells],
    ...(summary === undefined ? {} : { t: clean(inline(summary.value)) }),
    ...p,
    d: entriesOf([
      ...[grade, cuisine, price].flatMap(truncatedField),
      ...inOrder(hasId ? others : [...others, ['restaurant_id', restaurantId]]),
    ]),
  };
}

/** Returns a field that its cell does not show in full. */
function truncatedField(field: Field | undefined): [key: string, value: unknown][] {
  return field === undefined || isInCell(field.key, field.value, [field.key])
    ? []
    : [[field.key, field.value]];
}

/** Deeper levels are shown as JSON. */
const MAX_DETAIL_LEVEL = 6;
const PHONE_KEY = /phone|tel(?:$|_|ephone)|mobile/i;
const PHONE = /^\+?[\d ().\-/‐‑–]{5,40}$/;

/** Lays out the entries of an object. */
export function entriesOf(fields: readonly (readonly [key: string, value: unknown])[], level = 0): Entry[] {
  return fields.map(([key, value]) => [label(key), detailOf(value, key, level)]);
}

/** Lays out a value of any shape. Nothing is left out. */
export function detailOf(value: unknown, key = '', level = 0): Detail {
  if (typeof value === 'string') return textOrLink(value, key);
  if (isSimple(value)) return inline(value, key);
  if (level >= MAX_DETAIL_LEVEL) return clean(toJson(value, false));
  const table = Array.isArray(value) ? plainTable(value) : undefined;
  if (table !== undefined) return { head: table.keys.map((each) => label(each)), cells: table.rows };
  if (Array.isArray(value)) return { list: value.map((item) => detailOf(item, key, level + 1)) };
  return isRecord(value) ? { pairs: entriesOf(Object.entries(value), level + 1) } : inline(value);
}

/** Makes text a link if it is an https URL as for terminals or, for a phone key, a telephone number. */
function textOrLink(value: string, key: string): Detail {
  const text = inline(value);
  const href = webUrl(value) ?? (PHONE_KEY.test(key) ? phoneAddress(value) : undefined);
  return href === undefined ? text : { href, text };
}

function phoneAddress(text: string): string | undefined {
  if (!PHONE.test(text.trim())) return undefined;
  const digits = text.replace(/\D/g, '');
  return digits.length < 4 ? undefined : `tel:${text.trim().startsWith('+') ? '+' : ''}${digits}`;
}

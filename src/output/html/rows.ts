import type { Lookup } from '../../client/types.ts';
import { formatNumber, plural } from '../../util/format.ts';
import { isObject, type JsonObject, toJson } from '../../util/json.ts';
import { pointOf } from '../../util/restaurant.ts';
import { clean, cleanLine, label } from '../../util/text.ts';
import { type Comparison, compare, factsOf, fieldsOf, placeOf } from '../fields.ts';
import { pick, toCell, valueAt } from '../records.ts';
import { webUrl } from '../style.ts';
import {
  type DataField,
  hasDays,
  inline,
  isDay,
  isSimple,
  itemText,
  itemTexts,
  smallTable,
} from '../values.ts';
import type { Detail, DetailEntry, FieldRow, PageColumn, PageDocument, PageRow } from './document.ts';

export interface SearchInfo {
  readonly name: string;
  readonly city: string;
  /** Descriptions of the filters, such as `grade A or better`. */
  readonly filters?: readonly string[];
  readonly total: number;
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
}

/** Default columns of a search. The city is shown only if there are several, the distance only if it is known. */
const SEARCH_COLUMNS = ['name', 'grade', 'distance_km', 'cuisine_tags', 'neighborhood', 'address', 'city'];

export function findPage(
  restaurants: readonly unknown[],
  search: SearchInfo,
  columns?: readonly string[],
): PageDocument {
  const { total, at } = search;
  const count = restaurants.length;
  const all = plural(Math.max(total, count), 'match', 'matches');
  return {
    kind: 'Restaurant search',
    heading: searchHeading(search),
    notes: [total > count ? `${formatNumber(count)} of ${all}` : all],
    at,
    ...summaryRows(restaurants, SEARCH_COLUMNS, columns),
  };
}

/** `mexican, grade A or better, in SF`: a name of one letter with filters stands for any name. */
function searchHeading({ name, city, filters = [] }: Pick<SearchInfo, 'name' | 'city' | 'filters'>): string {
  if (filters.length === 0) return cleanLine(`${name} in ${city}`);
  const words = [...(name.trim().length > 1 ? [name] : []), ...filters, `in ${city}`];
  return cleanLine(words.join(', '));
}

export function savedPage(
  restaurants: readonly unknown[],
  at: number,
  columns?: readonly string[],
): PageDocument {
  return {
    kind: 'Your list',
    heading: 'Saved restaurants',
    notes: [plural(restaurants.length, 'restaurant')],
    at,
    ...summaryRows(restaurants, [...SEARCH_COLUMNS, 'note'], columns),
  };
}

function summaryRows(
  restaurants: readonly unknown[],
  usual: readonly string[],
  columns: readonly string[] | undefined,
): Pick<PageDocument, 'columns' | 'rows'> {
  const records = restaurants.filter(isObject);
  const hidden = [
    ...(new Set(records.map((record) => record.city)).size > 1 ? [] : ['city']),
    ...(records.some((record) => 'distance_km' in record) ? [] : ['distance_km']),
  ];
  const keys = columns ?? usual.filter((key) => !hidden.includes(key));
  return {
    columns: keys.map(columnOf),
    rows: restaurants.map((restaurant) =>
      isObject(restaurant)
        ? recordRow(columns ? pick(restaurant, columns) : restaurant, restaurant.coordinates, keys)
        : namedOnly('(unreadable)', keys),
    ),
  };
}

const LOOKUP_COLUMNS = ['name', 'grade', 'cuisine', 'price', 'neighborhood'];

export function lookupPage(
  outcomes: readonly Lookup[],
  at: number,
  columns?: readonly string[],
): PageDocument {
  const keys = columns ?? LOOKUP_COLUMNS;
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  const rows = outcomes.map((outcome): PageRow => {
    const row = lookupRow(outcome, keys, columns);
    return failed === 0 ? row : { ...row, cells: [...row.cells, outcome.error?.code ?? 'ok'] };
  });
  const [first] = outcomes;
  const isOne = outcomes.length === 1;
  const isCard = isOne && columns === undefined && first?.output !== undefined;
  const comparison = compare(outcomes, columns);
  return {
    kind: 'Restaurant details',
    ...(isCard && { isCard }),
    ...(comparison && { comparison: comparisonRows(comparison) }),
    heading: lookupHeading(rows, isOne || (comparison !== undefined && failed === 0)),
    notes: failed === 0 ? [] : [`${plural(failed, 'lookup')} failed`],
    at,
    columns: [...keys.map(columnOf), ...(failed === 0 ? [] : [RESULT])],
    rows,
  };
}

/** The names of a few restaurants, or how many there are. */
function lookupHeading(rows: readonly PageRow[], areNamed: boolean): string {
  const names = rows.flatMap(({ cells: [name] }) => name ?? []);
  return areNamed && names.length === rows.length ? names.join(', ') : plural(rows.length, 'restaurant');
}

/** The fields of two to four restaurants side by side, as the terminal shows them. */
const comparisonRows = ({ groups }: Comparison): FieldRow[] =>
  groups.flat().map(({ key, level, values }) => ({
    ...{ label: label(key), level, kind: key === 'grade' && level === 0 ? 'grade' : 'text' },
    ...(level > 0 && isDay(key) && { isDay: true }),
    ...(values && { cells: values.map((value) => comparedCell(value, key, level)) }),
  }));

/** A value in a narrow column: similar records are lines, not a table. */
function comparedCell(value: unknown, key: string, level: number): Detail {
  if (value === undefined) return '';
  const list = isSimple(value) ? undefined : itemTexts(value);
  return list === undefined ? detailOf(value, key, level + 1) : { list };
}

const RESULT: PageColumn = { label: 'Result', kind: 'status' };
const LABELS: ReadonlyMap<string, string> = new Map([
  ['cuisine_tags', 'Cuisine'],
  ['distance_km', 'Distance (km)'],
  ['lat', 'Latitude'],
  ['lng', 'Longitude'],
]);

function columnOf(key: string): PageColumn {
  const kind = key === 'name' || key === 'grade' ? key : 'text';
  return { label: LABELS.get(key) ?? label(key), kind };
}

export function pageCell(value: unknown): string | number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value === null || value === undefined) return null;
  const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  const text = isList ? inline(value) : String(toCell(value) ?? '');
  return cleanLine(text).trim() || null;
}

export function pointCell(coordinates: unknown): Pick<PageRow, 'point'> {
  const point = pointOf(coordinates);
  return point === undefined ? {} : { point: [point.lat, point.lng] };
}

function recordRow(record: JsonObject, coordinates: unknown, keys: readonly string[]): PageRow {
  return {
    cells: keys.map((key) => pageCell(valueAt(record, key))),
    ...pointCell(coordinates),
    details: entriesOf(Object.entries(record).filter(([key]) => !keys.includes(key))),
  };
}

function namedOnly(name: string, keys: readonly string[], details: PageRow['details'] = []): PageRow {
  const place = Math.max(0, keys.indexOf('name'));
  return { cells: keys.map((_, index) => (index === place ? name : null)), details };
}

function lookupRow(
  { restaurantId, output, error }: Lookup,
  keys: readonly string[],
  columns?: readonly string[],
): PageRow {
  if (error !== undefined) {
    return namedOnly(restaurantId, keys, entriesOf([['error', `${error.code}: ${error.message}`]]));
  }
  if (columns !== undefined) return recordRow(pick(output, columns), placeOf(output), keys);
  const { known, rest } = fieldsOf(output, undefined);
  const facts = factsOf(restaurantId, rest);
  const heading: Readonly<Record<string, DataField>> = { name: ['name', restaurantId], ...known };
  const cells = keys.map((key) => heading[key] ?? facts.find((fact) => fact[0] === key));
  return {
    cells: cells.map((cell) => pageCell(cell?.[1])),
    ...pointCell(placeOf(output)),
    ...(known.summary === undefined ? {} : { summary: clean(inline(known.summary[1])) }),
    details: entriesOf(facts.filter((fact) => !cells.includes(fact))),
  };
}

const MAX_DETAIL_LEVEL = 6;
const PHONE_KEY = /^(?:tele)?phone(?:_?number)?$/i;
const PHONE = /^\+?\d[\d ().-]{4,30}$/;

const phoneUrl = (key: string, value: string): string | undefined =>
  PHONE_KEY.test(key) && PHONE.test(value) ? `tel:${value.replace(/[^+\d]/g, '')}` : undefined;

export function entriesOf(
  fields: readonly (readonly [key: string, value: unknown])[],
  level = 0,
): DetailEntry[] {
  return fields.map(([key, value]) => [label(key), detailOf(value, key, level)]);
}

export function detailOf(value: unknown, key = '', level = 0): Detail {
  const href = typeof value === 'string' ? (webUrl(value) ?? phoneUrl(key, value)) : undefined;
  if (href !== undefined) return { href, text: inline(value) };
  if (isSimple(value)) return inline(value, key);
  if (level >= MAX_DETAIL_LEVEL) return clean(toJson(value, false));
  if (Array.isArray(value)) {
    const table = smallTable(value);
    if (table !== undefined) return { head: table.keys.map(label), numeric: table.numeric, rows: table.rows };
    const itemOf = (item: unknown): Detail =>
      (isObject(item) ? itemText(item) : undefined) ?? detailOf(item, key, level + 1);
    return { list: value.map(itemOf) };
  }
  if (!isObject(value)) return inline(value);
  const pairs = entriesOf(Object.entries(value), level + 1);
  return hasDays(value) ? { pairs, isWeek: true } : { pairs };
}

import { isObject, type JsonObject } from '../../util/json.ts';
import { mapUrl, SUMMARY_COLUMNS } from '../../util/restaurant.ts';
import type { SearchInfo } from '../html/rows.ts';
import type { Presentation } from '../presentation.ts';
import { pick, valueAt } from '../records.ts';
import { link, type View } from '../style.ts';
import { type Column, cellText, tableParts } from '../table.ts';

const NUMBER: Column = {
  key: '#',
  title: '#',
  align: 'right',
  priority: Number.POSITIVE_INFINITY,
  paint: 'number',
};

const COLUMNS: Readonly<Record<string, Omit<Column, 'key'>>> = {
  name: { title: 'name', min: 20, max: 48, priority: 9 },
  grade: { title: 'grade', max: 12, priority: 8, paint: 'grade' },
  cuisine_tags: { title: 'cuisine', min: 10, max: 36, priority: 6, paint: 'dim' },
  neighborhood: { title: 'neighborhood', min: 10, max: 28, priority: 5 },
  address: { title: 'address', min: 20, max: 56, priority: 7 },
  city: { title: 'city', min: 8, max: 24, priority: 4 },
  lat: { title: 'lat', align: 'right', priority: 2 },
  lng: { title: 'lng', align: 'right', priority: 2 },
  coverage_level: { title: 'coverage', max: 16, priority: 2, paint: 'dim' },
  distance_km: { title: 'km', align: 'right', priority: 8 },
  note: { title: 'note', min: 12, max: 40, priority: 8, maxLines: 100 },
  service_id: { title: 'service id', min: 36, priority: 0, paint: 'dim' },
};

const DEFAULT_COLUMNS = ['name', 'grade', 'cuisine_tags', 'neighborhood', 'address', 'city', 'service_id'];

const READABLE_COLUMNS = ['name', 'grade', 'cuisine_tags', 'neighborhood', 'city', 'address'];

interface TableOptions {
  readonly columns?: readonly string[] | undefined;
  readonly extra?: readonly string[];
}

/** Numbered from 1. The city is left out if it is the same in all rows; names link to a map. */
export function renderFind(
  restaurants: readonly unknown[],
  { columns, extra = [] }: TableOptions,
  view: View,
): Generator<string> {
  const paintName = (text: string, row: number): string =>
    link(view.palette.name(text), mapUrl(valueAt(restaurants[row], 'coordinates')), view);
  const selected = columns?.map((key) => ({ ...columnOf(key), priority: Number.POSITIVE_INFINITY }));
  const shown = (selected ?? [...usualColumns(restaurants), ...extra.map(requestedColumn)]).map((column) =>
    column.key === 'name' ? { ...column, paint: paintName } : column,
  );
  const rows = restaurants.map((restaurant, index) => [String(index + 1), ...cells(restaurant, shown)]);
  return tableParts([NUMBER, ...shown], rows, view);
}

function usualColumns(restaurants: readonly unknown[]): Column[] {
  const cities = new Set(restaurants.filter(isObject).map((restaurant) => restaurant.city));
  return DEFAULT_COLUMNS.filter((key) => key !== 'city' || cities.size > 1).map(columnOf);
}

function columnOf(key: string): Column {
  const known = Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined;
  return { key, ...(known ?? { title: key, priority: 1 }) };
}

const requestedColumn = (key: string): Column => ({ ...columnOf(key), priority: 8 });

function cells(restaurant: unknown, columns: readonly Column[]): string[] {
  if (isObject(restaurant)) return columns.map(({ key }) => cellText(restaurant, key));
  const nameIndex = columns.findIndex(({ key }) => key === 'name');
  return columns.map((_, index) => (index === Math.max(0, nameIndex) ? '(unreadable)' : ''));
}

export function findPresentation(
  output: object,
  restaurants: readonly unknown[],
  search: SearchInfo,
  extra: readonly string[] = [],
): Presentation {
  return {
    records: restaurants,
    columns: [...SUMMARY_COLUMNS, ...extra],
    readableColumns: [...READABLE_COLUMNS, ...extra],
    numbered: true,
    selectColumns: (columns) => ({
      ...output,
      results: restaurants.map((restaurant) => pick(restaurant, columns)),
    }),
    table: (view, columns) => renderFind(restaurants, { columns, extra }, view),
    page: async (columns) => (await import('../html/rows.ts')).findPage(restaurants, search, columns),
  };
}

export const SAVED_COLUMNS: readonly string[] = [
  ...SUMMARY_COLUMNS,
  ...['note', 'saved_at', 'checked_at', 'gone'],
];

/** @param at now, in milliseconds since the epoch */
export function savedPresentation(records: readonly JsonObject[], at: number): Presentation {
  const extra = ['note', ...(records.some(({ gone }) => gone === true) ? ['gone'] : [])];
  const rows = records.map(({ gone, ...record }) => ({ ...record, gone: gone === true ? 'yes' : null }));
  return {
    records,
    columns: SAVED_COLUMNS,
    readableColumns: [...READABLE_COLUMNS, ...extra],
    numbered: true,
    selectColumns: (columns) => ({ results: records.map((record) => pick(record, columns)) }),
    table: (view, columns) => renderFind(rows, { columns, extra }, view),
    page: async (columns) => (await import('../html/rows.ts')).savedPage(records, at, columns),
  };
}

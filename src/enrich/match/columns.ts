import { AppError } from '../../errors.ts';
import { cellAt, valueAt } from '../../output/records.ts';
import { nearest } from '../../util/nearest.ts';
import { checkId } from '../../util/restaurant.ts';
import { shellWord } from '../../util/shell.ts';
import type { InputRow } from '../read/row.ts';

/** Header names that are recognized, best first. A plain `id` may be anyone's. */
const COMMON = {
  name: ['name', 'restaurant', 'restaurant name', 'venue', 'place', 'title'],
  city: ['city', 'town'],
  id: ['service_id', 'restaurant_id'],
} as const;

export interface ColumnOptions {
  readonly nameColumn?: string | undefined;
  readonly cityColumn?: string | undefined;
  readonly idColumn?: string | undefined;
  /** City of the rows that have none. */
  readonly city?: string | undefined;
  /** City where the list has no column for it. */
  readonly defaultCity?: string | undefined;
  /** Columns may be dotted paths into objects. */
  readonly nested?: boolean;
}

export interface NameQuery {
  readonly kind: 'search';
  readonly name: string;
  readonly city: string;
}

/** A query that the service can answer. */
export type Searchable = NameQuery | { readonly kind: 'lookup'; readonly id: string };

/** The query of a row; `none`: nothing to search by. */
export type RowQuery = Searchable | { readonly kind: 'none'; readonly why: string };

/** The columns of a list. */
export interface Columns {
  readonly name?: string;
  readonly city?: string;
  readonly id?: string;
  query(row: InputRow): RowQuery;
}

/**
 * Finds the columns to search by.
 * @param header columns of a CSV, keys of NDJSON
 * @throws {AppError} `usage` where there is nothing to search by
 */
export function resolveColumns(header: readonly string[], options: ColumnOptions): Columns {
  const nested = options.nested === true;
  const id = chosen(header, options.idColumn, '--id-column', nested) ?? common(header, COMMON.id);
  const name = chosen(header, options.nameColumn, '--name-column', nested) ?? common(header, COMMON.name);
  const city = chosen(header, options.cityColumn, '--city-column', nested) ?? common(header, COMMON.city);
  const otherCity = options.city ?? (city === undefined ? options.defaultCity : undefined);
  if (id === undefined) {
    const rest = header.filter((column) => column !== name && column !== city);
    if (name === undefined) throw missing(header, 'name', '--name-column', rest[0]);
    if (city === undefined && otherCity === undefined)
      throw missing(header, 'city', '--city-column', rest[0]);
  }
  const nameOf = reader(header, name);
  const cityOf = reader(header, city);
  const idOf = reader(header, id);
  return {
    ...(name === undefined ? {} : { name }),
    ...(city === undefined ? {} : { city }),
    ...(id === undefined ? {} : { id }),
    query(row) {
      const rowId = idOf(row).trim();
      if (rowId !== '') return lookupQuery(rowId);
      const ownCity = cityOf(row);
      const query = {
        kind: 'search',
        name: nameOf(row),
        city: ownCity.trim() === '' ? (otherCity ?? '') : ownCity,
      } as const;
      if (query.name.trim() === '')
        return { kind: 'none', why: id === undefined ? 'the name is empty' : 'no id and no name' };
      return query.city.trim() === '' ? { kind: 'none', why: 'the city is empty' } : query;
    },
  };
}

function lookupQuery(text: string): RowQuery {
  try {
    return { kind: 'lookup', id: checkId(text) };
  } catch (error) {
    return { kind: 'none', why: error instanceof Error ? error.message : 'not an id' };
  }
}

/** A header name for comparison: `Restaurant_Name` equals `restaurant name`. */
const plain = (column: string): string => column.toLowerCase().replace(/[\s_]/g, '');

function chosen(
  header: readonly string[],
  column: string | undefined,
  flag: string,
  nested: boolean,
): string | undefined {
  if (column === undefined || header.includes(column)) return column;
  const same = header.find((each) => plain(each) === plain(column));
  if (same !== undefined) return same;
  if (nested && header.includes(column.split('.', 1)[0] ?? '')) return column;
  const [near] = nearest(column, header, 1);
  throw new AppError('usage', `${flag} '${column}': the list has no such column; it has ${listed(header)}`, {
    hint:
      near === undefined
        ? `restaurant enrich … ${flag} <column>`
        : `did you mean ${flag} ${shellWord(near)}?`,
  });
}

function common(header: readonly string[], names: readonly string[]): string | undefined {
  return names
    .map((name) => header.find((column) => plain(column) === plain(name)))
    .find((column) => column !== undefined);
}

/** @param guess a column that may be the one */
function missing(
  header: readonly string[],
  what: 'name' | 'city',
  flag: string,
  guess: string | undefined,
): AppError {
  const names = COMMON[what].join(', ');
  const message = `no column for the ${what}: none is called ${names}; the list has ${listed(header)}`;
  const column = guess === undefined ? '<column>' : shellWord(guess);
  const other = what === 'city' ? ', or --city <city> for all rows' : '';
  return new AppError('usage', message, { hint: `restaurant enrich … ${flag} ${column}${other}` });
}

function listed(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((column) => `'${column}'`);
  return shown.length === 0 ? 'no columns' : shown.join(', ') + (header.length > 20 ? ', …' : '');
}

/** Returns the text of a column; of a header that occurs twice, the first. */
function reader(header: readonly string[], column: string | undefined): (row: InputRow) => string {
  if (column === undefined) return () => '';
  const index = header.indexOf(column);
  return (row) => {
    if (row.kind === 'cells') return row.cells[index] ?? '';
    return typeof valueAt(row.value, column) === 'object' ? '' : String(cellAt(row.value, column) ?? '');
  };
}

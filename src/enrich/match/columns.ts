import { AppError } from '../../errors.ts';
import { cellAt, valueAt } from '../../output/records.ts';
import { nearest } from '../../util/nearest.ts';
import { checkId } from '../../util/restaurant-id.ts';
import type { InputRow } from '../read/row.ts';

/** Header names that are known without being told, best first. A plain `id` may be anybody's. */
const COMMON = {
  name: ['name', 'restaurant', 'title'],
  city: ['city', 'town'],
  id: ['service_id', 'restaurant_id'],
} as const;

export interface ColumnOptions {
  readonly nameColumn?: string | undefined;
  readonly cityColumn?: string | undefined;
  readonly idColumn?: string | undefined;
  /** City of all rows, in place of a column. */
  readonly city?: string | undefined;
  /** City where the list has no column for it. */
  readonly defaultCity?: string | undefined;
  /** Columns may be dotted paths into objects. */
  readonly nested?: boolean;
}

/** What is to be asked for a row. */
export type RowQuery =
  | { readonly kind: 'search'; readonly name: string; readonly city: string }
  | { readonly kind: 'lookup'; readonly id: string }
  /** Nothing can be asked. */
  | { readonly kind: 'none'; readonly why: string };

/** Which column holds what, found once for the whole list. */
export interface Columns {
  readonly name?: string;
  readonly city?: string;
  readonly id?: string;
  ask(row: InputRow): RowQuery;
}

/**
 * Finds the columns to ask by.
 * @param header columns of a CSV, keys of NDJSON
 * @throws {AppError} `usage` where there is nothing to ask by
 */
export function resolveColumns(header: readonly string[], options: ColumnOptions): Columns {
  const nested = options.nested === true;
  const id = chosen(header, options.idColumn, '--id-column', nested) ?? common(header, COMMON.id);
  const name = chosen(header, options.nameColumn, '--name-column', nested) ?? common(header, COMMON.name);
  const wanted = chosen(header, options.cityColumn, '--city-column', nested);
  const city = wanted ?? (options.city === undefined ? common(header, COMMON.city) : undefined);
  const everywhere = options.city ?? (city === undefined ? options.defaultCity : undefined);
  if (id === undefined) {
    if (name === undefined) throw missing(header, 'name', COMMON.name, '--name-column <column>');
    if (city === undefined && everywhere === undefined) {
      throw missing(header, 'city', COMMON.city, '--city-column <column>, or --city <city> for all rows');
    }
  }
  const nameAt = reader(header, name);
  const cityAt = reader(header, city);
  const idAt = reader(header, id);
  return {
    ...(name === undefined ? {} : { name }),
    ...(city === undefined ? {} : { city }),
    ...(id === undefined ? {} : { id }),
    ask(row) {
      const known = idAt(row).trim();
      if (known !== '') return lookupOf(known);
      const asked = { kind: 'search', name: nameAt(row), city: everywhere ?? cityAt(row) } as const;
      if (asked.name.trim() === '')
        return { kind: 'none', why: id === undefined ? 'the name is empty' : 'no id and no name' };
      return asked.city.trim() === '' ? { kind: 'none', why: 'the city is empty' } : asked;
    },
  };
}

function lookupOf(text: string): RowQuery {
  try {
    return { kind: 'lookup', id: checkId(text) };
  } catch (error) {
    return { kind: 'none', why: error instanceof Error ? error.message : 'the id is none' };
  }
}

const plain = (column: string): string => column.trim().toLowerCase();

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
    hint: near === undefined ? `restaurant enrich … ${flag} <column>` : `did you mean ${flag} '${near}'?`,
  });
}

function common(header: readonly string[], names: readonly string[]): string | undefined {
  return names
    .map((name) => header.find((column) => plain(column) === name))
    .find((column) => column !== undefined);
}

function missing(header: readonly string[], what: string, names: readonly string[], flags: string): AppError {
  const message = `no column for the ${what}: none is called ${names.join(', ')}; the list has ${listed(header)}`;
  return new AppError('usage', message, { hint: `restaurant enrich … ${flags}` });
}

function listed(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((column) => `'${column}'`);
  return shown.length === 0 ? 'no columns' : shown.join(', ') + (header.length > 20 ? ', …' : '');
}

/** Text of a column; of a header that stands twice the first. */
function reader(header: readonly string[], column: string | undefined): (row: InputRow) => string {
  if (column === undefined) return () => '';
  const place = header.indexOf(column);
  return (row) => {
    if (row.kind === 'cells') return row.cells[place] ?? '';
    return typeof valueAt(row.value, column) === 'object' ? '' : String(cellAt(row.value, column) ?? '');
  };
}

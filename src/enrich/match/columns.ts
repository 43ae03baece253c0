import { AppError } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { cellAt, valueAt } from '../../output/records.ts';
import { nearest } from '../../util/nearest.ts';
import { checkId } from '../../util/restaurant.ts';
import type { InputRow } from '../row.ts';

/** The options that name a column, and the headers that are recognized, best first. A plain `id` may belong to another program. */
const COLUMNS = {
  name: {
    flag: '--name-column',
    headers: [
      'name',
      'restaurant',
      'restaurant name',
      'venue',
      'place',
      'title',
      'lokal',
      'betrieb',
      'nom',
      'nombre',
    ],
  },
  city: { flag: '--city-column', headers: ['city', 'town', 'ort', 'stadt', 'ville', 'ciudad', 'where'] },
  id: { flag: '--id-column', headers: ['service_id', 'restaurant_id'] },
} as const;

export interface ColumnOptions {
  readonly nameColumn?: string | undefined;
  readonly cityColumn?: string | undefined;
  readonly idColumn?: string | undefined;
  /** City of the rows without one. */
  readonly city?: string | undefined;
  /** City to use if the list has no city column. */
  readonly defaultCity?: string | undefined;
  /** Columns may be dotted paths into objects. */
  readonly nested?: boolean;
}

export interface NameQuery {
  readonly kind: 'search';
  readonly name: string;
  readonly city: string;
}

export type Searchable = NameQuery | { readonly kind: 'lookup'; readonly id: string; readonly city: string };

/** The query of a row; `none` if the row has nothing to search by. */
export type RowQuery = Searchable | { readonly kind: 'none'; readonly why: string };

export interface Columns {
  readonly name?: string | undefined;
  readonly city?: string | undefined;
  readonly id?: string | undefined;
  query(row: InputRow): RowQuery;
}

export function resolveColumns(header: readonly string[], options: ColumnOptions): Columns {
  const name = findColumn(header, 'name', options.nameColumn, options.nested);
  const city = findColumn(header, 'city', options.cityColumn, options.nested);
  const id = findColumn(header, 'id', options.idColumn, options.nested);
  const otherCity = options.city ?? (city === undefined ? options.defaultCity : undefined);
  const missing: ('name' | 'city')[] = [
    ...(name === undefined ? (['name'] as const) : []),
    ...(city === undefined && otherCity === undefined ? (['city'] as const) : []),
  ];
  if (id === undefined && missing.length > 0) throw missingColumns(header, missing);
  const textOf = (row: InputRow, column: string | undefined): string => {
    if (column === undefined) return '';
    // If a header is repeated, the first column is used.
    if (row.kind === 'cells') return (row.cells[header.indexOf(column)] ?? '').trim();
    const isObject = typeof valueAt(row.value, column) === 'object';
    return isObject ? '' : String(cellAt(row.value, column) ?? '').trim();
  };
  return {
    name,
    city,
    id,
    query(row) {
      const rowId = textOf(row, id);
      const searched = textOf(row, city) || (otherCity ?? '').trim();
      if (rowId !== '') return lookupQuery(rowId, searched);
      const query = { kind: 'search', name: textOf(row, name), city: searched } as const;
      if (query.name === '')
        return { kind: 'none', why: id === undefined ? 'the name is empty' : 'no id and no name' };
      return query.city === '' ? { kind: 'none', why: 'the city is empty' } : query;
    },
  };
}

function lookupQuery(text: string, city: string): RowQuery {
  try {
    return { kind: 'lookup', id: checkId(text), city };
  } catch (error) {
    return { kind: 'none', why: error instanceof Error ? error.message : 'not an id' };
  }
}

/** Normalizes a header name: `Restaurant_Name` equals `restaurant name`. */
const plain = (column: string): string => column.toLowerCase().replace(/[\s_]/g, '');

const KNOWN_HEADERS = new Set(Object.values(COLUMNS).flatMap(({ headers }) => headers.map(plain)));

export const isKnownHeader = (column: string): boolean => KNOWN_HEADERS.has(plain(column));

/** @param wanted the column that an option names; undefined for the first recognized header */
function findColumn(
  header: readonly string[],
  field: keyof typeof COLUMNS,
  wanted: string | undefined,
  nested = false,
): string | undefined {
  const { flag, headers } = COLUMNS[field];
  const find = (name: string) => header.find((column) => plain(column) === plain(name));
  if (wanted === undefined) return headers.map(find).find((column) => column !== undefined);
  if (header.includes(wanted)) return wanted;
  const same = find(wanted);
  if (same !== undefined) return same;
  if (nested && header.includes(wanted.split('.', 1)[0] ?? '')) return wanted;
  const [near] = nearest(wanted, header, 1);
  throw new AppError('usage', `${flag} '${wanted}': the list has no such column; it has ${listed(header)}`, {
    hint:
      near === undefined
        ? { command: again({ [flag]: slot('column') }) }
        : { text: 'did you mean', command: again({ [flag]: near }) },
  });
}

function missingColumns(header: readonly string[], fields: readonly ('name' | 'city')[]): AppError {
  const names = fields.map((field) => COLUMNS[field].headers.join(', ')).join('; or ');
  const message = `no column for the ${fields.join(' and the ')}: none is called ${names}; the list has ${listed(header)}`;
  const options = Object.fromEntries(fields.map((field) => [COLUMNS[field].flag, slot('column')]));
  const other = { text: 'or for all rows', command: again({ '--city': slot('city') }) };
  const hint = [{ command: again(options) }, ...(fields.length === 1 && fields[0] === 'city' ? [other] : [])];
  return new AppError('usage', message, { hint });
}

function listed(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((column) => `'${column}'`);
  return shown.length === 0 ? 'no columns' : shown.join(', ') + (header.length > 20 ? ', …' : '');
}

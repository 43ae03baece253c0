import { AppError } from '../../errors.ts';
import { again, type Hint, slot } from '../../hint.ts';
import { cellAt, valueAt } from '../../output/records.ts';
import { nearest } from '../../util/nearest.ts';
import { checkId } from '../../util/restaurant.ts';
import type { EarlierResult, InputRow } from '../row.ts';
import { decidedResult, earlierId } from './decided.ts';
import type { RowResult } from './match.ts';
import { type Place, readPlace } from './place.ts';

/**
 * The options that name a column, and the headers that are recognized, best first. A plain `id` may belong to another
 * program. The paths are those of Overture Maps, and `addr:city` is a key of OpenStreetMap.
 */
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
      'names.primary',
      'tags.name',
    ],
  },
  city: {
    flag: '--city-column',
    headers: [
      'city',
      'town',
      'ort',
      'stadt',
      'ville',
      'ciudad',
      'where',
      'addr:city',
      'addresses.0.locality',
      'tags.addr:city',
    ],
  },
  id: { flag: '--id-column', headers: ['service_id', 'restaurant_id'] },
  lat: { flag: '--lat-column', headers: ['lat', 'latitude', 'breitengrad', 'latitud', 'geo lat'] },
  lng: {
    flag: '--lng-column',
    headers: ['lng', 'lon', 'long', 'longitude', 'längengrad', 'longitud', 'geo lng', 'geo lon'],
  },
  address: {
    flag: '--address-column',
    headers: [
      'address',
      'street address',
      'full address',
      'street',
      'adresse',
      'anschrift',
      'straße',
      'dirección',
      'addresses.0.freeform',
    ],
  },
} as const;

type Field = keyof typeof COLUMNS;

export interface ColumnOptions {
  readonly nameColumn?: string | undefined;
  readonly cityColumn?: string | undefined;
  readonly idColumn?: string | undefined;
  readonly latColumn?: string | undefined;
  readonly lngColumn?: string | undefined;
  readonly addressColumn?: string | undefined;
  readonly city?: string | undefined;
  readonly defaultCity?: string | undefined;
  /** Columns may be dotted paths into objects. */
  readonly nested?: boolean;
  readonly ignored?: readonly string[];
  /** The column with the ids of earlier results. */
  readonly earlierIdColumn?: string | undefined;
  /** A line of the list that looks more like its header. */
  readonly likelyHeader?: number | undefined;
}

interface RowText {
  readonly name: string;
  readonly city: string;
  readonly place?: Place | undefined;
}

export type NameQuery = RowText & { readonly kind: 'search' };
export type Searchable =
  | NameQuery
  | (RowText & { readonly kind: 'lookup'; readonly id: string; readonly isIdKept?: true });

export type DecidedQuery = RowText & { readonly kind: 'decided'; readonly result: RowResult };

/** The query of a row; `none` if the row has nothing to search by. An id that is in the result stays there. */
export type RowQuery =
  | Searchable
  | DecidedQuery
  | { readonly kind: 'none'; readonly why: string; readonly id?: string };

export interface Columns extends Readonly<Partial<Record<Field, string | undefined>>> {
  query(row: InputRow): RowQuery;
}

export function resolveColumns(header: readonly string[], options: ColumnOptions): Columns {
  const { nested, ignored = [], earlierIdColumn } = options;
  const hasIds = earlierIdColumn !== undefined;
  const recognized = header.filter((column) => !ignored.includes(column));
  const wrong: WrongColumn[] = [];
  const find = (field: Field, wanted: string | undefined): string | undefined => {
    const found = findColumn(wanted === undefined ? recognized : header, field, wanted, nested);
    if (found === undefined && wanted !== undefined) wrong.push({ field, wanted });
    return found;
  };
  const name = find('name', options.nameColumn);
  const city = find('city', options.cityColumn);
  const id = find('id', options.idColumn === earlierIdColumn ? undefined : options.idColumn);
  const address = find('address', options.addressColumn);
  const lat = find('lat', options.latColumn);
  const lng = find('lng', options.lngColumn);
  const otherCity = options.city ?? (city === undefined ? options.defaultCity : undefined);
  const isMissing = {
    name: id === undefined && !hasIds && name === undefined && options.nameColumn === undefined,
    city:
      id === undefined &&
      !hasIds &&
      city === undefined &&
      options.cityColumn === undefined &&
      otherCity === undefined,
    // Latitude and longitude are only used together.
    lat: lat === undefined && options.latColumn === undefined && options.lngColumn !== undefined,
    lng: lng === undefined && options.lngColumn === undefined && options.latColumn !== undefined,
  };
  const missing = (['name', 'city', 'lat', 'lng'] as const).filter((field) => isMissing[field]);
  if (wrong.length + missing.length > 0) throw noColumns(header, wrong, missing, options.likelyHeader);
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
    address,
    lat,
    lng,
    query(row) {
      const text = {
        name: textOf(row, name),
        city: textOf(row, city) || (otherCity ?? '').trim(),
        place: readPlace(textOf(row, lat), textOf(row, lng), textOf(row, address)),
      };
      const rowId = textOf(row, id);
      const earlier = row.earlier && earlierQuery(row.earlier, rowId, text);
      if (earlier !== undefined) return earlier;
      if (rowId !== '') return lookupQuery(rowId, text);
      if (text.name === '')
        return { kind: 'none', why: id === undefined && !hasIds ? 'the name is empty' : 'no id and no name' };
      return text.city === '' ? { kind: 'none', why: 'the city is empty' } : { kind: 'search', ...text };
    },
  };
}

/**
 * Returns the query of a row with an earlier result: none if it was decided, else its id, unless that was only guessed.
 * @param rowId the id in another column, which is used first
 */
function earlierQuery(earlier: EarlierResult, rowId: string, text: RowText): RowQuery | undefined {
  const result = decidedResult(earlier);
  if (result !== undefined) return { kind: 'decided', result, ...text };
  const { id, isGuess } = earlierId(earlier);
  const isSearched = isGuess && text.name !== '' && text.city !== '';
  return rowId !== '' || id === '' || isSearched ? undefined : lookupQuery(id, text, true);
}

function lookupQuery(text: string, row: RowText, isIdKept = false): RowQuery {
  try {
    return { kind: 'lookup', id: checkId(text), ...row, ...(isIdKept && { isIdKept }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'not an id';
    return { kind: 'none', why, ...(isIdKept && { id: text }) };
  }
}

/** Normalizes a header name: `Restaurant_Name` equals `restaurant name`. */
const plain = (column: string): string => column.toLowerCase().replace(/[\s_]/g, '');

const KNOWN_HEADERS: ReadonlySet<string> = new Set(
  Object.values(COLUMNS).flatMap(({ headers }) => headers.map(plain)),
);

export const isKnownHeader = (column: string): boolean => KNOWN_HEADERS.has(plain(column));

export const NESTED_HEADERS = Object.values(COLUMNS).flatMap(({ headers }) =>
  headers.filter((header) => header.includes('.')),
);

/** @param wanted the column that an option names; undefined for the first recognized header */
function findColumn(
  header: readonly string[],
  field: Field,
  wanted: string | undefined,
  nested = false,
): string | undefined {
  const find = (name: string) => header.find((column) => plain(column) === plain(name));
  if (wanted === undefined) return COLUMNS[field].headers.map(find).find((column) => column !== undefined);
  if (header.includes(wanted)) return wanted;
  const isPath = nested && header.includes(wanted.split('.', 1)[0] ?? '');
  return find(wanted) ?? (isPath ? wanted : undefined);
}

const LABELS: Readonly<Partial<Record<Field, string>>> = { lat: 'latitude', lng: 'longitude' };
const labelOf = (field: Field): string => LABELS[field] ?? field;

interface WrongColumn {
  readonly field: Field;
  readonly wanted: string;
}

/**
 * @param wrong columns that options name, and the list does not have
 * @param missing fields without a column
 */
function noColumns(
  header: readonly string[],
  wrong: readonly WrongColumn[],
  missing: readonly Field[],
  likelyHeader: number | undefined,
): AppError {
  const named = wrong.map(({ field, wanted }) => `${COLUMNS[field].flag} '${wanted}'`).join(', ');
  const names = missing.map((field) => COLUMNS[field].headers.join(', ')).join('; or ');
  const message = [
    ...(wrong.length > 0 ? [`${named}: the list has no such column`] : []),
    ...(missing.length > 0
      ? [`no column for the ${missing.map(labelOf).join(' and the ')}: none is called ${names}`]
      : []),
    wrong.length > 0 ? `it has ${listed(header)}` : `the list has ${listed(header)}`,
  ].join('; ');
  return new AppError('usage', message, { hint: columnHints(header, wrong, missing, likelyHeader) });
}

function columnHints(
  header: readonly string[],
  wrong: readonly WrongColumn[],
  missing: readonly Field[],
  likelyHeader: number | undefined,
): Hint {
  if (likelyHeader !== undefined) {
    const command = again({ '--header-line': String(likelyHeader) });
    return { text: `line ${likelyHeader} looks like the header`, command };
  }
  const nearTo = (wanted: string): string | undefined => nearest(wanted, header, 1)[0];
  const options = Object.fromEntries([
    ...wrong.map(({ field, wanted }) => [COLUMNS[field].flag, nearTo(wanted) ?? slot('column')] as const),
    ...missing.map((field) => [COLUMNS[field].flag, slot('column')] as const),
  ]);
  const isMeant = missing.length === 0 && wrong.every(({ wanted }) => nearTo(wanted) !== undefined);
  const command = again(options);
  if (isMeant) return { text: 'did you mean', command };
  const isCity = wrong.length === 0 && missing.length === 1 && missing[0] === 'city';
  return [
    { command },
    ...(isCity ? [{ text: 'or for all rows', command: again({ '--city': slot('city') }) }] : []),
  ];
}

function listed(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((column) => `'${column}'`);
  return shown.length === 0 ? 'no columns' : shown.join(', ') + (header.length > 20 ? ', …' : '');
}

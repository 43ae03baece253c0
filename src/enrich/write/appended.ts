import { AppError } from '../../errors.ts';
import { guardFormula } from '../../output/csv.ts';
import { memberCell, rawNumberAt, valueAt } from '../../output/records.ts';
import { rawNumber, setRawNumber } from '../../util/exact-json.ts';
import { toJson } from '../../util/json.ts';
import { cleanCell, cleanLine } from '../../util/text.ts';
import type { RowResult } from '../match/facts.ts';

/** What every row gets, in this order; the columns are called so behind the prefix. */
export const FACT_NAMES = [
  'status',
  'match',
  'candidates',
  'id',
  'name',
  'address',
  'city',
  'neighborhood',
  'lat',
  'lng',
  'cuisine_tags',
  'grade',
  'coverage_level',
  'details',
  'error',
] as const;

/** A column that is taken out of the details. */
export interface AddedColumn {
  readonly name: string;
  /** Dotted. */
  readonly path: string;
}

/** Where the id and the details stand among the appended cells. */
export const ID_PLACE = FACT_NAMES.indexOf('id');
const LAT_PLACE = FACT_NAMES.indexOf('lat');
const LNG_PLACE = FACT_NAMES.indexOf('lng');
export const DETAILS_PLACE = FACT_NAMES.indexOf('details');

export interface CellOptions {
  /** Neutralise what a spreadsheet would run as a formula. */
  readonly guard: boolean;
  /** Tabs and line breaks become spaces. */
  readonly oneLine: boolean;
}

function valuesOf(facts: RowResult, added: readonly AddedColumn[]): unknown[] {
  const { restaurant = {}, details } = facts;
  const values = [
    facts.status,
    facts.match,
    facts.candidates,
    restaurant.service_id,
    restaurant.name,
    restaurant.address,
    restaurant.city,
    restaurant.neighborhood,
    valueAt(restaurant, 'lat'),
    valueAt(restaurant, 'lng'),
    restaurant.cuisine_tags,
    restaurant.grade,
    restaurant.coverage_level,
    details,
    facts.error,
    ...added.map(({ path }) => valueAt(details, path)),
  ];
  keepNumberAt(values, LAT_PLACE, restaurant, 'lat');
  keepNumberAt(values, LNG_PLACE, restaurant, 'lng');
  for (const [index, { path }] of added.entries()) {
    keepNumberAt(values, FACT_NAMES.length + index, details, path);
  }
  return values;
}

/** Keeps how a number was written that JavaScript would change. */
function keepNumberAt(values: unknown[], place: number, record: unknown, path: string): void {
  const text = rawNumberAt(record, path);
  if (text !== undefined) setRawNumber(values, String(place), text);
}

/** The names of the appended columns of a CSV. */
export function appendedColumns(prefix: string, added: readonly AddedColumn[]): string[] {
  return [...FACT_NAMES.map((name) => prefix + name), ...added.map(({ name }) => name)];
}

/** The facts as cells of a CSV: text cleaned and guarded, numbers as they are. */
export function appendedCells(
  facts: RowResult,
  added: readonly AddedColumn[],
  options: CellOptions,
): string[] {
  return valuesOf(facts, added).map((value, place, values) => {
    if (value === undefined || value === null) return '';
    // JSON is harmless as it is, and is read again.
    if (place === DETAILS_PLACE) return toJson(value, false);
    const cell = memberCell(values, place);
    if (typeof cell !== 'string') return cell === null ? '' : String(cell);
    const text = options.oneLine ? cleanLine(cell) : cleanCell(cell);
    return options.guard ? guardFormula(text) : text;
  });
}

/** The key under which a line of NDJSON gets its facts: the prefix without its underscore. */
export function nestedKey(prefix: string): string {
  const key = prefix.replace(/_+$/, '');
  if (key !== '') return key;
  throw new AppError('usage', `--prefix '${prefix}': NDJSON needs a name for the key`, {
    hint: 'restaurant enrich … --prefix restaurant_',
  });
}

/** The facts as a JSON object; what is not known is null. */
export function nestedFacts(facts: RowResult, added: readonly AddedColumn[]): Record<string, unknown> {
  const names = [...FACT_NAMES, ...added.map(({ name }) => name)];
  const values = valuesOf(facts, added);
  const nested = Object.fromEntries(names.map((name, place) => [name, values[place] ?? null]));
  for (const [place, name] of names.entries()) {
    const text = rawNumber(values, place);
    if (text !== undefined) setRawNumber(nested, name, text);
  }
  return nested;
}

/**
 * Refuses appended columns that the input has already, or that are named twice.
 * @param own columns of the input
 * @throws {AppError} `usage` naming the column
 */
export function assertNoCollision(own: readonly string[], appended: readonly string[]): void {
  const taken = new Set(own);
  const clash = appended.find((name) => taken.has(name));
  if (clash !== undefined) {
    throw new AppError('usage', `the list has a column '${clash}' already`, {
      hint: 'give the new columns another prefix: restaurant enrich … --prefix found_',
    });
  }
  const twice = appended.find((name, place) => appended.indexOf(name) !== place);
  if (twice === undefined) return;
  throw new AppError('usage', `the column '${twice}' would be added twice`, {
    hint: 'call it something else: restaurant enrich … --add <column>=<path>',
  });
}

import type { FindQuery, Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { SharedStateError } from '../../storage/ledger.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { isObject, tryParseJson } from '../../util/json.ts';
import { checkId } from '../../util/restaurant.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import type { EarlierResult, InputRow } from '../row.ts';
import {
  type Found,
  type MatchQuery,
  matchAgain,
  matchId,
  matchName,
  NOT_FOUND,
  type RowResult,
} from './match.ts';
import { searchesFor } from './searches.ts';

type NameQuery = MatchQuery & { readonly kind: 'search' };
export type Searchable =
  | NameQuery
  | (MatchQuery & { readonly kind: 'lookup'; readonly id: string; readonly isIdKept?: true });

export type DecidedQuery = MatchQuery & { readonly kind: 'decided'; readonly result: RowResult };

/** The query of a row; `none` if the row has nothing to search by. An id that is in the result stays there. */
export type RowQuery =
  | Searchable
  | DecidedQuery
  | { readonly kind: 'none'; readonly why: string; readonly id?: string };

/** Statuses of a restaurant that was only guessed. */
const GUESSED: readonly unknown[] = ['likely', 'ambiguous'];

/**
 * Returns the query of a row: none if an earlier result was decided, else its id, or the id of that result, unless it was
 * only guessed, or its name.
 * @param id the id in a column of the list. @param hasIds whether rows of the list may have one
 */
export function rowQuery({ earlier }: InputRow, id: string, text: MatchQuery, hasIds: boolean): RowQuery {
  const result = earlier && decidedResult(earlier);
  if (result !== undefined) return { kind: 'decided', result, ...text };
  if (id !== '') return lookupQuery(id, text);
  const isSearchable = text.name !== '' && text.city !== '';
  const earlierId = textOf(earlier?.id);
  if (earlierId !== '' && !(isSearchable && GUESSED.includes(earlier?.status)))
    return lookupQuery(earlierId, text, true);
  if (isSearchable) return { kind: 'search', ...text };
  if (text.name !== '') return { kind: 'none', why: 'the city is empty' };
  return { kind: 'none', why: hasIds ? 'no id and no name' : 'the name is empty' };
}

function lookupQuery(text: string, row: MatchQuery, isIdKept = false): RowQuery {
  try {
    return { kind: 'lookup', id: checkId(text), ...row, ...(isIdKept && { isIdKept }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'not an id';
    return { kind: 'none', why, ...(isIdKept && { id: text }) };
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

/** Returns the result that a row keeps: one that was matched or confirmed, or rejected by a person. */
function decidedResult(earlier: EarlierResult): RowResult | undefined {
  const { status, match, error, ...fields } = earlier;
  const isMatched = status === 'matched' && textOf(fields.id) !== '';
  if (!isMatched && !(status === 'not_found' && match === 'rejected')) return undefined;
  const { id, candidates, similarity, distance_m, details, cuisine_tags, ...restaurant } = fields;
  const parsed = typeof details === 'string' ? tryParseJson(details) : details;
  return {
    status,
    match: match as RowResult['match'],
    ...known({ candidates, similarity, distance_m }),
    restaurant: {
      ...known(restaurant),
      ...(textOf(id) !== '' && { service_id: textOf(id) }),
      ...(cuisine_tags !== '' && { cuisine_tags: listOf(cuisine_tags) }),
    },
    ...(isObject(parsed) && { details: parsed }),
    ...(typeof error === 'string' && error !== '' && { error }),
  } as RowResult;
}

function known(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isNumber = (value: unknown) => typeof value === 'string' && String(Number(value)) === value;
  const numbers: readonly string[] = ['candidates', 'similarity', 'distance_m', 'lat', 'lng'];
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([key, value]) => [key, numbers.includes(key) && isNumber(value) ? Number(value) : value]),
  );
}

const listOf = (tags: unknown): unknown => (typeof tags === 'string' ? tags.split('; ') : tags);

/** The service as rows use it: paced and cached. Every method throws AppError. */
export interface RestaurantService {
  find(query: FindQuery): Promise<Found>;
  lookup(id: string, level: Level): Promise<LookupOutput>;
}

export interface ResolveOptions {
  readonly find: RestaurantService['find'];
  readonly lookup: (id: string) => Promise<LookupOutput>;
  readonly details: boolean;
  readonly loose: boolean;
}

const MAX_ERROR = 300;

/** @throws errors that end the whole run: a rejected key, an exhausted quota, an interruption */
export async function resolveRow(
  query: Searchable | DecidedQuery,
  options: ResolveOptions,
): Promise<RowResult> {
  const known = query.kind === 'lookup' && query.isIdKept ? { restaurant: { service_id: query.id } } : {};
  let found: RowResult | undefined;
  try {
    if (query.kind === 'lookup') return matchId(query, await options.lookup(query.id));
    found = query.kind === 'decided' ? query.result : await search(query, options);
    const id = found.restaurant?.service_id;
    if (!options.details || id === undefined || found.status === 'ambiguous') return found;
    return { ...found, details: await options.lookup(id) };
  } catch (error) {
    if (!(error instanceof AppError) || !isOfOneRow(error)) throw error;
    // A search that fails with "not found" has no results.
    if (error.code === 'not_found' && found === undefined) return { ...NOT_FOUND, ...known };
    return fromError(error, { ...known, ...found });
  }
}

async function search(query: NameQuery, { find, loose }: ResolveOptions): Promise<RowResult> {
  const { name, city } = query;
  let result = matchName(query, await find({ name, city }), loose);
  for (const further of loose ? furtherSearches(query) : []) {
    if (result.status !== 'not_found') break;
    result = matchAgain(query, await find(further));
  }
  return result;
}

export const furtherSearches = (query: FindQuery): readonly FindQuery[] => searchesFor(query).slice(1);

const isOfOneRow = (error: AppError): boolean =>
  !(error instanceof RateLimitError || error instanceof SharedStateError) &&
  ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind);

export function fromError(cause: AppError, found?: Partial<RowResult>): RowResult {
  const error = truncate(`${cause.code}: ${cleanLine(cause.message).trim()}`, MAX_ERROR);
  return { ...found, status: 'error', error, cause };
}

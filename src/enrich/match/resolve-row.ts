import type { FindQuery, Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { SharedStateError } from '../../storage/ledger.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import { type Found, matchAgain, matchId, matchName, NOT_FOUND, type RowResult } from './match.ts';
import { simplifyCity, simplifyName } from './names.ts';
import type { DecidedQuery, NameQuery, Searchable } from './query.ts';

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
  const result = matchName(query, await find({ name, city }), loose);
  const second = result.status === 'not_found' && loose ? secondSearch(query) : undefined;
  return second === undefined ? result : matchAgain(query, await find(second));
}

/** Returns the simplified search for a row that was not found; undefined if it is the same search. */
export function secondSearch({ name, city }: FindQuery): FindQuery | undefined {
  const [simpleName, simpleCity] = [simplifyName(name), simplifyCity(city)];
  if (simpleName === undefined && simpleCity === undefined) return undefined;
  return { name: simpleName ?? name, city: simpleCity ?? city };
}

const isOfOneRow = (error: AppError): boolean =>
  !(error instanceof RateLimitError || error instanceof SharedStateError) &&
  ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind);

export function fromError(cause: AppError, found?: Partial<RowResult>): RowResult {
  const error = truncate(`${cause.code}: ${cleanLine(cause.message).trim()}`, MAX_ERROR);
  return { ...found, status: 'error', error, cause };
}

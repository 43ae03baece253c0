import type { Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { SharedStateError } from '../../storage/ledger.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { isObject } from '../../util/object.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import type { NameQuery, Searchable } from './columns.ts';
import { type Found, matchLoosely, matchName, NOT_FOUND, type RowResult, simplifyName } from './match.ts';

/** The service as rows use it: paced and cached. Every method throws AppError. */
export interface RestaurantService {
  find(query: { readonly name: string; readonly city: string }): Promise<Found>;
  lookup(id: string, level: Level): Promise<LookupOutput>;
}

export interface ResolveOptions {
  readonly find: RestaurantService['find'];
  readonly lookup: (id: string) => Promise<LookupOutput>;
  readonly details: boolean;
  readonly loose: boolean;
}

const MAX_ERROR = 300;

/**
 * Searches for the restaurant of a row. An error that affects only this row becomes its status.
 * @throws errors that end the whole run: a rejected key, an exhausted quota, an interruption
 */
export async function resolveRow(query: Searchable, options: ResolveOptions): Promise<RowResult> {
  let found: RowResult | undefined;
  try {
    if (query.kind === 'lookup') return fromLookup(query.id, await options.lookup(query.id));
    found = await search(query, options);
    const id = found.restaurant?.service_id;
    if (!options.details || id === undefined || found.status === 'ambiguous') return found;
    return { details: await options.lookup(id), ...found };
  } catch (error) {
    if (!(error instanceof AppError) || !isOfOneRow(error)) throw error;
    // A search that fails with "not found" has no results.
    if (error.code === 'not_found' && found === undefined) return NOT_FOUND;
    return fromError(error, found);
  }
}

async function search(query: NameQuery, { find, loose }: ResolveOptions): Promise<RowResult> {
  const { name, city } = query;
  const result = matchName(query, await find({ name, city }));
  const simple = result.status === 'not_found' && loose ? simplifyName(name) : undefined;
  return simple === undefined ? result : matchLoosely(query, simple, await find({ name: simple, city }));
}

const isOfOneRow = (error: AppError): boolean =>
  !(error instanceof RateLimitError || error instanceof SharedStateError) &&
  ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind);

export function fromLookup(id: string, details: LookupOutput): RowResult {
  const fields = isObject(details) ? details : {};
  return {
    status: 'matched',
    match: 'exact',
    candidates: 1,
    restaurant: { ...fields, service_id: id },
    details,
  };
}

export function fromError(cause: AppError, found?: RowResult): RowResult {
  const error = truncate(`${cause.code}: ${cleanLine(cause.message).trim()}`, MAX_ERROR);
  return { ...found, status: 'error', error, cause };
}

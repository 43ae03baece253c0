import type { Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { QuotaError, type RestaurantService } from '../run/lookups.ts';
import type { RowQuery } from './columns.ts';
import { fromError, fromLookup, fromSearch, type RowResult } from './facts.ts';
import { matchName } from './match.ts';

/** What was found for a row; `cause` where the service failed it. */
export interface Answered {
  readonly facts: RowResult;
  readonly cause?: AppError;
}

export interface AskOptions {
  readonly find: RestaurantService['find'];
  /** Looks up once what several rows need. */
  readonly lookup: (id: string) => Promise<LookupOutput>;
  /** Level of the lookup of each matched row; undefined: none is made. */
  readonly level: Level | undefined;
}

/**
 * Asks what a row needs to know. What goes wrong with this row alone becomes its status.
 * @throws what ends the whole run: a refused key, a spent budget, an interruption
 */
export async function resolveRow(ask: RowQuery, options: AskOptions): Promise<Answered> {
  switch (ask.kind) {
    case 'none':
      return { facts: fromError(new AppError('bad_input', ask.why)) };
    case 'lookup':
      return askId(ask.id, options);
    case 'search':
      return askName(ask, options);
  }
}

async function askId(id: string, { lookup }: AskOptions): Promise<Answered> {
  try {
    return { facts: fromLookup(id, await lookup(id)) };
  } catch (error) {
    const cause = ofThisRow(error);
    return cause.code === 'not_found'
      ? { facts: { status: 'not_found', candidates: 0 } }
      : { facts: fromError(cause), cause };
  }
}

async function askName(
  query: Extract<RowQuery, { kind: 'search' }>,
  { find, lookup, level }: AskOptions,
): Promise<Answered> {
  let found: RowResult | undefined;
  try {
    const { results, total } = await find({ name: query.name, city: query.city });
    found = fromSearch(matchName(query, results, total));
    refuseUnreadable(found, results);
    const id = found.restaurant?.service_id;
    if (found.status !== 'matched' || level === undefined || id === undefined) return { facts: found };
    return { facts: { ...found, details: await lookup(id) } };
  } catch (error) {
    const cause = ofThisRow(error);
    // A search that is refused with "not found" found nothing.
    if (cause.code === 'not_found' && found === undefined)
      return { facts: { status: 'not_found', candidates: 0 } };
    return { facts: fromError(cause, found), cause };
  }
}

/** Results of which none can be read are no empty answer. */
function refuseUnreadable(found: RowResult, results: readonly unknown[]): void {
  if (found.status !== 'not_found' || results.length === 0) return;
  throw new AppError('bad_response', `none of ${results.length} results can be read`);
}

/**
 * The failure, where it is one of this row alone.
 * @throws it, where it is not
 */
function ofThisRow(error: unknown): AppError {
  if (!(error instanceof AppError) || !isOfOneRow(error)) throw error;
  return error;
}

function isOfOneRow(error: AppError): boolean {
  return (
    !(error instanceof QuotaError) && ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind)
  );
}

import type { Level, LookupOutput, Restaurant } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { isRecord } from '../../output/records.ts';
import { SharedStateError } from '../../storage/ledger.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import type { NameQuery, Searchable } from './columns.ts';
import { type Match, type MatchKind, matchLoosely, matchName, simplifyName } from './match.ts';

export const STATUSES = ['matched', 'likely', 'ambiguous', 'not_found', 'skipped', 'error'] as const;
export type Status = (typeof STATUSES)[number];

/** The data that is written behind a row, in any format. Undefined: not known. */
export interface RowResult {
  readonly status: Status;
  readonly match?: MatchKind;
  readonly candidates?: number;
  readonly similarity?: number;
  /** The restaurant, under the field names of the service. */
  readonly restaurant?: Partial<Restaurant>;
  readonly details?: LookupOutput;
  readonly error?: string;
}

/** `results` as received, and `total_matches`. */
export interface Found {
  readonly results: readonly unknown[];
  readonly total: number;
}

/** The service as rows need it: paced and cached. Every method throws AppError. */
export interface RestaurantService {
  find(query: { readonly name: string; readonly city: string }): Promise<Found>;
  lookup(id: string, level: Level): Promise<LookupOutput>;
}

/** The run must stop: the quota of the day is used up, or the service asks to wait for long. */
export class QuotaError extends AppError {
  /** When requests are granted again, in milliseconds since the epoch. */
  readonly freeAt: number;

  constructor(cause: AppError, freeAt: number) {
    super(cause.code, cause.message, cause.details);
    this.freeAt = freeAt;
  }
}

/** A result; `cause` where the service failed the row. */
export interface ResolvedRow {
  readonly result: RowResult;
  readonly cause?: AppError;
}

export interface ResolveOptions {
  readonly find: RestaurantService['find'];
  readonly lookup: (id: string) => Promise<LookupOutput>;
  readonly details: boolean;
  readonly loose: boolean;
}

const MAX_ERROR = 300;
const NOT_FOUND: RowResult = { status: 'not_found', candidates: 0 };

/**
 * Searches for the restaurant of a row. A failure of this row alone becomes its status.
 * @throws what ends the whole run: a rejected key, a spent quota, an interruption
 */
export async function resolveRow(query: Searchable, options: ResolveOptions): Promise<ResolvedRow> {
  let found: RowResult | undefined;
  try {
    if (query.kind === 'lookup') return { result: fromLookup(query.id, await options.lookup(query.id)) };
    found = await search(query, options);
    const id = found.restaurant?.service_id;
    if (!options.details || id === undefined || found.status === 'ambiguous') return { result: found };
    return { result: { details: await options.lookup(id), ...found } };
  } catch (error) {
    if (!(error instanceof AppError) || !isOfOneRow(error)) throw error;
    // A call that is rejected with "not found" found nothing.
    if (error.code === 'not_found' && found === undefined) return { result: NOT_FOUND };
    return { result: fromError(error, found), cause: error };
  }
}

async function search(query: NameQuery, { find, loose }: ResolveOptions): Promise<RowResult> {
  const judge = async (name: string, verdict: (found: Found) => Match): Promise<Match> => {
    const found = await find({ name, city: query.city });
    const match = verdict(found);
    if (match.status === 'not_found' && found.results.length > 0)
      throw new AppError('bad_response', `none of ${found.results.length} results can be read`);
    return match;
  };
  const match = await judge(query.name, ({ results, total }) => matchName(query, results, total));
  const simple = match.status === 'not_found' && loose ? simplifyName(query.name) : undefined;
  if (simple === undefined) return fromSearch(match);
  return fromSearch(await judge(simple, ({ results, total }) => matchLoosely(query, simple, results, total)));
}

const isOfOneRow = (error: AppError): boolean =>
  !(error instanceof QuotaError || error instanceof SharedStateError) &&
  ['network', 'rate_limit', 'service', 'not_found'].includes(error.kind);

export function fromSearch(match: Match): RowResult {
  if (match.status === 'not_found') return NOT_FOUND;
  const { status, kind, restaurant, candidates, similarity } = match;
  return { status, match: kind, restaurant, candidates, similarity };
}

/** The result of a row that names its restaurant by id. */
export function fromLookup(id: string, details: LookupOutput): RowResult {
  const fields = isRecord(details) ? details : {};
  return {
    status: 'matched',
    match: 'exact',
    candidates: 1,
    restaurant: { ...fields, service_id: id },
    details,
  };
}

/** The result of a row that failed; what its search found is kept. */
export function fromError(error: AppError, found?: RowResult): RowResult {
  return {
    ...found,
    status: 'error',
    error: truncate(`${error.code}: ${cleanLine(error.message).trim()}`, MAX_ERROR),
  };
}

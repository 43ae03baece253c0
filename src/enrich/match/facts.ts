import type { LookupOutput, Restaurant } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import { isRecord } from '../../output/records.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import type { Match, MatchKind } from './match.ts';

/** What became of a row. */
export const STATUSES = ['matched', 'ambiguous', 'not_found', 'error'] as const;
export type Status = (typeof STATUSES)[number];

/** Everything that a row gets, before it is written in one form or another. What is not known is undefined. */
export interface RowResult {
  readonly status: Status;
  readonly match?: MatchKind;
  readonly candidates?: number;
  /** The restaurant, under the names that the service has for its parts. */
  readonly restaurant?: Partial<Restaurant>;
  /** Output of the lookup, where one was made. */
  readonly details?: LookupOutput;
  readonly error?: string;
}

const LONGEST_ERROR = 300;

/** The facts that a search alone gives. */
export function fromSearch(match: Match): RowResult {
  if (match.status === 'not_found') return { status: 'not_found', candidates: 0 };
  const { status, kind, candidates, restaurant } = match;
  return { status, match: kind, candidates, restaurant };
}

/** The facts about a row that named its restaurant by id. */
export function fromLookup(id: string, details: LookupOutput): RowResult {
  const known = isRecord(details) ? details : {};
  return {
    status: 'matched',
    match: 'exact',
    candidates: 1,
    restaurant: { ...known, service_id: id },
    details,
  };
}

/** The facts of a row that failed; what its search found stays. */
export function fromError(error: AppError, found?: RowResult): RowResult {
  return { ...found, status: 'error', error: errorText(error) };
}

/** The code, and what it was about, on one line. */
function errorText(error: AppError): string {
  return truncate(`${error.code}: ${cleanLine(error.message).trim()}`, LONGEST_ERROR);
}

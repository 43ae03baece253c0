import type { Level } from '../../client/types.ts';
import type { WindowUsage } from '../../storage/ledger.ts';
import type { RowQuery } from '../match/columns.ts';
import { matchName } from '../match/match.ts';
import type { InputRow } from '../read/row.ts';
import type { FinishedRowReader } from '../write/checkpoint.ts';
import type { RowCodec } from '../write/row-codec.ts';
import { AnswerTable } from './answer-table.ts';
import { cacheKey, detailsQuery } from './answers.ts';
import type { Known } from './known.ts';

/** What a run would take, before it is made. */
export interface Estimate {
  readonly rows: number;
  /** Rows that an earlier run finished. */
  readonly done: number;
  /** Rows without a name, a city or a usable id. */
  readonly unusable: number;
  /** Where the first of them stand in the input. */
  readonly unusableLines: readonly number[];
  /** Different queries of the other rows. */
  readonly distinct: number;
  /** Answers that are in the cache. */
  readonly cached: number;
  readonly requests: number;
  /** Where lookups depend on what the searches find: the most that it can be. */
  readonly requestsAtMost: number;
}

export interface EstimateJob {
  readonly rows: AsyncIterable<InputRow>;
  readonly ask: (row: InputRow) => RowQuery;
  readonly form: RowCodec;
  readonly earlier: FinishedRowReader;
  readonly known: Known;
  readonly level: Level | undefined;
  readonly signal: AbortSignal;
}

const SEEN = { offset: 0, length: 1 };
/** Most rows that are named by their line. */
const MOST_NAMED = 10;

/** Goes over the rows as a run would, and asks nobody. */
export async function estimate(job: EstimateJob): Promise<Estimate> {
  const { form, known, level } = job;
  const seen = new AnswerTable();
  const unusableLines: number[] = [];
  const counts = { rows: 0, done: 0, unusable: 0, distinct: 0, cached: 0, requests: 0, requestsAtMost: 0 };

  const isNew = (query: string): boolean => {
    const before = seen.size;
    seen.set(query, SEEN);
    return seen.size > before;
  };
  const count = (isKnown: boolean): void => {
    if (isKnown) counts.cached += 1;
    else {
      counts.requests += 1;
      counts.requestsAtMost += 1;
    }
  };
  const countLookup = (id: string): void => {
    if (isNew(detailsQuery(id))) count(known.lookup(id, level ?? 'basic') !== undefined);
  };
  const countSearch = (ask: Extract<RowQuery, { kind: 'search' }>): void => {
    const found = known.find(ask);
    count(found !== undefined);
    if (level === undefined) return;
    if (found === undefined) counts.requestsAtMost += 1;
    else {
      const match = matchName(ask, found.results, found.total);
      if (match.status === 'matched') countLookup(match.restaurant.service_id);
    }
  };

  for await (const row of job.rows) {
    counts.rows += 1;
    if (counts.rows % 256 === 0) job.signal.throwIfAborted();
    const ask = job.ask(row);
    const earlier = job.earlier.take(row, form.input(row));
    const query = cacheKey(ask);
    if (earlier !== undefined) {
      counts.done += 1;
      if (query !== undefined && earlier.status !== 'error') seen.set(query, SEEN);
    } else if (query === undefined) {
      counts.unusable += 1;
      if (unusableLines.length < MOST_NAMED) unusableLines.push(row.line);
    } else if (isNew(query)) {
      counts.distinct += 1;
      if (ask.kind === 'lookup') countLookup(ask.id);
      else if (ask.kind === 'search') countSearch(ask);
    }
  }
  job.earlier.end();
  return { ...counts, unusableLines };
}

/** How long so many requests take under the budget. */
export interface Duration {
  /** Whole minutes by the limit of a minute; null without one. */
  readonly minutes: number | null;
  /** Days on which requests are sent, today included; null without a limit of a day. */
  readonly days: number | null;
}

/** @param left requests that the day's budget still has today */
export function durationOf(requests: number, perMinute: number, perDay: number, left: number): Duration {
  const later = Math.max(0, requests - left);
  const today = requests > 0 && left > 0 ? 1 : 0;
  return {
    minutes: perMinute === 0 ? null : Math.ceil(requests / perMinute),
    days: perDay === 0 ? null : today + Math.ceil(later / perDay),
  };
}

/** Room in a window; without a limit there is any. */
export function roomIn({ limit, used }: WindowUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - used);
}

import type { History } from './log.ts';
import type { LedgerRecord } from './record.ts';

/** Requests allowed in a window; 0 = no limit. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface WindowUsage {
  readonly limit: number;
  /** Requests in the window that ends now. */
  readonly used: number;
  /** When there is room again, in milliseconds since the epoch; absent when there is room. */
  readonly freeAt?: number;
}

export interface Usage {
  readonly perMinute: WindowUsage;
  readonly perDay: WindowUsage;
  /** Until when the service asked to wait, in milliseconds since the epoch. */
  readonly pausedUntil?: number;
}

/** What keeps a request from being sent now, and until when. */
export interface Wait {
  readonly freeAt: number;
  readonly window: 'minute' | 'day' | 'hold';
}

/** Half a second over the minute: what was recorded at its start may have left a little later. */
export const MINUTE_MS = 60_500;
export const DAY_MS = 86_400_000;
/** Records further ahead come from a clock that was wrong. */
const FUTURE_MS = 60_000;
/** So many in a row before the window: what lies behind them is older still. */
const LOOK_BACK = 4096;

/** How much of the limits is used at `now`. */
export function usageAt({ records, holds }: History, limits: Limits, now: number): Usage {
  const held = heldUntil(holds, now);
  return {
    perMinute: windowUsage(records, limits.perMinute, MINUTE_MS, now),
    perDay: windowUsage(records, limits.perDay, DAY_MS, now),
    ...(held === undefined ? {} : { pausedUntil: held }),
  };
}

/** What keeps a request from being sent at `now`: of several things, the one that lasts longest. */
export function blockAt({ records, holds }: History, limits: Limits, now: number): Wait | undefined {
  // A window without a limit is not counted: there may be very many records then.
  const { perMinute, perDay } = limits;
  const candidates: [Wait['window'], number | undefined][] = [
    ['minute', perMinute > 0 ? windowUsage(records, perMinute, MINUTE_MS, now).freeAt : undefined],
    ['day', perDay > 0 ? windowUsage(records, perDay, DAY_MS, now).freeAt : undefined],
    ['hold', heldUntil(holds, now)],
  ];
  return candidates
    .flatMap(([window, freeAt]) => (freeAt === undefined ? [] : [{ freeAt, window }]))
    .sort((a, b) => b.freeAt - a.freeAt)[0];
}

/**
 * What stood against this claim: the records before it, claims that will be cancelled among them. So of the claims that
 * are granted the last in the log saw all others, and no window holds more than its limit.
 */
export function blockOfClaim(
  { records, holds }: History,
  claim: LedgerRecord,
  limits: Limits,
): Wait | undefined {
  const found = records.findLastIndex(({ id, type }) => id === claim.id && type === 'claim');
  const position = found === -1 ? records.length : found;
  // An earlier copy of our own claim, in the file before, is not another's.
  const others = records.slice(0, position);
  const copy = others.findLastIndex(({ id }) => id === claim.id);
  if (copy !== -1) others.splice(copy, 1);
  return blockAt({ records: others, holds }, limits, claim.at);
}

function windowUsage(
  records: readonly LedgerRecord[],
  limit: number,
  length: number,
  now: number,
): WindowUsage {
  const times = countedTimes(records, now - length, now + FUTURE_MS);
  const leaving = limit > 0 && times.length >= limit ? times[times.length - limit] : undefined;
  return { limit, used: times.length, ...(leaving === undefined ? {} : { freeAt: leaving + length }) };
}

/** Times of the requests after `from` and not after `to`, oldest first. One that stands there twice counts once. */
function countedTimes(records: readonly LedgerRecord[], from: number, to: number): number[] {
  const times = new Map<number, number>();
  const cancelled = new Set<number>();
  let old = 0;
  for (let i = records.length - 1; i >= 0 && old < LOOK_BACK; i -= 1) {
    const record = records[i];
    if (record === undefined) break;
    old = record.at <= from ? old + 1 : 0;
    if (record.type === 'cancel') cancelled.add(record.id);
    else if (old === 0 && record.at <= to && !cancelled.has(record.id)) times.set(record.id, record.at);
  }
  return [...times.values()].sort((a, b) => a - b);
}

/** The end of the last hold, where it is still to come. */
export function heldUntil(holds: readonly LedgerRecord[], now: number): number | undefined {
  let latest = now;
  for (const { at, until } of holds) {
    const known = at > now - DAY_MS && at <= now + FUTURE_MS && until <= at + DAY_MS;
    if (known) latest = Math.max(latest, until);
  }
  return latest > now ? latest : undefined;
}

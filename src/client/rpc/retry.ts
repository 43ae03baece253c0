import type { Context } from '../../context.ts';
import type { AppError } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { ExchangeError, type Reason, withMessage } from '../http/network-error.ts';

/** `read`: asking twice does no harm. `write`: asked again only when the service did nothing. */
export type Policy = 'read' | 'write';

const STATUSES: Readonly<Record<Policy, readonly number[]>> = {
  read: [408, 425, 429, 500, 502, 503, 504],
  write: [429, 503],
};
const REASONS: Readonly<Record<Policy, readonly Reason[]>> = {
  read: ['refused', 'connect_timeout', 'reset', 'cut_off', 'incomplete'],
  write: ['refused'],
};
const BASE_MS = 500;
const CAP_MS = 10_000;
/** Shortest gap between two tries, so that a wrong Retry-After never makes a hot loop. */
const MIN_GAP_MS = 100;
const MIN_GAP_429_MS = 500;

const IMF_FIXDATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): whole seconds or an IMF-fixdate; of several the largest.
 * @param now milliseconds since the epoch
 * @returns seconds, or undefined for anything else and for a date that is past
 */
export function parseRetryAfter(
  header: string | readonly string[] | undefined,
  now: number,
): number | undefined {
  const values = (typeof header === 'string' ? [header] : (header ?? [])).map((value) => {
    const text = value.trim();
    if (/^\d{1,15}$/.test(text)) return Number(text);
    if (!IMF_FIXDATE.test(text)) return Number.NaN;
    const seconds = Math.ceil((Date.parse(text) - now) / 1000);
    return seconds > 0 ? seconds : Number.NaN;
  });
  const valid = values.filter((value) => !Number.isNaN(value));
  return valid.length === 0 ? undefined : Math.max(...valid);
}

export interface Failure {
  /** Tries made after the first one: 0 when the first failed. */
  readonly attempt: number;
  readonly error: AppError;
  readonly policy: Policy;
  /** Tries allowed after the first. */
  readonly retries: number;
  /** Time left for the whole call. */
  readonly remainingMs: number;
  /** Longest wait that the service may ask for. */
  readonly maxWaitMs: number;
  /** A number in [0, 1). */
  random(): number;
}

export type Plan =
  | {
      readonly waitMs: number;
      /** The service asked for this wait, so it does not count against the time of the call. */
      readonly asked: boolean;
    }
  | { readonly giveUp: AppError };

/** Decides what follows a failed try: a wait and another one, or the error to end with. */
export function planRetry(failure: Failure): Plan {
  const { attempt, error, retries } = failure;
  if (!mayRepeat(failure)) return { giveUp: error };
  if (attempt >= retries) return { giveUp: attempt === 0 ? error : withAttempts(error, attempt + 1) };
  return error.details.retryAfter === undefined
    ? backOff(failure)
    : honorRetryAfter(failure, error.details.retryAfter);
}

function mayRepeat({ error, policy, attempt }: Failure): boolean {
  if (error instanceof ExchangeError) {
    // An answer that is not all there may be so by design: once more, not for ever.
    if (error.reason === 'incomplete' && attempt > 0) return false;
    return REASONS[policy].includes(error.reason);
  }
  const { status } = error.details;
  return status !== undefined && STATUSES[policy].includes(status);
}

/** Exponential backoff with full jitter. */
function backOff({ error, attempt, remainingMs, random }: Failure): Plan {
  const gap = error.details.status === 429 ? MIN_GAP_429_MS : MIN_GAP_MS;
  const waitMs = Math.round(Math.max(gap, random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt)));
  if (waitMs < remainingMs) return { waitMs, asked: false };
  return { giveUp: withMessage(error, `${error.message}; no time is left to try again`) };
}

function honorRetryAfter({ error, maxWaitMs, remainingMs, random }: Failure, seconds: number): Plan {
  const ms = seconds * 1000;
  // Jitter, so that several processes do not come back in the same instant.
  const waitMs = Math.max(MIN_GAP_429_MS, ms) + Math.round(random() * 250);
  const asked = error.details.status === 429;
  if (ms > maxWaitMs)
    return { giveUp: tooLong(error, seconds, `longer than ${formatDuration(maxWaitMs)}`, '--max-wait') };
  if (asked || waitMs < remainingMs) return { waitMs, asked };
  return { giveUp: tooLong(error, seconds, 'longer than the time that is left', '--timeout') };
}

function tooLong(error: AppError, seconds: number, why: string, flag: string): AppError {
  const wait = formatDuration(seconds * 1000);
  const allow = seconds > 86_400 ? '' : `, or allow it: ${flag} ${seconds + 30}s`;
  const message = `${error.message}; the service asks to wait ${wait}, ${why} (${flag})`;
  return withMessage(error, message, { hint: `run the command again in ${wait}${allow}` });
}

function withAttempts(error: AppError, tries: number): AppError {
  return withMessage(error, `${error.message} (tried ${tries} times)`);
}

/** Those who wait for the same moment go on a little apart. */
const SPREAD_MS = 250;

/** A pause that all calls of a client share: when one is told to wait (429), none goes on. */
export interface RateGate {
  /** @param until milliseconds since the epoch */
  closeUntil(until: number): void;
  /**
   * Waits until it is over, also where it gets longer meanwhile.
   * @param waited until when the caller has waited by itself
   * @throws the signal's reason
   */
  wait(waited: number, signal: AbortSignal): Promise<void>;
}

export function createRateGate({ now, sleep, random }: Pick<Context, 'now' | 'sleep' | 'random'>): RateGate {
  let over = 0;
  return {
    closeUntil(until) {
      over = Math.max(over, until);
    },
    async wait(waited, signal) {
      // Each end is waited for once, so that neither a timer that is early nor a clock that was set makes a loop.
      for (let passed = waited; over > passed; ) {
        passed = over;
        const left = passed - now();
        if (left > 0) await sleep(Math.round(left + random() * SPREAD_MS), signal);
      }
    },
  };
}

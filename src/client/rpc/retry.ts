import type { Context } from '../../context.ts';
import type { ErrorDetails, Reason } from '../../errors.ts';

/** `read`: the call may be repeated safely. `write`: it is repeated only if the service did not process it. */
export type Effect = 'read' | 'write';

/** The statuses after which a call is repeated. */
export const RETRYABLE: Readonly<Record<Effect, readonly number[]>> = {
  read: [408, 425, 429, 500, 502, 503, 504],
  write: [429, 503],
};
const REASONS: Readonly<Record<Effect, readonly Reason[]>> = {
  read: ['refused', 'connect_timeout', 'reset', 'cut_off', 'incomplete'],
  write: ['refused'],
};
const BASE_MS = 500;
const CAP_MS = 10_000;
/** Minimum time between two attempts, so that a wrong Retry-After never causes a busy loop. */
const MIN_GAP_MS = 100;
const MIN_GAP_429_MS = 500;
/** Random part of a wait, so that several calls or processes do not resume at the same time. */
const JITTER_MS = 250;

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
/** The three forms of RFC 9110, section 5.6.7, all of them UTC: `Sun, 06 Nov 2026 …`, `Sunday, 06-Nov-26 …`, `Sun Nov  6 …`. */
const HTTP_DATE = new RegExp(
  `^(?:${DAY}, \\d\\d ${MONTH} \\d{4} TIME GMT|${DAY}[a-z]{3,6}, \\d\\d-${MONTH}-\\d\\d TIME GMT|${DAY} ${MONTH} [ \\d]\\d TIME \\d{4})$`.replaceAll(
    'TIME',
    '\\d\\d:\\d\\d:\\d\\d',
  ),
);

/** RFC 9110, section 10.2.3: whole seconds or a date; of several, the largest. @returns seconds; none for a past date */
export function parseRetryAfter(
  header: string | readonly string[] | undefined,
  now: number,
): number | undefined {
  const seconds = [header ?? []].flat().flatMap((value) => {
    const text = value.trim();
    if (/^\d{1,15}$/.test(text)) return [Number(text)];
    if (!HTTP_DATE.test(text)) return [];
    const left = Math.ceil((Date.parse(`${text.replace(/ GMT$/, '')} GMT`) - now) / 1000);
    return left > 0 ? [left] : [];
  });
  return seconds.length === 0 ? undefined : Math.max(...seconds);
}

export interface RetryLimits {
  readonly retries: number;
  readonly maxWaitMs: number;
  /** Returns a number in [0, 1). */
  random(): number;
}

/** How long to wait before the next attempt, or why there is none, as facts about the failure. */
type RetryPlan =
  | { readonly waitMs: number; readonly end?: undefined }
  | { readonly waitMs?: undefined; readonly end: ErrorDetails };

/** @param attempt the number of attempts before the failed one */
export function planRetry(
  failure: ErrorDetails,
  { attempt, effect, remainingMs }: { attempt: number; effect: Effect; remainingMs: number },
  { retries, maxWaitMs, random }: RetryLimits,
): RetryPlan {
  const { status, retryAfter } = failure;
  if (!isRepeatable(failure, effect, attempt)) return { end: {} };
  if (attempt >= retries) return { end: { stoppedBy: 'retries', attempts: attempt + 1 } };
  if (retryAfter === undefined) {
    // Exponential backoff with full jitter.
    const minMs = status === 429 ? MIN_GAP_429_MS : MIN_GAP_MS;
    const waitMs = Math.round(Math.max(minMs, random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt)));
    return waitMs < remainingMs ? { waitMs } : { end: { stoppedBy: 'deadline' } };
  }
  const askedWaitMs = retryAfter * 1000;
  const waitMs = Math.max(MIN_GAP_429_MS, askedWaitMs);
  if (askedWaitMs > maxWaitMs) return { end: { stoppedBy: 'max_wait', askedWaitMs, limitMs: maxWaitMs } };
  // The wait at the gate does not count against the time of the call.
  if (status === 429) return { waitMs };
  const spreadMs = waitMs + Math.round(random() * JITTER_MS);
  return spreadMs < remainingMs ? { waitMs: spreadMs } : { end: { stoppedBy: 'deadline', askedWaitMs } };
}

function isRepeatable({ reason, status = 0 }: ErrorDetails, effect: Effect, attempt: number): boolean {
  if (reason === undefined) return RETRYABLE[effect].includes(status);
  // The service may always send an incomplete response, so retry only once.
  return REASONS[effect].includes(reason) && (reason !== 'incomplete' || attempt === 0);
}

/** A gate that all calls of a client share. After a 429, no call is sent until the gate opens. */
export class RateGate {
  readonly #context: Pick<Context, 'now' | 'sleep' | 'random'>;
  /** Milliseconds since the epoch. */
  #opensAt = 0;

  constructor(context: Pick<Context, 'now' | 'sleep' | 'random'>) {
    this.#context = context;
  }

  closeUntil(until: number): void {
    this.#opensAt = Math.max(this.#opensAt, until);
  }

  /** Waits until the gate is open, even if the closing time is extended meanwhile. @throws the signal's reason */
  async wait(signal: AbortSignal): Promise<void> {
    const { now, sleep, random } = this.#context;
    // Waits once for each closing time, so that neither an early timer nor a changed clock causes a loop.
    for (let passed = 0; this.#opensAt > passed; ) {
      passed = this.#opensAt;
      const left = passed - now();
      if (left > 0) await sleep(Math.round(left + random() * JITTER_MS), signal);
    }
  }
}

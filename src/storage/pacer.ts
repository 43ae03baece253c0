import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { createSemaphore } from '../util/async.ts';
import type { Ledger, Wait } from './ledger.ts';

export interface PacerOptions {
  readonly ledger: Ledger;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  /** Whether to wait even until the next day, or for a long pause that the service requests. */
  readonly wait: boolean;
  /** Maximum pause that the service may request, in milliseconds, unless `wait` is set. Default 60 s. */
  readonly maxWaitMs?: number;
  /** Called when a wait begins or gets longer. */
  readonly onWait?: (wait: Wait) => void;
}

/** Stops a run of many requests, because the wait for the next one is too long. */
export class RateLimitError extends AppError {
  /** When requests may be sent again, in milliseconds since the epoch. */
  readonly freeAt: number;

  constructor({ code, message, details }: AppError, freeAt: number) {
    super(code, message, details);
    this.freeAt = freeAt;
  }
}

/** Formats a time as ISO 8601, rounded up to a whole second. */
export function formatTime(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Long waits are divided, because the clock may be changed or the machine suspended meanwhile. */
const MAX_SLEEP_MS = 60_000;
/** Random delay, so that waiting processes do not resume at the same time. */
const SPREAD_MS = 25;

/**
 * Returns a function that waits until a request is within the quota, in the order of the calls. It throws the signal's
 * reason or, unless `wait` is set, a RateLimitError with `retryAfter`: `budget_spent` if today's quota is used up,
 * `rate_limited` if the service requests a pause that is too long.
 */
export function openPacer(options: PacerOptions): (signal: AbortSignal) => Promise<void> {
  const { ledger, context, onWait } = options;
  const queue = createSemaphore(1);

  async function waitForGrant(signal: AbortSignal): Promise<void> {
    for (let reported = 0; ; ) {
      signal.throwIfAborted();
      const grant = await ledger.grant();
      if (grant.granted) return;
      const { freeAt, window } = grant;
      await assertWorthWaiting(grant, options);
      if (freeAt > reported) onWait?.({ freeAt, window });
      reported = Math.max(reported, freeAt);
      const left = Math.max(1, freeAt - context.now()) + context.random() * SPREAD_MS;
      await context.sleep(Math.min(left, MAX_SLEEP_MS), signal);
    }
  }

  return (signal) => queue(() => waitForGrant(signal), signal);
}

/** @throws {RateLimitError} if this wait is too long */
async function assertWorthWaiting(
  { freeAt, window }: Wait,
  { ledger, context, wait, maxWaitMs = 60_000 }: PacerOptions,
): Promise<void> {
  const ms = freeAt - context.now();
  if (wait || !(window === 'day' || (window === 'pause' && ms > maxWaitMs))) return;
  const time = formatTime(freeAt);
  const details = { retryAfter: Math.max(1, Math.ceil(ms / 1000)) };
  if (window === 'pause') {
    const error = new AppError('rate_limited', `the service asks to wait until ${time}`, details);
    throw new RateLimitError(error, freeAt);
  }
  const { limit } = (await ledger.usage()).perDay;
  const message = `the quota of ${limit} requests a day is used up until ${time}`;
  throw new RateLimitError(new AppError('budget_spent', message, details), freeAt);
}

import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { createSemaphore } from '../util/async.ts';
import type { Ledger, Wait } from './ledger.ts';

export interface PacerOptions {
  readonly ledger: Ledger;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  /** Whether to sleep also until the next day, or through a long pause that the service asks for. */
  readonly wait: boolean;
  /** Longest pause that the service may ask for, in milliseconds, unless `wait`. Default 60 s. */
  readonly maxWaitMs?: number;
  /** Called when a wait begins or gets longer. */
  readonly onWait?: (wait: Wait) => void;
}

/** A run of many requests stops: none may be sent for longer than it is willing to wait. */
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

/** Sleeps are cut into pieces, since a clock may be set or a machine suspended meanwhile. */
const MAX_SLEEP_MS = 60_000;
/** Waiting processes wake a little apart. */
const SPREAD_MS = 25;

/**
 * Keeps requests within the quota: returns a function that waits until one is granted, in the order of the calls. It
 * throws the signal's reason or, unless the options say to wait, a RateLimitError with `retryAfter`: `budget_spent` when
 * the day's quota is used up, `rate_limited` when the service asks for too long a pause.
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

/** @throws {RateLimitError} when this wait is too long. */
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

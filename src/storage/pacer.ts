import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { Semaphore } from '../util/async.ts';
import { isoSeconds, plural } from '../util/format.ts';
import type { Ledger, TakeBack, Wait } from './ledger.ts';

/**
 * The longest wait for a request: `--max-wait`; for the quota per minute as long as it takes; or also until the next day, or
 * for a pause of any length.
 */
export type Patience = 'max-wait' | 'minute' | 'day';

export interface PacerOptions {
  readonly ledger: Ledger;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  readonly patience: Patience;
  /** Milliseconds. Default 60 s. */
  readonly maxWaitMs?: number;
  readonly onWait?: (wait: Wait) => void;
  /** Default: ISO 8601. */
  readonly timeText?: (ms: number) => string;
}

/** Returns until when no request is sent, ms since the epoch, if that wait is too long for this run. */
export const longWaitOf = (error: unknown): number | undefined =>
  error instanceof AppError ? error.details.freeAt : undefined;

/** Long waits are divided, because the clock may be changed or the machine suspended meanwhile. */
const MAX_SLEEP_MS = 60_000;
const SPREAD_MS = 25;
/** The window of the quota is a little longer than a minute, which a maximum wait of 60 s must allow. */
const GRACE_MS = 1000;

/** Waits in the order of the calls. @throws the signal's reason; `budget_spent` or `rate_limited`, with `freeAt` */
export function openPacer(options: PacerOptions): (signal: AbortSignal) => Promise<TakeBack> {
  const { ledger, context, onWait } = options;
  const queue = new Semaphore(1);

  async function waitForGrant(signal: AbortSignal): Promise<TakeBack> {
    for (let reported = 0; ; ) {
      signal.throwIfAborted();
      const grant = await ledger.grant();
      if (grant.granted && context.now() <= grant.usableUntil) return grant.takeBack;
      if (grant.granted) {
        // It took too long: a suspended machine, a slow disk or network.
        await grant.takeBack();
        continue;
      }
      const { freeAt, window } = grant;
      await assertWorthWaiting(grant, options);
      if (freeAt > reported) onWait?.({ freeAt, window });
      reported = Math.max(reported, freeAt);
      const left = Math.max(1, freeAt - context.now()) + context.random() * SPREAD_MS;
      await context.sleep(Math.min(left, MAX_SLEEP_MS), signal);
    }
  }

  return (signal) => queue.run(() => waitForGrant(signal), signal);
}

async function assertWorthWaiting(
  { freeAt, window }: Wait,
  { ledger, context, patience, maxWaitMs = 60_000, timeText = isoSeconds }: PacerOptions,
): Promise<void> {
  const ms = freeAt - context.now();
  const isTooLong = {
    day: true,
    pause: ms > maxWaitMs,
    minute: patience === 'max-wait' && ms - GRACE_MS > maxWaitMs,
  }[window];
  if (patience === 'day' || !isTooLong) return;
  const time = timeText(freeAt);
  const facts = { freeAt, retryAfter: Math.max(1, Math.ceil(ms / 1000)) };
  if (window === 'pause') throw new AppError('rate_limited', `the service asks to wait until ${time}`, facts);
  const usage = await ledger.usage();
  const { limit } = window === 'day' ? usage.perDay : usage.perMinute;
  const message = `the quota of ${plural(limit, 'request')} a ${window} is used up until ${time}`;
  throw new AppError('budget_spent', message, {
    ...facts,
    ...(window === 'minute' && { askedWaitMs: ms, stoppedBy: 'max_wait' }),
  });
}

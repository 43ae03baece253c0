import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import type { Wait } from './windows.ts';

export interface PacerOptions {
  readonly ledger: Ledger;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  /** Whether to sleep also until the next day, or through a long wait that the service asks for. */
  readonly wait: boolean;
  /** Longest wait that the service may ask for, in milliseconds, unless `wait`. Default 60 s. */
  readonly maxWaitMs?: number;
  /** Told when a wait begins or gets longer. */
  readonly onWait?: (block: Wait) => void;
}

/** Nothing may be sent for a while that is too long to wait for. */
export class RateLimitError extends AppError {
  /** When it may go on, in milliseconds since the epoch. */
  readonly freeAt: number;

  constructor(code: 'rate_limited' | 'budget_spent', message: string, retryAfter: number, freeAt: number) {
    super(code, message, { retryAfter });
    this.freeAt = freeAt;
  }
}

/** A time as it is told: ISO 8601, to the next whole second. */
export function formatTime(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Lets requests go at the pace of the budget. */
export interface Pacer {
  /**
   * Waits for one request to be allowed, in the order of the calls. It is counted in the ledger then.
   * @throws {RateLimitError} `budget_spent` when the day's budget is spent, `rate_limited` when the service asks for too long a
   * wait, both with `retryAfter`, unless waiting was asked for; the signal's reason.
   */
  acquire(signal?: AbortSignal): Promise<void>;
}

/** Sleeping in pieces, since a clock may be set or a machine suspended meanwhile. */
const LONGEST_SLEEP_MS = 60_000;
/** Waiting processes wake a little apart. */
const SPREAD_MS = 25;

export function openPacer(options: PacerOptions): Pacer {
  const { ledger, context } = options;
  let queue: Promise<void> = Promise.resolve();

  async function takeSlot(signal: AbortSignal | undefined): Promise<void> {
    let told = 0;
    for (;;) {
      signal?.throwIfAborted();
      const slot = ledger.reserve();
      if (slot.granted) return;
      refuse(slot, options);
      if (slot.freeAt > told) options.onWait?.({ freeAt: slot.freeAt, window: slot.window });
      told = Math.max(told, slot.freeAt);
      const left = Math.max(1, slot.freeAt - context.now()) + context.random() * SPREAD_MS;
      await context.sleep(Math.min(left, LONGEST_SLEEP_MS), signal);
    }
  }

  return {
    async acquire(signal) {
      const before = queue;
      let leave = () => {};
      const gone = new Promise<void>((resolve) => {
        leave = resolve;
      });
      queue = before.then(() => gone);
      try {
        await unlessAborted(before, signal);
        await takeSlot(signal);
      } finally {
        leave();
      }
    },
  };
}

/** @throws {AppError} when this wait is too long to be made. */
function refuse({ freeAt, window }: Wait, { ledger, context, wait, maxWaitMs = 60_000 }: PacerOptions): void {
  const ms = freeAt - context.now();
  const tooLong = window === 'day' || (window === 'hold' && ms > maxWaitMs);
  if (wait || !tooLong) return;
  const time = formatTime(freeAt);
  const retryAfter = Math.max(1, Math.ceil(ms / 1000));
  if (window === 'hold') {
    throw new RateLimitError('rate_limited', `the service asks to wait until ${time}`, retryAfter, freeAt);
  }
  const { limit } = ledger.usage().perDay;
  const message = `the budget of ${limit} requests a day is spent until ${time}`;
  throw new RateLimitError('budget_spent', message, retryAfter, freeAt);
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, reject);
  });
}

import type { Context } from '../../context.ts';
import type { Ledger } from '../../storage/ledger.ts';
import type { Pacer } from '../../storage/pacer.ts';

/** Timers overflow, clocks are set, machines sleep: a long wait is made of short ones. */
const LONGEST_SLEEP_MS = 60_000;
/** How long a wait that another process was asked for may go unseen. */
const LOOK_EVERY_MS = 500;

/** When requests may go. */
export interface Pace {
  /** Before each request. */
  onRequest(): Promise<void> | void;
  /** The service asks to wait until then (milliseconds since the epoch). */
  onRateLimited(until: number): void;
}

/** Lets requests go at the pace of a budget that all processes share. */
export function paceByBudget(ledger: Ledger, pacer: Pacer, signal: AbortSignal): Pace {
  return {
    onRequest: () => pacer.acquire(signal),
    onRateLimited: (until) => ledger.pauseUntil(until),
  };
}

/**
 * Counts requests for other processes and holds none back, but where the service asked to wait, this run or another with
 * the key. The ledger is looked at now and then: to read it takes longer than a request to a near service.
 * @param pacer keeps the waits
 */
export function paceFreely(
  ledger: Ledger,
  pacer: Pacer,
  { now }: Pick<Context, 'now'>,
  signal: AbortSignal,
): Pace {
  let heldUntil = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const isHeld = (): boolean => {
    if (now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = now();
      heldUntil = Math.max(heldUntil, ledger.pausedUntil() ?? 0);
    }
    return heldUntil > now();
  };
  return {
    onRequest: () => (isHeld() ? pacer.acquire(signal) : ledger.record()),
    onRateLimited(until) {
      heldUntil = Math.max(heldUntil, until);
      ledger.pauseUntil(until);
    },
  };
}

/** Waits until that time, which may be put off meanwhile. @throws the signal's reason */
export async function sleepUntil(
  time: () => number,
  { now, sleep }: Pick<Context, 'now' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  for (let left = time() - now(); left > 0; left = time() - now()) {
    await sleep(Math.min(left, LONGEST_SLEEP_MS), signal);
  }
}

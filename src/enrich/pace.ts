import type { Ledger } from '../budget/ledger.ts';
import type { Pacer } from '../budget/pacer.ts';
import type { Context } from '../context.ts';

/** Timers overflow, clocks are set, machines sleep: a long wait is made of short ones. */
const LONGEST_SLEEP_MS = 60_000;

/** When requests may go. */
export interface Pace {
  /** Before each request. */
  onRequest(): Promise<void>;
  /** The service asks to wait until then (milliseconds since the epoch). */
  onRateLimited(until: number): void;
}

/** Lets requests go at the pace of a budget that all processes share. */
export function paceByBudget(ledger: Ledger, pacer: Pacer, signal: AbortSignal): Pace {
  return {
    onRequest: () => pacer.acquire(signal),
    onRateLimited: (until) => ledger.hold(until),
  };
}

/**
 * Counts requests for other processes and holds none back, but where the service asked this run to wait. The ledger is
 * not read, which would take longer than a request to a near service.
 */
export function paceFreely(
  ledger: Ledger,
  context: Pick<Context, 'now' | 'sleep'>,
  signal: AbortSignal,
): Pace {
  let heldUntil = 0;
  return {
    async onRequest() {
      await sleepUntil(() => heldUntil, context, signal);
      ledger.record();
    },
    onRateLimited(until) {
      heldUntil = Math.max(heldUntil, until);
      ledger.hold(until);
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

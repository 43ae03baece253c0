import type { Context } from '../context.ts';

/** Those who wait for the same moment go on a little apart. */
const SPREAD_MS = 250;

/** A pause that all calls of a client share: when one is told to wait (429), none goes on. */
export interface Pause {
  /** @param until milliseconds since the epoch */
  extend(until: number): void;
  /**
   * Waits until it is over, also where it gets longer meanwhile.
   * @param waited until when the caller has waited by itself
   * @throws the signal's reason
   */
  pass(waited: number, signal: AbortSignal): Promise<void>;
}

export function openPause({ now, sleep, random }: Pick<Context, 'now' | 'sleep' | 'random'>): Pause {
  let over = 0;
  return {
    extend(until) {
      over = Math.max(over, until);
    },
    async pass(waited, signal) {
      // Each end is waited for once, so that neither a timer that is early nor a clock that was set makes a loop.
      for (let passed = waited; over > passed; ) {
        passed = over;
        const left = passed - now();
        if (left > 0) await sleep(Math.round(left + random() * SPREAD_MS), signal);
      }
    },
  };
}

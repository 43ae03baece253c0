import type { Ledger } from '../budget/ledger.ts';
import type { Pacer } from '../budget/pacer.ts';

/** How often a run without limits looks whether the service asked somebody to wait, in milliseconds. */
const LOOK_EVERY_MS = 1000;

export interface Pace {
  /** Before each request. */
  onRequest(): Promise<void>;
  /** The service asks to wait until then. */
  onRateLimited(until: number): void;
}

export interface PaceOptions {
  readonly ledger: Ledger;
  readonly pacer: Pacer;
  readonly unlimited: boolean;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Lets requests go at the pace of the budget. Without limits each is only counted, which is much quicker; a wait that
 * the service asks for is kept all the same.
 */
export function openPace({ ledger, pacer, unlimited, now, signal }: PaceOptions): Pace {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let waiting = 0;

  async function acquire(): Promise<void> {
    waiting += 1;
    try {
      await pacer.acquire(signal);
      lookedAt = now();
    } finally {
      waiting -= 1;
    }
  }

  return {
    async onRequest() {
      if (unlimited && waiting === 0 && now() - lookedAt < LOOK_EVERY_MS) ledger.record();
      else await acquire();
    },
    onRateLimited(until) {
      ledger.hold(until);
      lookedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

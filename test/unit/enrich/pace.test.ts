import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { paceFreely } from '../../../src/enrich/run/pace.ts';
import { openLedger } from '../../../src/storage/ledger.ts';
import { openPacer } from '../../../src/storage/pacer.ts';

const START = 1_700_000_000_000;

/** Two processes with one key, on one clock that sleeping moves. */
function world() {
  const stateDir = mkdtempSync(join(tmpdir(), 'restaurant-pace-'));
  let now = START;
  const context = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
    random: () => 0,
  };
  const open = () =>
    openLedger({ stateDir, key: 'k', endpoint: 'e', now: context.now, perMinute: 0, perDay: 0 });
  const ledger = open();
  const pacer = openPacer({ ledger, context, wait: false, maxWaitMs: 200_000 });
  const pace = paceFreely(ledger, pacer, context, new AbortController().signal);
  return {
    pace,
    other: open(),
    passed: () => now - START,
    wait: (ms: number) => {
      now += ms;
    },
    counted: () => open().usage().perDay.used,
  };
}

describe('a pace without limits', () => {
  it('counts requests, and holds all back while the service asks to wait', async () => {
    const { pace, passed, counted } = world();
    await pace.onRequest();
    expect([passed(), counted()]).toEqual([0, 1]);
    pace.onRateLimited(START + 150_000);
    await Promise.all([pace.onRequest(), pace.onRequest()]);
    expect(passed()).toBeGreaterThanOrEqual(150_000);
    expect(counted()).toBe(3);
  });

  it('sees within half a second that another process was asked to wait', async () => {
    const { pace, other, passed, wait } = world();
    await pace.onRequest();
    other.pauseUntil(START + 30_000);
    wait(500);
    await pace.onRequest();
    expect(passed()).toBeGreaterThanOrEqual(30_000);
  });

  it('does not sit out a wait that is too long', async () => {
    const { pace, other } = world();
    other.pauseUntil(START + 3_600_000);
    await expect(pace.onRequest()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

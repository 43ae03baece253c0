import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openLedger, type Wait } from '../../../src/storage/ledger.ts';
import { openPacer, type PacerOptions } from '../../../src/storage/pacer.ts';

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const MINUTE = 60_500;
const DAY = 86_400_000;

const never = new AbortController().signal;
setMaxListeners(0, never);

/** A pacer whose waits advance the clock. */
function pacerWith(perMinute: number, perDay: number, options: Partial<PacerOptions> = {}) {
  const clock = { now: START };
  const slept: number[] = [];
  const now = () => clock.now;
  const ledger = openLedger({ stateDir: undefined, key: 'k', endpoint: 'e', now, perMinute, perDay });
  const context = {
    now,
    random: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      await Promise.resolve();
      signal?.throwIfAborted();
      slept.push(ms);
      clock.now += ms;
    },
  };
  const waits: Wait[] = [];
  const onWait = (wait: Wait) => waits.push(wait);
  const acquire = openPacer({ ledger, context, patience: 'minute', onWait, ...options });
  return { clock, slept, waits, ledger, acquire };
}

describe('openPacer', () => {
  it('grants requests up to the limit at once, and the next one when the window has room', async () => {
    const { acquire, clock, slept } = pacerWith(2, 0);
    await acquire(never);
    clock.now += 1000;
    await acquire(never);
    expect(slept).toEqual([]);
    await acquire(never);
    expect(clock.now).toBe(START + MINUTE);
    await acquire(never);
    expect(clock.now).toBe(START + 1000 + MINUTE);
  });

  it('grants waiting requests in their order', async () => {
    const { acquire } = pacerWith(1, 0);
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((name) => acquire(never).then(() => order.push(name))));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it('never grants more in a minute, whatever the number of waiting requests', async () => {
    const { acquire, clock } = pacerWith(7, 0);
    const times = await Promise.all(Array.from({ length: 50 }, () => acquire(never).then(() => clock.now)));
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(7);
    expect(clock.now).toBe(START + 7 * MINUTE);
  });

  it('stops when the quota of the day is used up, and reports until when', async () => {
    const { acquire, clock } = pacerWith(0, 2);
    await acquire(never);
    clock.now += 5000;
    await acquire(never);
    await expect(acquire(never)).rejects.toMatchObject({
      code: 'budget_spent',
      message: 'the quota of 2 requests a day is used up until 2026-01-03T03:04:05Z',
      details: { retryAfter: (DAY - 5000) / 1000 },
    });
    clock.now = START + DAY;
    await acquire(never);
  });

  it.each([
    [0, false],
    [59_000, false],
    [60_000, true],
  ])('waits for the quota per minute within a maximum wait of %d ms: %s', async (maxWaitMs, waits) => {
    const { acquire, clock } = pacerWith(1, 0, { maxWaitMs, patience: 'max-wait' });
    await acquire(never);
    const second = acquire(never);
    if (waits) {
      await second;
      expect(clock.now).toBe(START + MINUTE);
    } else {
      await expect(second).rejects.toMatchObject({
        code: 'budget_spent',
        message: 'the quota of 1 request a minute is used up until 2026-01-02T03:05:06Z',
        details: { retryAfter: 61 },
      });
      expect(clock.now).toBe(START);
    }
  });

  it('waits for the next day with the option to wait', async () => {
    const { acquire, clock, slept, waits } = pacerWith(0, 1, { patience: 'day' });
    await acquire(never);
    await acquire(never);
    expect(clock.now).toBe(START + DAY);
    expect(waits).toEqual([{ freeAt: START + DAY, window: 'day' }]);
    expect(Math.max(...slept)).toBe(60_000);
  });

  it('waits for a pause, but not for one that lasts too long', async () => {
    const { acquire, ledger, clock } = pacerWith(0, 0, { maxWaitMs: 20_000 });
    ledger.pauseUntil(START + 20_000);
    await acquire(never);
    expect(clock.now).toBe(START + 20_000);
    ledger.pauseUntil(clock.now + 20_001);
    await expect(acquire(never)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { retryAfter: 21 },
    });
  });

  it('takes back a grant that arrives too late, and requests another', async () => {
    const { acquire, clock, ledger, slept, waits } = pacerWith(1, 0);
    // When it was counted, and when it arrived.
    const times = [START, START + 5000];
    Object.defineProperty(clock, 'now', { get: () => times.shift() ?? START + 5000, set: () => {} });
    await acquire(never);
    expect([times, waits, slept]).toEqual([[], [], []]);
    expect((await ledger.usage()).perMinute).toEqual({ limit: 1, used: 1, freeAt: START + 5000 + MINUTE });
  });

  it('does not care how long an unlimited grant takes', async () => {
    const { acquire, clock, ledger } = pacerWith(0, 0);
    const times = [START, START + 5000];
    Object.defineProperty(clock, 'now', { get: () => times.shift() ?? START + 5000, set: () => {} });
    await acquire(never);
    expect((await ledger.usage()).perMinute.used).toBe(1);
  });

  it('reports again when a wait gets longer', async () => {
    const waits: number[] = [];
    const { acquire, ledger } = pacerWith(0, 0, {
      onWait: ({ freeAt }) => {
        waits.push(freeAt - START);
        ledger.pauseUntil(START + 9000);
      },
    });
    ledger.pauseUntil(START + 5000);
    await acquire(never);
    expect(waits).toEqual([5000, 9000]);
  });

  it('ends an aborted wait, also further back in the queue, and continues with the others', async () => {
    const { acquire, clock } = pacerWith(1, 0);
    await acquire(never);
    const [first, second] = [new AbortController(), new AbortController()];
    const results = Promise.allSettled([acquire(first.signal), acquire(second.signal), acquire(never)]);
    second.abort(new Error('second'));
    first.abort(new Error('first'));
    const ends = (await results).map((one) => (one.status === 'rejected' ? one.reason.message : 'done'));
    expect(ends).toEqual(['first', 'second', 'done']);
    expect(clock.now).toBe(START + MINUTE);
    const late = new AbortController();
    late.abort(new Error('late'));
    await expect(acquire(late.signal)).rejects.toThrow('late');
  });
});

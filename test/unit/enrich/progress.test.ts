import { describe, expect, it } from 'vitest';
import {
  BarProgress,
  JsonProgress,
  type ProgressContext,
  type ProgressSource,
  QuietProgress,
  timeLeft,
} from '../../../src/enrich/progress/progress.ts';
import { Counters, type RunSummary } from '../../../src/enrich/progress/summary.ts';
import { palette } from '../../../src/output/style.ts';

/** A terminal, a clock that the test advances, and a run whose rows it adds. */
function setUp(
  columns = 200,
  more: Partial<ProgressSource> = {},
  quota: Partial<ProgressSource['service']> = { leftToday: 1750 },
) {
  let now = 1_000_000;
  let written = '';
  let wake: () => void = () => {};
  const context: ProgressContext = {
    stderr: { isTTY: true, columns, write: async () => {} },
    now: () => now,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        wake = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  const print = async (text: string) => {
    written += text;
  };
  const counters = new Counters();
  const source: ProgressSource = {
    counts: counters.counts,
    total: 200,
    service: {
      get requests() {
        return counters.counts.done;
      },
      leftToday: undefined,
      perMinute: 0,
      ...quota,
    },
    ...more,
  };
  return {
    context,
    print,
    counters,
    source,
    bar: () => new BarProgress(context, print, source, palette(0)),
    add(count: number, status: 'matched' | 'error' = 'matched', earlier = false) {
      for (let n = 0; n < count; n += 1) counters.add({ status, earlier, city: 'SF' });
    },
    async tick(ms: number) {
      now += ms;
      wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** Returns the text printed since the last call. */
    take() {
      const text = written;
      written = '';
      return text;
    },
  };
}

const summary = (counters: Counters, more: Partial<RunSummary> = {}): RunSummary => ({
  counts: counters.counts,
  unknownCities: [],
  missingPaths: [],
  looseRequests: 0,
  commonError: undefined,
  requests: 7,
  output: 'out.csv',
  finished: true,
  total: 200,
  next: undefined,
  ...more,
});

describe('the bar', () => {
  it('shows counts, waits and the time left on one line, and is erased at the end', async () => {
    const { context, counters, bar, add, tick, take } = setUp();
    const progress = bar();
    await tick(0);
    expect(take()).toBe('\r[--------------------] 0% 0/200, 1750 requests left today');
    add(50);
    await tick(5000);
    expect(take()).toBe(
      '\r[#####---------------] 25% 50/200, 15s left, 50 matched, 1750 requests left today',
    );
    await tick(1);
    expect(take()).toMatch(/^(\r\[#.*)?$/);
    progress.waiting({ until: context.now() + 30_000, why: 'the budget\u001b[31m is spent' });
    await tick(1000);
    expect(take()).toContain('waiting 29s: the budget^[[31m is spent');
    await tick(40_000);
    expect(take()).not.toContain('waiting');
    progress.warn('beware');
    await tick(0);
    expect(take()).toMatch(/^\r +\rwarning: beware\n\r\[#/);
    await tick(200);
    take();
    await progress.finish(summary(counters));
    expect(take().replace(/^\r +\r/, '')).toBe(
      '50 rows in out.csv: 50 matched, 0 ambiguous, 0 not found, 0 errors; 7 requests sent\n',
    );
  });

  it.each([
    [51, '[##########----------] 50% 1000/2000, 100s left…'],
    [81, '[##########----------] 50% 1000/2000, 100s left, 980 matched, 20 errors'],
    [
      101,
      '[##########----------] 50% 1000/2000, 100s left, 980 matched, 20 errors, 1750 requests left today',
    ],
  ])('shows the most important parts at %i columns', async (columns, line) => {
    const { context, bar, add, tick, take } = setUp(columns, { total: 2000 });
    const progress = bar();
    add(980);
    add(20, 'error');
    await tick(100_000);
    expect(take()).toBe(`\r${line}`);
    progress.waiting({ until: context.now() + 30_000, why: 'the budget of a minute is spent' });
    await tick(1000);
    expect(take()).toMatch(/^\r.*50% 1000\/2000, waiting 29s/);
    await progress.stop();
  });

  it('is never wider than the terminal', async () => {
    for (const columns of [0, 1, 10, 40]) {
      const { bar, tick, take } = setUp(columns);
      const progress = bar();
      await tick(200);
      expect(take().replace('\r', '').length).toBeLessThanOrEqual(Math.max(1, columns - 1));
      await progress.stop();
    }
  });

  it('shows no percentage if the length of the list is unknown', async () => {
    const { bar, add, tick, take } = setUp(200, { total: undefined }, {});
    const progress = bar();
    add(3, 'error');
    await tick(9000);
    expect(take()).toBe('\r3 rows, 3 errors');
    await progress.stop();
    expect(take()).toMatch(/^\r +\r$/);
  });
});

describe('progress as JSON', () => {
  it('prints one event per line', async () => {
    const { context, print, counters, source, add, tick, take } = setUp();
    const progress = new JsonProgress(context, print, source);
    add(20, 'matched', true);
    add(20);
    await tick(4000);
    progress.waiting({ until: Date.UTC(2025, 0, 1), why: 'x' });
    progress.warn('y');
    await progress.finish(summary(counters, { finished: false, next: 'restaurant enrich …' }));
    const events = take()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toEqual([
      { event: 'start', rows: 200 },
      {
        event: 'progress',
        rows: 200,
        done: 40,
        matched: 40,
        likely: 0,
        ambiguous: 0,
        not_found: 0,
        skipped: 0,
        errors: 0,
        requests: 40,
        left_today: 1750,
        seconds_left: 32,
      },
      { event: 'waiting', until: '2025-01-01T00:00:00.000Z', why: 'x' },
      { event: 'warning', message: 'y' },
      expect.objectContaining({
        event: 'summary',
        done: 40,
        earlier: 20,
        finished: false,
        next: 'restaurant enrich …',
      }),
    ]);
  });
});

describe('no progress', () => {
  it('prints the summary, or nothing', async () => {
    const { context, print, counters, add, take } = setUp();
    const quiet = (shown: boolean) =>
      new QuietProgress(context, print, { notes: true, summary: shown, timeText: String });
    add(1);
    await quiet(true).finish(summary(counters, { finished: false, requests: 1 }));
    expect(take()).toBe(
      '1 of 200 rows in out.csv: 1 matched, 0 ambiguous, 0 not found, 0 errors; 1 request sent\n',
    );
    await quiet(false).finish(summary(counters));
    expect(take()).toBe('');
  });
});

describe('timeLeft', () => {
  it('respects the quota per minute', () => {
    const { add, source } = setUp(200, {}, { perMinute: 10 });
    add(10);
    expect(timeLeft(source, 2000)).toBe(19 * 60_000);
    expect(timeLeft({ ...source, service: { ...source.service, perMinute: 0 } }, 2000)).toBe(38_000);
    expect(timeLeft(source, 1999)).toBeUndefined();
  });
});

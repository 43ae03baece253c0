import { describe, expect, it } from 'vitest';
import {
  barProgress,
  jsonProgress,
  type Progress,
  type ProgressContext,
  type ProgressSource,
  timeLeft,
} from '../../../src/lists/progress/progress.ts';
import { Counters } from '../../../src/lists/progress/summary.ts';
import { palette } from '../../../src/output/style.ts';

/** A terminal, a clock that the test advances, and a run whose rows it adds. */
class Run {
  readonly source: ProgressSource;
  readonly bar: Progress;
  readonly #counters = new Counters();
  readonly #columns: number;
  #now = 1_000_000;
  #written = '';
  #wake = (): void => {};

  constructor(columns: number, total: number | undefined, quota: Partial<ProgressSource['service']> = {}) {
    const { counts } = this.#counters;
    this.#columns = columns;
    const service = {
      get requests() {
        return counts.rows;
      },
      leftToday: 1750,
      perMinute: 0,
      ...quota,
    };
    this.source = { counts, total, service };
    this.bar = barProgress(this.context, this.print, this.source, palette(0));
  }

  get context(): ProgressContext {
    return {
      stderr: { isTTY: true, columns: this.#columns, write: async () => {} },
      now: () => this.#now,
      sleep: (_ms, signal) =>
        new Promise((resolve, reject) => {
          this.#wake = resolve;
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    };
  }

  print = async (text: string): Promise<void> => {
    this.#written += text;
  };

  add(count: number, status: 'matched' | 'error' = 'matched'): void {
    for (let n = 0; n < count; n += 1) this.#counters.add({ status, city: 'SF' });
  }

  wait(seconds: number, why = 'the quota is used up'): void {
    this.bar.waiting({ until: this.#now + seconds * 1000, why });
  }

  /** Advances the clock. @returns the text printed since the last call */
  async after(ms: number): Promise<string> {
    this.#now += ms;
    this.#wake();
    await new Promise((resolve) => setImmediate(resolve));
    const text = this.#written;
    this.#written = '';
    return text;
  }
}

describe('the bar', () => {
  it('shows counts, waits and the time left on one line, and erases it for a warning', async () => {
    const run = new Run(200, 200);
    expect(await run.after(0)).toBe('\r[--------------------] 0% 0/200, 1750 requests left today');
    run.add(50);
    expect(await run.after(5000)).toBe(
      '\r[#####---------------] 25% 50/200, 15s left, 50 matched, 1750 requests left today',
    );
    expect(await run.after(1)).toMatch(/^(\r\[#.*)?$/);
    run.wait(30, 'the budget\u001b[31m is spent');
    expect(await run.after(1000)).toContain('waiting 29s: the budget^[[31m is spent');
    expect(await run.after(40_000)).not.toContain('waiting');
    run.bar.warn('beware');
    expect(await run.after(0)).toMatch(/^\r +\rwarning: beware\n\r\[#/);
    expect(await run.after(0)).toBe('');
  });

  it.each([
    [51, '100s left…'],
    [81, '100s left, 980 matched, 20 errors'],
    [101, '100s left, 980 matched, 20 errors, 1750 requests left today'],
  ])('shows the most important parts at %i columns', async (columns, parts) => {
    const run = new Run(columns, 2000);
    run.add(980);
    run.add(20, 'error');
    expect(await run.after(100_000)).toBe(`\r[##########----------] 50% 1000/2000, ${parts}`);
    run.wait(30);
    expect(await run.after(1000)).toMatch(/^\r.*50% 1000\/2000, waiting 29s/);
  });

  it.each([0, 1, 10, 40])('is not wider than a terminal of %i columns', async (columns) => {
    const text = await new Run(columns, 200).after(200);
    expect(text.replace('\r', '').length).toBeLessThanOrEqual(Math.max(1, columns - 1));
  });

  it('shows no percentage if the length of the list is unknown', async () => {
    const run = new Run(200, undefined, { leftToday: undefined });
    run.add(3, 'error');
    expect(await run.after(9000)).toBe('\r3 rows, 3 errors');
    await run.bar.stop();
    expect(await run.after(0)).toMatch(/^\r +\r$/);
  });
});

it('progress as JSON is one event per line', async () => {
  const run = new Run(200, 200);
  await run.bar.stop();
  const progress = jsonProgress(run.context, run.print, run.source);
  run.add(40);
  const text = await run.after(4000);
  progress.waiting({ until: Date.UTC(2025, 0, 1), why: 'x' });
  progress.warn('y');
  expect((text + (await run.after(0))).split('\n').slice(0, 4)).toEqual([
    '{"event":"start","rows":200}',
    '{"event":"progress","rows":200,"done":40,"matched":40,"likely":0,"ambiguous":0,"not_found":0,"skipped":0,"errors":0,"requests":40,"left_today":1750,"seconds_left":16}',
    '{"event":"waiting","until":"2025-01-01T00:00:00.000Z","why":"x"}',
    '{"event":"warning","message":"y"}',
  ]);
  await progress.stop();
});

it('the time left respects the quota per minute, and is unknown at first', () => {
  const run = new Run(200, 200, { perMinute: 10 });
  const { source } = run;
  run.add(10);
  expect(timeLeft(source, 2000)).toBe(19 * 60_000);
  expect(timeLeft({ ...source, service: { ...source.service, perMinute: 0 } }, 2000)).toBe(38_000);
  expect(timeLeft(source, 1999)).toBeUndefined();
});

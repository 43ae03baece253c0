import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { openLedger } from '../../../src/storage/ledger.ts';
import { skippingClock } from '../../helpers/clock.ts';
import { enrichInSandbox, listOf, restaurants, table, useFolder } from '../../helpers/enrich.ts';
import { type RunOptions, runCli } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';

const DAY_MS = 86_400_000;
const { path, read, write } = useFolder();
beforeEach(() => {
  write('in.csv', listOf(12));
});

const rowsDone = (): number =>
  table(read('out.csv')).filter((row) => row.restaurant_status !== 'pending').length;
const rowsWritten = (): number => table(read('out.csv')).length;

const START = Date.UTC(2025, 0, 1);
const sum = (waits: readonly number[]): number => waits.reduce((all, wait) => all + wait, 0);

const enrich = (words: string, sandboxOptions: SandboxOptions = {}, options: RunOptions = {}) =>
  enrichInSandbox(path(''), words, sandboxOptions, {
    ...options,
    env: { RESTAURANT_STATE_DIR: path('state'), RESTAURANT_CACHE_DIR: path('cache') },
  });

describe('the quota', () => {
  it('of a day that is used up ends the run with 5, the time and the command', async () => {
    const clock = skippingClock(START);
    const first = await enrich('--per-day 5 --per-minute 0', {}, clock);
    expect([first.exit, first.requests, rowsDone(), rowsWritten()]).toEqual([5, 5, 5, 12]);
    expect(first.stderr).toMatch(/\n12 rows in out\.csv: 5 matched, .* 7 pending/);
    expect(first.stderr).toContain(
      'error: the quota of 5 requests a day is used up until 2025-01-02T00:00:00Z',
    );
    expect(first.stderr).toMatch(
      /hint: from 2025-01-02T00:00:00Z on: restaurant enrich in\.csv -o out\.csv --per-day 5 --per-minute 0\n/,
    );
    await clock.sleep(DAY_MS + 1);
    const second = await enrich('--per-day 50 --per-minute 0', {}, clock);
    expect([second.exit, second.requests, rowsDone()]).toEqual([0, 7, 12]);
  });

  it('of a day is waited for with --wait', async () => {
    const clock = skippingClock(START);
    const { exit, requests, stderr } = await enrich('--per-day 5 --per-minute 0 --wait', {}, clock);
    expect([exit, requests, rowsDone()]).toEqual([0, 12, 12]);
    expect(sum(clock.waits)).toBeGreaterThanOrEqual(2 * DAY_MS);
    expect(stderr).toMatch(
      /\nwaiting until 2025-01-02T\S+Z: the daily quota is used up\n12 rows in out\.csv/,
    );
  });

  it('of a minute slows the run down', async () => {
    const clock = skippingClock(START);
    const { exit, requests } = await enrich('--per-minute 4', {}, clock);
    expect([exit, requests]).toEqual([0, 12]);
    expect(sum(clock.waits)).toBeGreaterThan(120_000);
    expect(sum(clock.waits)).toBeLessThan(125_000);
  });

  it('is reported as JSON with --json', async () => {
    const clock = skippingClock(START);
    const { exit, stdout, stderr } = await enrich('--per-day 5 --json', {}, clock);
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      5,
      { rows: 12, matched: 5, pending: 7, requests: 5, finished: false, files: ['out.csv'] },
    ]);
    expect(JSON.parse(stdout).next).toContain('restaurant enrich in.csv -o out.csv');
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'budget_spent',
      retryable: true,
      retry_after: expect.any(Number),
      hint: expect.stringContaining('on: restaurant enrich in.csv -o out.csv --json --per-day 5'),
    });
  });
});

it('two runs at once never send more per minute than the quota', async () => {
  write('in.csv', listOf(130));
  const clock = { time: START };
  const now = () => clock.time;
  const sandbox = await startSandbox({ restaurants: restaurants(20), perMinute: 0, perDay: 0, now });
  const stateDir = path('state');
  const ledger = openLedger({
    stateDir,
    key: PAID,
    endpoint: sandbox.endpoint,
    now,
    perMinute: 0,
    perDay: 0,
  });
  // Both runs share a clock. It advances to the earliest time that a run waits for, but not while a request is in flight:
  // requests are counted when they are sent, and timed when they arrive.
  const awaited: number[] = [];
  const sleep = async (ms: number) => {
    const until = clock.time + ms;
    awaited.push(until);
    while (clock.time < until) {
      await pause(1);
      if ((await ledger.usage()).perDay.used > sandbox.requests.length) continue;
      clock.time = Math.max(clock.time, Math.min(...awaited));
    }
    awaited.splice(awaited.indexOf(until), 1);
  };
  const run = (output: string) =>
    runCli(['enrich', 'in.csv', '-o', output, '--per-minute', '60'], {
      cwd: path(''),
      now,
      sleep,
      env: {
        HOME: path(''),
        RESTAURANT_ENDPOINT: sandbox.endpoint,
        RESTAURANT_API_KEY: PAID,
        RESTAURANT_STATE_DIR: stateDir,
      },
    });
  const runs = await Promise.all([run('a.csv'), run('b.csv')]);
  const times = sandbox.requests.map(({ time }) => time);
  await sandbox.close();
  expect(runs.map(({ exit }) => exit)).toEqual([0, 0]);
  expect(times).toHaveLength(260);
  const windows = times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length);
  expect(Math.max(...windows)).toBeLessThanOrEqual(60);
  // The quota is also used: five minutes are enough for 260 requests.
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(5 * 61_000);
});

describe('a Retry-After of the service', () => {
  it('for a long time ends the run with 5, and loses no row', async () => {
    const { exit, stderr } = await enrich('--per-minute 0', { perDay: 5 });
    expect([exit, rowsDone()]).toEqual([5, 5]);
    expect(stderr).toMatch(
      /hint: from \d{4}-\d\d-\d\dT\S+Z on: restaurant enrich in\.csv -o out\.csv --per-minute 0\n/,
    );
    expect(read('out.csv')).not.toMatch(/,error,(?!restaurant)/);
  });

  it('for a long time is waited for with --wait', async () => {
    const clock = skippingClock(START);
    const limited = { perDay: 5, now: clock.now };
    const { exit, requests, stderr } = await enrich('--per-minute 0 --wait', limited, clock);
    expect([exit, rowsDone()]).toEqual([0, 12]);
    expect(requests).toBeLessThanOrEqual(12 + 2 * 4);
    // Each of four requests waits for two days at most.
    expect(sum(clock.waits)).toBeLessThan(2 * 4 * DAY_MS);
    expect(stderr).toMatch(
      /\nwaiting until 2025-01-\S+Z: the service requested a pause\n12 rows in out\.csv/,
    );
  });

  it('for a short time is waited for', async () => {
    const clock = skippingClock(START);
    // The clock skips the wait of one request while others are under way.
    const limited = { perMinute: 5, now: clock.now };
    const { exit, requests } = await enrich('--per-minute 0 --timeout 1h', limited, clock);
    expect([exit, rowsDone()]).toEqual([0, 12]);
    expect(requests).toBeLessThanOrEqual(12 + 2 * 4);
  });
});

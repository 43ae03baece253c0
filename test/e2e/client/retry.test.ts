import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type Effect, parseRetryAfter, planRetry, RateGate } from '../../../src/client/rpc/retry.ts';
import { ServiceError } from '../../../src/client/service-error.ts';
import { AppError, type ErrorDetails, type Reason } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/util/format.ts';
import { FOUND, failure } from '../../helpers/client.ts';
import { type Exchange, FIND, scripted, status } from '../../helpers/script.ts';

const NOW = Date.UTC(2026, 0, 1);
const QUERY = { name: 'a', city: 'b' };
const BUSY: Exchange = ['tools/call', status(503)];
const slowDown = (seconds: number): Exchange => [
  'tools/call',
  status(429, { 'Retry-After': String(seconds) }),
];

describe('parseRetryAfter', () => {
  it.each([
    ['7', 7],
    [' 0 ', 0],
    ['999999999999', 999_999_999_999],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    [['3', '9', 'x'], 9],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30],
    ['Thu Jan  1 00:00:30 2026', 30],
    ['Thu Jan 01 00:00:30 2026', 30],
    ['Thursday, 01-Jan-26 00:00:30', undefined],
    ['Wed, 31 Dec 2025 00:00:00 GMT', undefined],
    ['', undefined],
    ['abc', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['2026-01-02', undefined],
    ['9'.repeat(400), undefined],
    [undefined, undefined],
  ])('%j', (header, seconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(seconds);
  });

  it('returns whole seconds or undefined for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const seconds = parseRetryAfter(text, NOW);
        if (seconds !== undefined) expect(Number.isSafeInteger(seconds) && seconds >= 0).toBe(true);
      }),
    );
  });
});

const http = (status: number, details: ErrorDetails = {}) =>
  new ServiceError('http_error', { host: 'm', status, ...details });
const slow = (status: number, retryAfter: number) => http(status, { retryAfter });
const M = 'm returned HTTP 500';
const broken = (reason: Reason) => new ServiceError('network', { host: 'm', reason });
const DEFAULTS = {
  attempt: 0,
  effect: 'read' as Effect,
  retries: 2,
  remainingMs: 30_000,
  maxWaitMs: 60_000,
  random: () => 0.5,
};
/** Returns the wait, or the error with the reason why there is none. */
const plan = ({ error, ...changes }: Partial<typeof DEFAULTS> & { error: AppError }) => {
  const failed = { ...DEFAULTS, ...changes };
  const { waitMs, end } = planRetry(error.details, failed, failed);
  return end === undefined ? waitMs : error.add(end);
};

describe('planRetry', () => {
  it.each([400, 401, 402, 403, 404, 407, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504])(
    'status %d',
    (status) => {
      const error = http(status);
      expect(typeof plan({ error }) === 'number').toBe([408, 425, 429, 500, 502, 503, 504].includes(status));
      expect(typeof plan({ error, effect: 'write' }) === 'number').toBe([429, 503].includes(status));
    },
  );

  it.each<[Reason, boolean, boolean]>([
    ['refused', true, true],
    ['connect_timeout', true, false],
    ['reset', true, false],
    ['cut_off', true, false],
    ['incomplete', true, false],
    ['dns', false, false],
    ['unreachable', false, false],
    ['proxy', false, false],
    ['time', false, false],
  ])('%s', (reason, read, write) => {
    expect(typeof plan({ error: broken(reason) }) === 'number').toBe(read);
    expect(typeof plan({ error: broken(reason), effect: 'write' }) === 'number').toBe(write);
  });

  const late = { attempt: 9, retries: 99 };
  it.each<[string, AppError, Partial<typeof DEFAULTS>, string | number]>([
    [
      'retries an incomplete response once',
      broken('incomplete'),
      { attempt: 1, retries: 9 },
      'the request to m failed',
    ],
    ['backs off half a second at first', http(500), { random: () => 0.99 }, 495],
    ['backs off a second next', http(500), { attempt: 1, random: () => 0.99 }, 990],
    ['backs off ten seconds at most', http(500), { ...late, random: () => 0.99 }, 9900],
    ['backs off with full jitter', http(500), { ...late, random: () => 0 }, 100],
    ['backs off half a second at least after a 429', http(429), { random: () => 0 }, 500],
    ['fails with the error', http(500), { retries: 0 }, M],
    ['fails with the number of attempts', http(500), { attempt: 2 }, `${M} (tried 3 times)`],
    [
      'fails when the wait exceeds the time left',
      http(500),
      { remainingMs: 100 },
      `${M}; no time is left for a retry`,
    ],
    ['waits after a 429 beyond the time left', slow(429, 7), { remainingMs: 1000 }, 7000],
    ['waits half a second at least after a 429', slow(429, 0), {}, 500],
    [
      'waits after a 429 up to the maximum wait',
      slow(429, 7200),
      {},
      'm: too many requests (429, wait 2 hours); the service asked to wait 2 hours; the limit is 60s',
    ],
    [
      'names the years of a wait',
      slow(429, 999_999_999_999),
      {},
      'm: too many requests (429, wait 31,709 years); the service asked to wait 31,709 years; the limit is 60s',
    ],
    ['waits after a 503', slow(503, 7), {}, 7000],
    [
      'waits after a 503 within the time left',
      slow(503, 40),
      {},
      'm returned HTTP 503; the service asked to wait 40s; less time is left',
    ],
  ])('%s', (_title, error, changes, expected) => {
    const planned = plan({ error, random: () => 0, ...changes });
    if (typeof expected === 'number') expect(planned).toBe(expected);
    else expect(planned).toMatchObject({ message: expected });
  });

  it.each([
    [429, { '--max-wait': '121m' }],
    [503, { '--max-wait': '121m', '--timeout': '121m' }],
  ])('suggests to allow a wait of two hours after a %d', (status, again) => {
    expect(hintFor(plan({ error: slow(status, 7200) }) as AppError)).toEqual([
      { text: 'run the command again in 2 hours' },
      { text: 'or allow it', command: { again } },
    ]);
  });
});

describe('a client', () => {
  it('retries a read with a new id, and reports each wait', async () => {
    const waits: number[] = [];
    let counted = 0;
    const { client, requests, slept } = await scripted([BUSY, BUSY, FIND], {
      onWait: ({ ms, error }) => waits.push(ms, error.details.status ?? 0),
      onRequest: () => {
        counted += 1;
      },
    });
    expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(requests.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(counted).toBe(3);
    expect(slept).toEqual([250, 500]);
    expect(waits).toEqual([250, 503, 500, 503]);
  });

  it('waits as long as a 429 requests, beyond its timeout, and reports it', async () => {
    const until: number[] = [];
    const { client, slept } = await scripted([slowDown(30), FIND], {
      timeoutMs: 1000,
      context: { now: () => NOW, random: () => 0 },
      onRateLimited: (time) => void until.push(time),
    });
    await client.callTool('t', {});
    expect(slept).toEqual([30_000]);
    expect(until).toEqual([NOW + 30_000]);
  });

  it('ends without a request when the quota is used up', async () => {
    const { client } = await scripted([], {
      onRequest: () => {
        throw new AppError('budget_spent', 'spent');
      },
    });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'budget_spent', message: 'spent' });
  });

  it('does not count the time spent waiting for the quota', async () => {
    let now = Date.now();
    const { client } = await scripted([FIND], {
      timeoutMs: 1000,
      context: { now: () => now },
      onRequest: () => {
        now += 60_000;
      },
    });
    expect((await client.find(QUERY)).output).toEqual(FOUND);
  });

  it('stops waiting when it is interrupted', async () => {
    const controller = new AbortController();
    const { client } = await scripted([BUSY], {
      context: { signal: controller.signal },
      onWait: () => controller.abort(new AppError('interrupted', 'by hand')),
    });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'interrupted' });
  });

  it('delays all calls after a 429 for one of them', async () => {
    let now = 1_000_000;
    const sleeping: { ms: number; wake: () => void }[] = [];
    const { client, requests } = await scripted([slowDown(7), ...Array(8).fill(FIND)], {
      timeoutMs: 1000,
      context: {
        now: () => now,
        sleep: (ms) => new Promise((wake) => sleeping.push({ ms, wake })),
      },
    });
    const asleep = (count: number) => expect.poll(() => sleeping, { timeout: 20_000 }).toHaveLength(count);
    const first = client.find(QUERY);
    await asleep(1);
    const others = Array.from({ length: 7 }, () => client.find(QUERY));
    await asleep(8);
    expect(requests).toHaveLength(1);
    expect(sleeping.every(({ ms }) => ms >= 7000 && ms <= 7500)).toBe(true);

    now += 7500;
    for (const { wake } of sleeping) wake();
    for (const call of [first, ...others]) expect((await call).output).toEqual(FOUND);
  });
});

it('waits again for a pause that gets longer', async () => {
  const slept: number[] = [];
  const pause = new RateGate({
    now: () => 0,
    random: () => 0,
    sleep: async (ms) => {
      slept.push(ms);
      if (slept.length === 1) pause.closeUntil(300);
    },
  });
  const { signal } = new AbortController();
  await pause.wait(signal);
  expect(slept).toEqual([]);
  pause.closeUntil(100);
  await pause.wait(signal);
  expect(slept).toEqual([100, 300]);
});

it.each([
  [0, '0ms'],
  [500, '500ms'],
  [1500, '1.5s'],
  [30_000, '30s'],
  [90_000, '90s'],
  [120_000, '2 minutes'],
  [3_600_000, '60 minutes'],
  [7_200_000, '2 hours'],
  [172_800_000, '2 days'],
])('%d ms are %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

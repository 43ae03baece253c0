import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyError } from '../../../src/sandbox/messages.ts';
import { createRateLimiter } from '../../../src/sandbox/request-guard.ts';
import { NOPA, post, start, toolCall } from './http.ts';

describe('limits over HTTP', () => {
  it('returns 429 with Retry-After, per key, and accepts requests after that time', async () => {
    let time = 1_000_000;
    const sandbox = await start({ perMinute: 2, now: () => time });
    const paid = { authorization: `Bearer ${sandbox.keys.paid}` };
    for (const [passed, status, wait, headers = {}] of [
      [0, 200, undefined],
      [10_500, 200, undefined],
      [0, 429, '50'],
      [0, 200, undefined, paid],
      [49_499, 429, '1'],
      [1, 200, undefined],
    ] as const) {
      time += passed;
      const reply = await post(sandbox, NOPA, headers);
      expect([reply.status, reply.headers['retry-after']]).toEqual([status, wait]);
      if (status === 429) expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'rate_limited' } });
    }
  });

  it('counts only requests with a valid key', async () => {
    const sandbox = await start({ perMinute: 2 });
    await post(sandbox, NOPA, { authorization: 'Bearer nobody' });
    expect((await post(sandbox, '{')).status).toBe(400);
    expect((await post(sandbox, toolCall('nothing', {}))).status).toBe(200);
    expect((await post(sandbox, NOPA)).status).toBe(429);
  });

  it('allows the documented 100 a minute', async () => {
    const sandbox = await start({ now: () => 0 });
    const replies = await Promise.all(Array.from({ length: 101 }, () => post(sandbox, NOPA)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(100);
  });
});

describe('createRateLimiter', () => {
  it('allows the documented 2,000 a day and returns the time until the next', () => {
    let time = 0;
    const count = createRateLimiter(100, 2000, () => time);
    for (let booked = 0; booked < 2000; booked += 1) {
      count('free');
      time += 1000;
    }
    expect(waitOf(() => count('free'))).toBe(24 * 3600 - 2000);
  });

  it('never accepts more than the limit in any window, and never rejects a request below the limit', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, waits) => {
        let time = 0;
        const count = createRateLimiter(limit, 0, () => time);
        const granted: number[] = [];
        for (const wait of waits) {
          time += wait;
          const inside = granted.filter((at) => at > time - 60_000).length;
          const waitSeconds = waitOf(() => count('free'));
          expect(waitSeconds === undefined).toBe(inside < limit);
          if (waitSeconds === undefined) granted.push(time);
          else expect(waitSeconds).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

/** Returns the Retry-After of a 429, in seconds. */
function waitOf(act: () => void): number | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    expect(error.status).toBe(429);
    return Number(error.details.headers?.['Retry-After']);
  }
}

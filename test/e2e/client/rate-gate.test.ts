import { expect, it } from 'vitest';
import { RateGate } from '../../../src/client/rpc/retry.ts';
import { clientFor, FOUND, idOf, sendJson, serve, toolReply } from '../../helpers/client.ts';

const QUERY = { name: 'Nopa', city: 'SF' };

it('delays all calls after a 429 for one of them', async () => {
  const { url, requests } = await serve((request, response, count) =>
    count === 0
      ? response.writeHead(429, { 'Retry-After': '7' }).end()
      : sendJson(response, toolReply(idOf(request.body), FOUND)),
  );
  let now = 1_000_000;
  const sleeping: { ms: number; wake: () => void }[] = [];
  let asleep = () => {};
  const { client } = clientFor(url, {
    timeoutMs: 1000,
    context: {
      now: () => now,
      sleep: (ms) =>
        new Promise((wake) => {
          sleeping.push({ ms, wake });
          asleep();
        }),
    },
  });
  const untilAsleep = (count: number) =>
    new Promise<void>((resolve) => {
      asleep = () => {
        if (sleeping.length >= count) resolve();
      };
      asleep();
    });

  const first = client.find(QUERY);
  await untilAsleep(1);
  const others = Array.from({ length: 7 }, () => client.find(QUERY));
  await untilAsleep(8);
  expect(requests).toHaveLength(1);
  expect(sleeping.every(({ ms }) => ms >= 7000 && ms <= 7500)).toBe(true);

  now += 7500;
  for (const { wake } of sleeping) wake();
  for (const call of [first, ...others]) expect((await call).output).toEqual(FOUND);
  expect(requests).toHaveLength(9);
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

import { expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';

const service = useService();
const minute = { RESTAURANT_PER_MINUTE: '1' };

/** Uses up a quota of one request a minute, then runs a command that needs more. */
async function afterOne(words: readonly string[]) {
  expect((await service.run(['find', 'Nopa', '--city', 'SF'], { env: minute })).exit).toBe(0);
  service.sent();
  const sleep = () => Promise.reject(new Error('waits'));
  const { exit, stdout, stderr } = await service.run(words, { env: minute, sleep });
  return {
    exit,
    stdout,
    sent: service.sent(),
    error: JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error,
  };
}

it.each([
  [['lookup', 'id-one', 'id-two', '--agent']],
  [['lookup', 'id-one', 'id-two', '--json', '--max-wait', '1s']],
])('%j does not wait for the quota per minute', async (words) => {
  const { exit, stdout, sent, error } = await afterOne(words);
  expect([exit, stdout, sent]).toEqual([5, '', 0]);
  expect(error).toMatchObject({
    code: 'budget_spent',
    message: expect.stringMatching(/^the quota of 1 request a minute is used up until /),
    retryable: true,
  });
  expect(error.hint).toMatch(
    /^run the command again in \d+s; or allow it: restaurant lookup .*--max-wait \d+s$/,
  );
});

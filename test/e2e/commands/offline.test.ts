import { describe, expect, it } from 'vitest';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';

const service = useService();
const FIND = ['find', 'Nopa', '--city', 'SF'];
const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 23, 12);

/** Returns a function that runs commands in one home. */
function inHome() {
  const { env } = newHome();
  const own = { ...service.env, ...env, RESTAURANT_MAX_AGE: '1m', NO_COLOR: '1' };
  return (words: readonly string[], options: RunOptions = {}) =>
    runCli(words, { now: () => NOW, ...options, env: own });
}

describe('--offline', () => {
  it('prints cached responses of any age and sends nothing', async () => {
    const run = inHome();
    const three = () => NOW - 3 * DAY_MS;
    const found = await run(FIND, { now: three });
    const looked = await run(['lookup', '1'], { now: () => NOW - DAY_MS });
    const called = await run(['call', 'find_restaurant', 'name=Nopa', 'city=SF', '--max-age', '1m']);
    service.sent();
    expect(await run([...FIND, '--offline'])).toEqual(found);
    expect(await run(['lookup', '1', '--offline'])).toEqual(looked);
    expect(await run(['call', 'find_restaurant', 'name=Nopa', 'city=SF', '--offline'])).toEqual(called);
    const tty = { stderr: true };
    expect((await run([...FIND, '--offline'], { tty })).stderr).toMatch(
      /^offline: from the cache, stored \w{3} \d\d:00\n$/,
    );
    expect((await run([...FIND, '--offline', '--quiet'], { tty })).stderr).toBe('');
    expect(service.sent()).toBe(0);
  });

  it('fails with exit code 6 if there is no cached response', async () => {
    const run = inHome();
    service.sent();
    expect(await run([...FIND, '--offline'])).toEqual({
      exit: 6,
      stdout: '',
      stderr:
        'error: no cached response, and --offline sends no request\n' +
        'hint: to send it: restaurant find Nopa --city SF\n',
    });
    await run(FIND);
    service.sent();
    expect((await run(['lookup', '1', '--offline'])).exit).toBe(6);
    expect((await run(['lookup', '1-2', '--offline'])).exit).toBe(8);
    expect((await run([...FIND, '--fields', 'premium', '--offline'])).exit).toBe(8);
    expect((await run(['raw', 'tools/list', '--offline'])).exit).toBe(6);
    expect(service.sent()).toBe(0);
  });

  it.each(['--demo', '--max-age=0'])('cannot be combined with %s', async (option) => {
    const { exit, stderr } = await inHome()([...FIND, '--offline', option]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('cannot be used together')]);
  });
});

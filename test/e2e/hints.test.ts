import { describe, expect, it } from 'vitest';
import '../helpers/seed.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';

const { env } = newHome();
const service = useService();
const hintLine = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await runCli([...words, '--agent'], { env })).stderr.trim().split('\n').at(-1) ?? '').error
    .hint;

describe('a hint fits the command', () => {
  it.each(['lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53', 'tools', 'call find_restaurant name=Nopa city=SF'])(
    'of a filter for %s',
    async (line) => {
      expect(await hintLine(...line.split(' '), '--demo', '--jq', '.[')).toContain('--jq .;');
    },
  );

  it('of a filter for find', async () => {
    expect(await hintLine('find', 'Nopa', '--city', 'SF', '--demo', '--jq', '.[')).toContain(
      "--jq '.results[].name'",
    );
  });

  it('of a tool that was typed as a method', async () => {
    const call = 'to call it: restaurant call find_restaurant name=Nopa city=SF --demo';
    expect(await hintLine('raw', 'find_restaurant', '{"name":"Nopa","city":"SF"}')).toBe(call);
    expect(await hintLine('api', 'find_restaurant', '-f', 'name=Nopa', '-f', 'city=SF')).toBe(call);
  });

  it('of a tool that was typed as a method of a service', async () => {
    for (const words of [['{"name":"Nopa","city":"SF"}'], ['-f', 'name=Nopa', '-F', 'city="SF"']]) {
      const { exit, stderr } = await service.run(['raw', 'find_restaurant', ...words]);
      expect([exit, stderr]).toEqual([
        7,
        'warning: find_restaurant is a tool, not a method: restaurant call find_restaurant name=Nopa city=SF\n',
      ]);
    }
  });

  it.each([
    ['find nopa SF', 'restaurant find nopa --agent --city SF --demo; or log in: restaurant login'],
    [
      'find chez moi são paulo',
      "restaurant find 'chez moi' --agent --city 'são paulo' --demo; or log in: restaurant login",
    ],
    ['lookup nopa', "to search for it: restaurant find nopa --city 'San Francisco' --demo"],
    ['show nopa', "to search for it: restaurant find nopa --city 'San Francisco' --demo"],
  ])('of %s, without a service', async (line, hint) => {
    expect(await hintLine(...line.split(' '))).toBe(hint);
  });

  it('of an ID that does not exist: the last search, none, or one in the sample data', async () => {
    const { env: own } = newHome();
    const id = '00000000-0000-4000-8000-000000000000';
    const hintAfter = async (words: string[]): Promise<string> =>
      (await service.run(words, { env: own })).stderr.replace(/^.*\nhint: /, '').trimEnd();
    const call = ['call', 'lookup_restaurant', `restaurant_id=${id}`];
    expect(await hintAfter(call)).toBe('to search: restaurant find --help');
    await service.run(['find', 'Golden Crane', '--city', 'SF'], { env: own });
    expect(await hintAfter(call)).toBe("to search: restaurant find 'Golden Crane' --city SF");
    expect(await hintLine(...call, '--demo')).toBe(
      "to search: restaurant find Nopa --city 'San Francisco' --demo",
    );
  });

  it('of a row of sample data, without a service, stays with it', async () => {
    const { env: own } = newHome();
    await runCli(['find', 'Nopa', '--city', 'SF', '--demo'], { env: own });
    const { stderr } = await runCli(['lookup', '1', 'nosuch-1'], { env: own });
    expect(stderr).toContain('restaurant find Nopa --city SF --demo\n');
  });

  it('of a key that is not on stdin', async () => {
    const { exit, stderr } = await service.run(['login', '--key-stdin']);
    expect([exit, stderr]).toEqual([4, expect.stringContaining('no API key on stdin')]);
    expect(stderr).toContain('--key-file');
  });
});

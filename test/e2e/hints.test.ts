import { describe, expect, it } from 'vitest';
import '../helpers/seed.ts';
import { newHome, runCli } from '../helpers/program.ts';

const { env } = newHome();
const hintOf = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await runCli([...words, '--agent'], { env })).stderr.trim().split('\n').at(-1) ?? '').error
    .hint;

describe('a hint fits the command', () => {
  it.each(['lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53', 'tools', 'call find_restaurant name=Nopa city=SF'])(
    'of a filter for %s',
    async (line) => {
      expect(await hintOf(...line.split(' '), '--demo', '--jq', '.[')).toContain('--jq .;');
    },
  );

  it('of a filter for find', async () => {
    expect(await hintOf('find', 'Nopa', '--city', 'SF', '--demo', '--jq', '.[')).toContain(
      "--jq '.results[].name'",
    );
  });

  it('of a tool that was typed as a method', async () => {
    const call = 'to call it: restaurant call find_restaurant name=Nopa city=SF --demo';
    expect(await hintOf('raw', 'find_restaurant', '{"name":"Nopa","city":"SF"}')).toBe(call);
    expect(await hintOf('api', 'find_restaurant', '-f', 'name=Nopa', '-f', 'city=SF')).toBe(call);
  });
});

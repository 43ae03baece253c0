import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newHome, runCli, type Transcript } from '../helpers/program.ts';
import { REVOKED, useService } from '../helpers/service.ts';

const service = useService();
const limited = useService({ perMinute: 1 });
const agent = { RESTAURANT_AGENT: '1' };

describe('--agent', () => {
  const tty = { stdin: true, stdout: true, stderr: true };

  it.each([
    ['the option', ['--agent'], {}],
    ['the variable', [], agent],
  ] as const)('by %s disables prompts, notes, and colors on a terminal', async (_name, words, more) => {
    const env = { FORCE_COLOR: '1', ...more };
    const found = await service.run(['find', 'Nopa', '--city', 'SF', ...words], { tty, env });
    expect(found).toMatchObject({ exit: 0, stderr: '' });
    expect(found.stdout).not.toContain('\u001b');
    const failed = await service.run(['find', 'Nopa', ...words], { tty, env });
    expect(JSON.parse(failed.stderr).error).toMatchObject({ code: 'usage', message: 'find needs a city' });
  });

  it('fails at once on a rate limit, unless a wait is given', async () => {
    const find = (...words: string[]) =>
      limited.run(['find', 'Nopa', '--city', 'SF', '--agent', ...words], { sleep: async () => {} });
    await find();
    limited.sent();
    expect(JSON.parse((await find()).stderr).error).toMatchObject({ code: 'rate_limited', retryable: true });
    expect(limited.sent()).toBe(1);
    await find('--max-wait', '2m');
    expect(limited.sent()).toBe(3);
  });
});

it.each([
  [{}, /^error: /],
  [{ tty: { stdout: true } }, /^error: /],
  [{ env: { RESTAURANT_ERRORS: 'json' } }, /^\{"error":/],
  [{ env: { RESTAURANT_ERRORS: 'json' }, tty: { stdout: true } }, /^error: /],
] as const)('RESTAURANT_ERRORS=json prints JSON errors in a pipe: %j', async (options, expected) => {
  for (const words of ['--format csv', '--jq .', '--format ndjson']) {
    expect((await service.run(['find', 'x', ...words.split(' ')], options)).stderr).toMatch(expected);
  }
});

it('help has --demo in its examples only without a service', async () => {
  const examples = async (env: Record<string, string>) =>
    (await runCli(['help', 'find'], { env })).stdout.split('Examples:')[1];
  expect(await examples({})).toContain('find "Nopa" --city SF --demo');
  expect(await examples(service.env)).not.toContain('--demo');
});

const SKILL_BEFORE = 5580;

/** Tasks of an agent: the bytes that it read in version 0.1.0 besides the skill, the last exit code, and the commands. */
const TASKS = `
the best Mexican restaurants and their hours | 7445 | 0 | find mexican --city SF CSV name | find a --city SF --cuisine mexican --sort grade --limit 5 --fields standard CSV name,grade,hours
three restaurants compared, with premium details | 820 | 0 | find Nopa --city SF --limit 3 CSV service_id,name | lookup 1-3 --fields premium CSV name,grade,price_level,phone
a list of 30 | 667 | 0 | enrich list.csv --dry-run | enrich list.csv -o out.csv --json
a tool that does not exist | 600 | 7 | call explore city=SF
a key that is refused | 271 | 4 | find Nopa --city SF
a spent quota | 1496 | 5 | find Nopa --city SF CSV name | find Nopa --city Paris CSV name
`
  .replaceAll('CSV', '--format csv --columns')
  .trim()
  .split('\n')
  .map((row) => row.split(' | '));

/** Variables of a task. */
const OWN: Readonly<Record<string, () => Record<string, string>>> = {
  'a key that is refused': () => ({ RESTAURANT_API_KEY: REVOKED }),
  'a spent quota': () => ({ RESTAURANT_BASE_URL: limited.sandbox.baseUrl }),
};

describe('what an agent reads', () => {
  const bytes = ({ stdout, stderr }: Transcript): number => Buffer.byteLength(stdout + stderr);

  it.each([
    [['skill', 'print'], 3000],
    [['help', 'find'], 2048],
    [['schema', 'find'], 5000],
    [['schema'], 25_000],
  ])('of %j is short', async (words, most) => {
    expect(bytes(await runCli(words))).toBeLessThanOrEqual(most);
  });

  it.each(TASKS)(
    'for %s, with the skill, is at most half of before',
    async (name = '', before, exit, ...lines) => {
      const { home: cwd } = newHome();
      const rows = Array.from({ length: 30 }, (_, index) => `${index % 2 ? 'Nopa' : 'Petit'},SF,${index}\n`);
      writeFileSync(join(cwd, 'list.csv'), `name,city,number\n${rows.join('')}`);
      const read = [await runCli(['skill', 'print'])];
      for (const line of lines) {
        const env = { HOME: cwd, ...agent, ...OWN[name]?.() };
        read.push(await service.run(line.split(' '), { cwd, env }));
      }
      expect(read.at(-1)?.exit).toBe(Number(exit));
      const sum = read.map(bytes).reduce((all, more) => all + more);
      expect(sum).toBeLessThanOrEqual((SKILL_BEFORE + Number(before)) / 2);
    },
  );
});

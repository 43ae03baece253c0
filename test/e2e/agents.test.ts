import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunOptions, runCli, type Transcript } from '../helpers/program.ts';
import { FREE, REVOKED, useService } from '../helpers/service.ts';

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
  for (const words of [
    ['--format', 'csv'],
    ['--jq', '.'],
    ['--format', 'ndjson'],
  ]) {
    expect((await service.run(['find', 'x', ...words], options)).stderr).toMatch(expected);
  }
});

it('help has --demo in its examples only without a service', async () => {
  const examples = async (env: Record<string, string>) =>
    (await runCli(['help', 'find'], { env })).stdout.split('Examples:')[1];
  expect(await examples({})).toContain('find "Nopa" --city SF --demo');
  expect(await examples(service.env)).not.toContain('--demo');
});

describe('results for agents', () => {
  const find = async (...words: string[]) =>
    JSON.parse((await service.run(['find', 'Nopa', '--city', 'SF', ...words, '--json'])).stdout);

  it('of a filtered search have the number shown, next to total_matches', async () => {
    const filtered = await find('--limit', '2');
    expect(filtered).toMatchObject({ total_matches: 3, shown: 2 });
    expect(await find('--min-grade', 'A')).toMatchObject({ shown: expect.any(Number) });
    expect(await find()).not.toHaveProperty('shown');
    expect(await find('--limit', '2', '--columns', 'name')).not.toHaveProperty('shown');
    expect(await find('--limit', '2', '--jq', 'keys')).not.toContain('shown');
  });

  it('with --fields and --columns are one record per restaurant', async () => {
    const [first] = await find('--limit', '1', '--fields', 'standard', '--columns', 'name,grade,hours');
    expect(Object.keys(first)).toEqual(['name', 'grade', 'hours']);
    const [whole] = await find('--limit', '1', '--fields', 'standard');
    expect([whole.result.name, whole.details.hours]).toEqual([first.name, first.hours]);
  });

  it('need a paid key for details, and say so once', async () => {
    const words = ['find', 'Nopa', '--city', 'SF', '--fields', 'premium', '--columns', 'name', '--json'];
    const { exit, stdout, stderr } = await service.run(words, { env: { RESTAURANT_API_KEY: FREE } });
    expect([exit, stdout]).toEqual([4, '']);
    expect(JSON.parse(stderr).error.code).toBe('plan_required');
  });
});

/** A task of an agent: what it reads, and the bytes that it read in version 0.1.0. */
interface Task {
  readonly name: string;
  readonly before: number;
  read(run: (words: readonly string[], options?: RunOptions) => Promise<Transcript>): Promise<void>;
}

const CSV = ['--format', 'csv', '--columns'];
const SKILL_BEFORE = 5580;

const TASKS: readonly Task[] = [
  {
    name: 'the best Mexican restaurants and their hours',
    before: SKILL_BEFORE + 7445,
    async read(run) {
      await run(['find', 'mexican', '--city', 'SF', ...CSV, 'name']);
      const all = ['find', 'a', '--city', 'SF', '--cuisine', 'mexican', '--sort', 'grade', '--limit', '5'];
      await run([...all, '--fields', 'standard', ...CSV, 'name,grade,hours']);
    },
  },
  {
    name: 'three restaurants compared, with premium details',
    before: SKILL_BEFORE + 820,
    async read(run) {
      const { stdout } = await run([
        'find',
        'Nopa',
        '--city',
        'SF',
        '--limit',
        '3',
        ...CSV,
        'service_id,name',
      ]);
      const ids = stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0] ?? '');
      expect(ids).toHaveLength(3);
      await run(['lookup', ...ids, '--fields', 'premium', ...CSV, 'name,grade,price_level,phone']);
    },
  },
  {
    name: 'a list of 30',
    before: SKILL_BEFORE + 667,
    async read(run) {
      const rows = Array.from({ length: 30 }, (_, index) => `${index % 2 ? 'Nopa' : 'Petit'},SF,${index}\n`);
      writeFileSync(join(service.home, 'list.csv'), `name,city,number\n${rows.join('')}`);
      await run(['enrich', 'list.csv', '--dry-run', '--json']);
      await run(['enrich', 'list.csv', '-o', 'out.csv', '--force', '--json']);
    },
  },
  {
    name: 'a tool that does not exist',
    before: SKILL_BEFORE + 600,
    async read(run) {
      const { stderr } = await run(['call', 'explore', 'city=SF']);
      expect(JSON.parse(stderr).error.hint).toContain('does not list its tools');
    },
  },
  {
    name: 'a key that is refused',
    before: SKILL_BEFORE + 271,
    async read(run) {
      const { exit } = await run(['find', 'Nopa', '--city', 'SF'], { env: { RESTAURANT_API_KEY: REVOKED } });
      expect(exit).toBe(4);
    },
  },
  {
    name: 'a spent quota',
    before: SKILL_BEFORE + 1496,
    async read(run) {
      const env = { RESTAURANT_BASE_URL: limited.sandbox.baseUrl };
      const [, refused] = [
        await run(['find', 'Nopa', '--city', 'SF', ...CSV, 'name'], { env }),
        await run(['find', 'Nopa', '--city', 'Paris', ...CSV, 'name'], { env }),
      ];
      expect(JSON.parse(refused.stderr).error).toMatchObject({
        code: 'rate_limited',
        retry_after: expect.any(Number),
      });
    },
  },
];

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

  it.each(TASKS)('for $name, with the skill, is at most half of before', async ({ name, before, read }) => {
    let sum = bytes(await runCli(['skill', 'print']));
    await read(async (words, options = {}) => {
      const env = { ...agent, ...options.env };
      const transcript = await service.run(words, { cwd: service.home, ...options, env });
      sum += bytes(transcript);
      return transcript;
    });
    process.stdout.write(`${name}: ${sum} bytes, before ${before}\n`);
    expect(sum).toBeLessThanOrEqual(before / 2);
  });
});

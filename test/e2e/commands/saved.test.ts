import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { restaurant, startRestaurant } from '../../helpers/process.ts';
import { type RunOptions, runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { playSessions } from '../../helpers/session.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { UNPACED } from '../../unit/enrich/service-data.ts';

/** The data of the service, which the tests change. */
const menu: { -readonly [K in keyof SandboxRestaurant]: SandboxRestaurant[K] }[] = [
  'one',
  'two',
  'three',
].map((id) => ({
  service_id: `aaaaaa-${id}`,
  name: `Place ${id}`,
  city: 'SF',
  grade: 'B',
  cuisine_tags: ['thai'],
}));
const service = useService({ restaurants: menu });
function setGrades(grade: string, restaurants = menu): void {
  for (const one of restaurants) one.grade = grade;
}
beforeEach(() => setGrades('B'));

playSessions(join(import.meta.dirname, 'saved.session'), {
  env: () => service.env,
  sent: () => service.sent(),
  commands: {
    grade: (_folder, number, grade = '') => {
      setGrades(grade, number === 'all' ? menu : menu.slice(Number(number) - 1, Number(number)));
      return '';
    },
  },
});

describe('saved --refresh', () => {
  let env: Record<string, string> = {};
  const run = (...words: string[]) => runCli(words, { env });
  const steps = async (...words: string[]): Promise<{ before: string; after: string }[]> =>
    JSON.parse((await run('changes', ...words, '--json')).stdout).changes;
  const start = () => startRestaurant(['saved', '--refresh'], { env });
  beforeEach(async () => {
    // Without limits, a fast machine would wait for the quota between the kills.
    env = { ...service.env, ...UNPACED, HOME: tempFolder() };
    await run('find', 'Place', '--city', 'SF');
    await run('save', '1-3');
  });

  it('loses no change and records none twice when it is killed at any moment', async () => {
    const base = Date.now();
    await start().ended;
    const length = Date.now() - base;
    for (let turn = 0; turn < fewOrAll(4, 60); turn += 1) {
      setGrades(`G${turn}`);
      const running = start();
      // Most of the time, the process starts: what matters is the end.
      await sleep(length * (0.6 + Math.random() * 0.5));
      running.process.kill('SIGKILL');
      await running.ended;
    }
    setGrades('Z');
    expect((await start().ended).exit).toBe(0);
    for (const name of ['one', 'two', 'three']) {
      const changes = await steps(`aaaaaa-${name}`);
      const after = changes.map((change) => change.after);
      expect(changes.map(({ before }) => before)).toEqual(['B', ...after.slice(0, -1)]);
      expect(after.at(-1)).toBe('Z');
    }
  }, 120_000);

  it('finds a change once when two processes look at the same time', async () => {
    setGrades('C', menu.slice(0, 1));
    const words = ['saved', '--refresh'];
    const runs = await Promise.all([restaurant(words, { env }), restaurant(words, { env })]);
    expect(runs).toMatchObject(Array(2).fill({ exit: 0, stderr: '' }));
    expect(runs.map(({ stdout }) => stdout).join('')).toMatch(/^.+\n$/);
    expect(await steps()).toHaveLength(1);
  });
});

describe('changes', () => {
  it('prints the record since a time, and of the named restaurants', async () => {
    const home = tempFolder();
    const line = (when: string, id: string, after: unknown) =>
      `${JSON.stringify({ when, id, name: `Place ${id}`, field: 'grade', before: null, after })}\n`;
    mkdirSync(join(home, '.local/share/restaurant'), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(home, '.local/share/restaurant/changes.ndjson'),
      line('2026-10-01T00:00:00.000Z', 'aaaaaa-one', 'A') +
        line('2026-11-22T00:00:00.000Z', 'aaaaaa-one', ['x', 'y']) +
        line('2026-11-23T00:00:00.000Z', 'bbbbbb-two', 1),
    );
    const changes = (words: readonly string[], options: RunOptions = {}) =>
      runCli(['changes', ...words], {
        now: () => Date.UTC(2026, 10, 23, 12),
        ...options,
        env: { HOME: home, NO_COLOR: '1' },
      });
    const ids = async (...words: string[]) => (await changes(['--columns', 'id,after', ...words])).stdout;
    expect(await ids()).toBe('aaaaaa-one\tA\naaaaaa-one\tx; y\nbbbbbb-two\t1\n');
    expect(await ids('--since', '36h')).toBe('aaaaaa-one\tx; y\nbbbbbb-two\t1\n');
    expect(await ids('--since', '60d', 'aaaaaa')).toBe('aaaaaa-one\tA\naaaaaa-one\tx; y\n');
    expect(await ids('--since', '2026-11-22T12:00Z')).toBe('bbbbbb-two\t1\n');
    expect(await ids('--since', '2026-11-01', 'place aaaaaa-one')).toBe('aaaaaa-one\tx; y\n');
    expect(await changes(['nothing'])).toMatchObject({
      exit: 3,
      stdout: '',
      stderr: "error: 'nothing' is not saved\nhint: to list them: restaurant saved\n",
    });
    const wrong = await changes(['--since', 'yesterday']);
    expect([wrong.exit, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("--since 'yesterday': expected a duration or a date, such as 7d or 2026-11-01"),
    ]);
    const { stdout } = await changes([], { tty: { stdout: true, stderr: true, columns: 100 } });
    expect(stdout).toMatch(/\nOct \d+, 2026, \d\d:\d\d +Place aaaaaa-one +grade +- +A +aaaaaa-one\n/);
    expect(stdout).toMatch(/\n(Sun|Mon) \d\d:\d\d +Place bbbbbb-two +grade +- +1 +bbbbbb-two\n$/);
  });
});

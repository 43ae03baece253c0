import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { UNPACED } from '../../helpers/enrich.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { restaurant, startRestaurant } from '../../helpers/process.ts';
import { runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { playSessions } from '../../helpers/session.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

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

playSessions(join(import.meta.dirname, 'changes.session'), {
  run: { now: () => Date.UTC(2025, 10, 23, 12) },
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

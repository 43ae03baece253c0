import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { found, toolText, useScriptedService } from '../../helpers/answers.ts';
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

describe('saved --refresh against a service of the test', () => {
  const scripted = useScriptedService();
  const ROW = {
    service_id: 'place-one',
    name: 'Place',
    city: 'Berlin',
    address: 'Müllerstraße 7',
    grade: 'B',
  };
  let env: Record<string, string> = {};
  const run = (...words: string[]) => scripted.run(words, { env });
  const changes = async (): Promise<unknown[]> =>
    JSON.parse((await run('changes', '--json')).stdout).changes.map(
      ({ name, field, before, after }: Record<string, unknown>) => [name, field, before, after],
    );
  const details = (fields: object) => toolText(JSON.stringify({ status: 'ok', name: 'Place', ...fields }));
  beforeEach(async () => {
    env = { HOME: tempFolder() };
    scripted.answer(found(ROW));
    await run('find', 'Place', '--city', 'Berlin');
    await run('save', '1');
  });

  it('finds a new address, also when the first answer was a search, and keeps it at a poorer level', async () => {
    scripted.answer(({ params, ...request }, response) =>
      details({
        grade: 'B',
        ...(params.arguments?.fields === 'standard' && { address: 'Müllerstraße 9', phone: '1' }),
      })({ params, ...request }, response),
    );
    expect((await run('saved', '--refresh')).stdout).toBe('');
    expect((await run('saved', '--refresh', '--fields', 'standard')).stdout).toContain('Müllerstraße 9');
    expect((await run('saved', '--refresh')).stdout).toBe('');
    expect(await changes()).toEqual([['Place', 'address', 'Müllerstraße 7', 'Müllerstraße 9']]);
    const { stdout } = await run('saved', '--columns', 'address,phone');
    expect(stdout).toBe('Müllerstraße 9\t1\n');
  });

  it('stores the others when a lookup fails, reports it, and counts only those', async () => {
    await run('find', 'Place', '--city', 'Berlin');
    scripted.answer(details({ grade: 'B' }));
    await run('save', 'place-two');
    scripted.answer((request, response) => {
      const isOne = request.params.arguments?.restaurant_id === 'place-one';
      return isOne ? response.writeHead(500).end() : details({ grade: 'F' })(request, response);
    });
    const { exit, stdout, stderr } = await run('saved', '--refresh');
    expect([exit, stderr.split('\n')[0]]).toEqual([8, expect.stringContaining('1 of 2 lookups failed: ')]);
    expect(stdout).toMatch(/^\S+\tplace-two\tPlace\tgrade\tB\tF\n$/);
  });

  it('takes what an older version of the file says as it was: nothing is cut off', async () => {
    scripted.answer(details({ grade: 'C' }));
    await run('saved', '--refresh');
    const path = join(
      env.HOME ?? '',
      '.local/share/restaurant',
      `saved-${new URL(scripted.url).host.replace(':', '-')}.answers.ndjson`,
    );
    const whole = readFileSync(path, 'utf8');
    // As a kill, a full disk, or a backup leaves it: the last line is cut off.
    writeFileSync(path, whole.slice(0, -20));
    await run('save', 'place-one', '--note', 'n');
    expect(readFileSync(path, 'utf8').startsWith(whole.slice(0, -20))).toBe(true);
    expect((await run('saved', '--columns', 'name,note')).stdout).toBe('Place\tn\n');
  });
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

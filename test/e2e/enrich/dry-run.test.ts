import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { durationOf } from '../../../src/enrich/run/estimate.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { restaurants, UNPACED } from '../../unit/enrich/service-data.ts';

const service = useService({ restaurants: restaurants(30) });
let folder = '';
beforeEach(() => {
  folder = tempFolder();
  service.sent();
});

const path = (name: string): string => join(folder, name);
const CSV =
  'name,city\nPlace 1,Testville\nPlace 2,Testville\nPlace 1,Testville\n,Testville\nTwin,Testville\n';

const run = (words: string, env: Record<string, string> = {}) =>
  service.run(words.split(' '), {
    cwd: folder,
    env: {
      RESTAURANT_CACHE_DIR: path('cache'),
      RESTAURANT_STATE_DIR: path('state'),
      RESTAURANT_MAX_AGE: '10m',
      ...env,
    },
  });
const estimate = async (words: string, env: Record<string, string> = {}) => {
  const { exit, stdout, stderr } = await run(`enrich in.csv --dry-run --json ${words}`.trim(), env);
  expect([exit, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

describe('enrich --dry-run', () => {
  it('counts the rest of a run that was stopped, and changes nothing', async () => {
    writeFileSync(path('in.csv'), CSV);
    await run('enrich in.csv -o out.csv', { ...UNPACED, RESTAURANT_CACHE_DIR: path('other') });
    const whole = readFileSync(path('out.csv'), 'utf8');
    const cut = whole.split('\n').slice(0, 2).join('\n').length + 5;
    for (const [size, expected] of [
      [whole.length, { done: 5, requests: 0 }],
      [cut, { done: 1, distinct_queries: 2, requests: 2 }],
      [20, { done: 0, requests: 3 }],
      [0, { done: 0, requests: 3 }],
    ] as const) {
      writeFileSync(path('out.csv'), whole.slice(0, size));
      expect(await estimate('-o out.csv --resume')).toMatchObject(expected);
      expect(readFileSync(path('out.csv'), 'utf8')).toBe(whole.slice(0, size));
    }
    writeFileSync(path('out.csv'), whole);
    expect(await estimate('-o out.csv --resume --retry-errors')).toMatchObject({ done: 5, skipped: 0 });
    expect(existsSync(path('out.csv.lock'))).toBe(false);
  });

  it('names the first ten skipped rows, however many there are', async () => {
    writeFileSync(path('in.csv'), `name,city\n${',x\n'.repeat(2500)}`);
    const { stdout } = await run('enrich in.csv --dry-run');
    expect(stdout).toContain(
      'skipped   2,500 rows without a name, city or id: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2,490 more\n',
    );
    expect(stdout).toContain('time      none\n');
  });
});

describe('durationOf', () => {
  it.each([
    [0, 100, 2000, 2000, { minutes: 0, days: 0 }],
    [1, 100, 2000, 2000, { minutes: 1, days: 1 }],
    [2000, 100, 2000, 2000, { minutes: 20, days: 1 }],
    [2001, 100, 2000, 2000, { minutes: 21, days: 2 }],
    [5000, 100, 2000, 500, { minutes: 50, days: 4 }],
    [5000, 100, 2000, 0, { minutes: 50, days: 3 }],
    [5000, 0, 0, 0, { minutes: null, days: null }],
  ])('%i requests', (requests, perMinute, perDay, left, wanted) => {
    expect(durationOf(requests, perMinute, perDay, left)).toEqual(wanted);
  });
});

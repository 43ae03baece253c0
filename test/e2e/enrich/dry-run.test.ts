import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  it('counts rows, queries, requests and time, and sends and writes nothing', async () => {
    writeFileSync(path('in.csv'), CSV);
    expect(await estimate('-o out.csv')).toEqual({
      rows: 5,
      done: 0,
      skipped: 1,
      skipped_lines: [5],
      distinct_queries: 3,
      cached: 0,
      requests: 3,
      requests_at_most: 3,
      per_minute: 100,
      per_day: 2000,
      left_today: 2000,
      minutes: 1,
      days: 1,
    });
    expect(await estimate('--fields basic --per-day 2 --per-minute 2')).toMatchObject({
      requests: 3,
      requests_at_most: 6,
      minutes: 2,
      days: 2,
    });
    expect(service.sent()).toBe(0);
    expect(readdirSync(folder)).toEqual(['in.csv']);
  });

  it('counts cached searches and lookups', async () => {
    writeFileSync(path('in.csv'), CSV);
    await service.run(['find', 'Place 1', '--city', 'Testville'], {
      env: { RESTAURANT_CACHE_DIR: path('cache'), RESTAURANT_STATE_DIR: path('state') },
    });
    expect(await estimate('')).toMatchObject({ cached: 1, requests: 2, left_today: 1999 });
    expect(await estimate('--fields basic')).toMatchObject({ cached: 1, requests: 3, requests_at_most: 5 });
    expect(await estimate('', { RESTAURANT_MAX_AGE: '0' })).toMatchObject({ cached: 0, requests: 3 });
    await run('enrich in.csv -o out.csv --fields basic', UNPACED);
    service.sent();
    expect(await estimate('--fields basic')).toMatchObject({ cached: 5, requests: 0, minutes: 0, days: 0 });
    expect((await run('enrich in.csv -o again.csv --fields basic', UNPACED)).stderr).toContain(
      '0 requests sent',
    );
    expect(service.sent()).toBe(0);
    // Headers may select another account, whose responses differ.
    expect(await estimate('-H X-Team:a')).toMatchObject({ cached: 0, requests: 3 });
    await run('enrich in.csv -o a.csv -H X-Team:a', UNPACED);
    expect(await estimate('-H X-Team:a')).toMatchObject({ cached: 3, requests: 0 });
  });

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

  it('reports malformed rows and an output that exists', async () => {
    writeFileSync(path('in.csv'), `${CSV}a,b,c\nx,y\n1,2,3,4\n`);
    const { exit, stdout, stderr } = await run('enrich in.csv --dry-run');
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain('line 7 has 3 fields, the header has 2; line 9 has 4 fields');
    writeFileSync(path('in.csv'), CSV);
    writeFileSync(path('out.csv'), '');
    expect((await run('enrich in.csv -o out.csv --dry-run')).exit).toBe(2);
  });

  it('names the first ten skipped rows, however many there are', async () => {
    writeFileSync(path('in.csv'), `name,city\n${',x\n'.repeat(2500)}`);
    const { stdout } = await run('enrich in.csv --dry-run');
    expect(stdout).toContain(
      'skipped   2,500 rows without a name, city or id: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2,490 more\n',
    );
    expect(stdout).toContain('time      none\n');
  });

  it('needs neither service nor key, and reads stdin', async () => {
    const { exit, stdout } = await service.run(['enrich', '-', '--dry-run'], {
      stdin: CSV,
      env: { RESTAURANT_API_KEY: '', RESTAURANT_BASE_URL: '' },
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('rows      5 in stdin\n');
    expect(stdout).toContain('requests  3\n');
    expect(stdout).toContain('skipped   1 row without a name, city or id: line 5\n');
    expect(stdout).toContain('time      less than a minute\n');
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

  it('names the row of a spreadsheet if cells before it have line breaks', async () => {
    writeFileSync(path('in.csv'), 'sep=;\nname;city\n"two\nlines";x\n;x\na;b;c\n');
    const { stderr } = await run('enrich in.csv --dry-run');
    expect(stderr).toContain('in.csv: line 6 (row 4) has 3 fields');
    writeFileSync(path('in.csv'), 'name,city\n"two\nlines",x\n,x\n');
    const { stdout } = await run('enrich in.csv --dry-run');
    expect(stdout).toContain('skipped   1 row without a name, city or id: line 4 (row 3)\n');
  });
});

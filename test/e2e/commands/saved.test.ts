import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { restaurant, startRestaurant } from '../../helpers/process.ts';
import { type RunOptions, runCli } from '../../helpers/program.ts';
import { FREE, useService } from '../../helpers/service.ts';
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
let data = '';
let env: Record<string, string> = {};
beforeEach(() => {
  data = tempFolder();
  env = { ...service.env, RESTAURANT_DATA_DIR: data, RESTAURANT_STATE_DIR: tempFolder() };
  for (const one of menu) one.grade = 'B';
  service.sent();
});
const run = (words: readonly string[], options: RunOptions = {}) =>
  runCli(words, { ...options, env: { ...env, ...options.env } });
const json = async (...words: string[]) => JSON.parse((await run([...words, '--json'])).stdout);
const search = () => run(['find', 'Place', '--city', 'SF']);
const gradeOf = (index: number, grade: string) => {
  const one = menu[index];
  if (one !== undefined) one.grade = grade;
};
/** [name, field, before, after] of each recorded change. */
const recorded = async (...words: string[]) =>
  (await json('changes', ...words)).changes.map(({ name, field, before, after }: Record<string, unknown>) => [
    name,
    field,
    before,
    after,
  ]);
const REFRESH = ['saved', '--refresh'];

describe('save', () => {
  it('stores rows of the last search without a request, and any other restaurant after one', async () => {
    await search();
    service.sent();
    expect(await run(['save', '1', 'Place two', '--note', ' try it '])).toEqual({
      exit: 0,
      stdout: 'Place one is saved\nPlace two is saved\n',
      stderr: '',
    });
    expect(service.sent()).toBe(0);
    env.RESTAURANT_STATE_DIR = tempFolder();
    expect((await run(['save', 'aaaaaa-three'])).stdout).toBe('Place three is saved\n');
    expect(service.sent()).toBe(1);
    const { results } = await json('saved');
    expect(results).toMatchObject([
      { service_id: 'aaaaaa-one', name: 'Place one', grade: 'B', note: 'try it', checked_at: null },
      { service_id: 'aaaaaa-two', cuisine_tags: ['thai'], note: 'try it' },
      {
        service_id: 'aaaaaa-three',
        name: 'Place three',
        note: null,
        checked_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(service.sent()).toBe(0);
  });

  it('keeps what is stored when a restaurant is saved again, and changes its note', async () => {
    await search();
    await run(['save', '1', '--note', 'first']);
    gradeOf(0, 'C');
    await search();
    await run(['save', '1']);
    expect((await json('saved')).results).toMatchObject([{ grade: 'B', note: 'first' }]);
    await run(['save', '1', '--note', 'second']);
    expect((await json('saved')).results).toMatchObject([{ grade: 'B', note: 'second' }]);
    await run(['save', '1', '--note', '']);
    expect((await json('saved')).results).toMatchObject([{ note: null }]);
  });

  it('stores details that are in the cache', async () => {
    const cached = { ...env, RESTAURANT_MAX_AGE: '1h', RESTAURANT_CACHE_DIR: tempFolder() };
    await run(['lookup', 'aaaaaa-one'], { env: cached });
    service.sent();
    await run(['save', 'aaaaaa-one'], { env: cached });
    expect(service.sent()).toBe(0);
    expect((await json('saved')).results).toMatchObject([
      { name: 'Place one', price_level: expect.any(String) },
    ]);
  });

  it('reports a restaurant that does not exist, and saves the others', async () => {
    const missing = await run(['save', 'aaaaaa-none']);
    expect([missing.exit, missing.stderr]).toEqual([3, expect.stringContaining('no restaurant aaaaaa-none')]);
    const { exit, stderr } = await run(['save', 'aaaaaa-none', 'aaaaaa-one']);
    expect([exit, stderr]).toEqual([8, expect.stringContaining('1 of 2 restaurants were not saved: ')]);
    expect((await json('saved')).results).toHaveLength(1);
  });

  it('asks which one when a name matches several rows', async () => {
    await search();
    const { exit, stderr } = await run(['save', 'plac', '--note', 'x']);
    expect([exit, stderr]).toEqual([
      2,
      "error: 3 rows match 'plac': 1, 2, 3\nhint: restaurant save 1 --note x\n",
    ]);
  });

  it('refuses a note with a key', async () => {
    const { exit, stderr } = await run(['save', '1', '--note', FREE]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('the note contains an API key')]);
  });
});

describe('saved', () => {
  beforeEach(async () => {
    await search();
    await run(['save', '1-2', '--note', 'n']);
  });

  it('prints every format, and a table without row numbers', async () => {
    const tty = { stdout: true, stderr: true, columns: 64 };
    const { stdout, stderr } = await run(['saved'], { tty, env: { NO_COLOR: '1' } });
    expect(stdout).toBe(
      'NAME       GRADE  CUISINE  NEIGHBORHOOD  ADDRESS  NOTE\nPlace one  B      thai     -             -        n\nPlace two  B      thai     -             -        n\n',
    );
    expect(stderr).toBe('2 restaurants; restaurant saved --refresh checks what changed\n');
    expect((await run(['saved'])).stdout).toMatch(
      /^aaaaaa-one\tPlace one\tB\tthai\t\tSF\t\t\t\t\tn\t\S+Z\t\n/,
    );
    expect((await run(['saved', '--columns', 'name,note', '--format', 'csv'])).stdout).toBe(
      'name,note\nPlace one,n\nPlace two,n\n',
    );
    expect((await run(['saved', '--format', 'html'])).stdout).toContain('<title>Saved restaurants');
    expect((await run(['saved', '--jq', '.results[].name'])).stdout).toBe('Place one\nPlace two\n');
  });

  it('needs no service, and shows those of the demo only with --demo', async () => {
    const offline = { RESTAURANT_BASE_URL: undefined, RESTAURANT_API_KEY: undefined } as never;
    expect((await run(['saved', '--columns', 'name'], { env: offline })).stdout).toBe(
      'Place one\nPlace two\n',
    );
    await run(['find', 'Nopa', '--city', 'SF', '--demo'], { env: offline });
    await run(['save', '1', '--demo'], { env: offline });
    expect((await run(['saved', '--demo', '--columns', 'name'], { env: offline })).stdout).toBe('Nopa\n');
    expect((await run(['saved', '--columns', 'name'])).stdout).toBe('Place one\nPlace two\n');
  });

  it.each(['--exit-code', '--fields=basic'])('refuses %s without --refresh', async (option) => {
    const { exit, stderr } = await run(['saved', option]);
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/needs --refresh\nhint: restaurant saved .*--refresh/),
    ]);
  });

  it('leaves a damaged file alone', async () => {
    writeFileSync(join(data, 'saved.json'), '{');
    for (const words of [['saved'], ['save', '1'], ['unsave', 'x'], ['changes'], REFRESH]) {
      const { exit, stdout, stderr } = await run(words);
      expect([exit, stdout]).toEqual([9, '']);
      expect(stderr).toMatch(
        /^error: cannot use .*saved\.json: it is not JSON\nhint: correct it, or start over: mv /,
      );
    }
    expect(readFileSync(join(data, 'saved.json'), 'utf8')).toBe('{');
  });
});

describe('unsave', () => {
  beforeEach(async () => {
    await search();
    await run(['save', '1-3']);
  });

  it('removes restaurants by id, its beginning, or name', async () => {
    expect(await json('unsave', 'aaaaaa-o', 'place TWO')).toEqual({
      removed: [
        { id: 'aaaaaa-one', name: 'Place one' },
        { id: 'aaaaaa-two', name: 'Place two' },
      ],
    });
    expect((await run(['saved', '--columns', 'name'])).stdout).toBe('Place three\n');
  });

  it('removes nothing when a word matches several restaurants or none', async () => {
    const several = await run(['unsave', 'aaaaaa-one', 'aaaaaa']);
    expect([several.exit, several.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: 'aaaaaa' matches several saved restaurants: Place one \(aaaaaa-one\), .* and 1 more\n/,
      ),
    ]);
    const none = await run(['unsave', 'Nopa']);
    expect([none.exit, none.stderr]).toEqual([
      3,
      "error: 'Nopa' is not saved\nhint: to list them: restaurant saved\n",
    ]);
    expect((await json('saved')).results).toHaveLength(3);
  });
});

describe('saved --refresh', () => {
  beforeEach(async () => {
    await search();
    await run(['save', '1-3']);
    service.sent();
  });

  it('prints and records what changed since the last look, once', async () => {
    gradeOf(0, 'C');
    const { exit, stdout, stderr } = await run(REFRESH);
    expect([exit, stderr, service.sent()]).toEqual([0, '', 3]);
    expect(stdout).toMatch(/^\S+Z\taaaaaa-one\tPlace one\tgrade\tB\tC\n$/);
    expect(await run([...REFRESH, '--exit-code'])).toEqual({ exit: 0, stdout: '', stderr: '' });
    gradeOf(1, 'A');
    expect(await run([...REFRESH, '--exit-code', '--json'])).toMatchObject({
      exit: 10,
      stdout: expect.stringMatching(
        /^\{"changes":\[\{"when":"[^"]+","id":"aaaaaa-two",.*"before":"B","after":"A"\}\]\}\n$/,
      ),
      stderr: '',
    });
    expect(await recorded()).toEqual([
      ['Place one', 'grade', 'B', 'C'],
      ['Place two', 'grade', 'B', 'A'],
    ]);
    expect((await json('saved')).results.map(({ grade }: { grade: string }) => grade)).toEqual([
      'C',
      'A',
      'B',
    ]);
  });

  it('prints nothing for cron when nothing changed, and a note at a terminal', async () => {
    expect(await run([...REFRESH, '--quiet'])).toEqual({ exit: 0, stdout: '', stderr: '' });
    const tty = { stdout: true, stderr: true, columns: 100 };
    expect(await run(REFRESH, { tty, env: { NO_COLOR: '1' } })).toEqual({
      exit: 0,
      stdout: '',
      stderr: 'nothing changed in 3 restaurants\n',
    });
    gradeOf(0, 'C');
    expect((await run(REFRESH, { tty, env: { NO_COLOR: '1' } })).stdout).toMatch(
      /^WHEN +NAME +FIELD +BEFORE +AFTER +ID\n\w{3} \d\d:\d\d +Place one +grade +B +C +aaaaaa-one\n$/,
    );
  });

  it('compares only shared fields after a change of level', async () => {
    await run([...REFRESH, '--fields', 'premium']);
    expect(await run(REFRESH)).toMatchObject({ exit: 0, stdout: '' });
    gradeOf(2, 'A');
    await run([...REFRESH, '--fields', 'standard']);
    expect(await recorded()).toEqual([['Place three', 'grade', 'B', 'A']]);
  });

  it('records the others when a lookup fails, and reports it', async () => {
    const file = join(data, 'saved.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('aaaaaa-two', 'bbbbbb-two'));
    gradeOf(0, 'F');
    const { exit, stdout, stderr } = await run(REFRESH);
    expect([exit, stdout.split('\t')[2]]).toEqual([8, 'Place one']);
    expect(stderr).toMatch(/^error: 1 of 3 lookups failed: no restaurant bbbbbb-two/);
  });

  it('records what it received before the quota ended the run, and continues with the others', async () => {
    const quota = { RESTAURANT_PER_DAY: '5', RESTAURANT_STATE_DIR: tempFolder() };
    for (const index of [0, 1, 2]) gradeOf(index, 'C');
    expect((await run(REFRESH, { env: quota })).exit).toBe(0);
    for (const index of [0, 1, 2]) gradeOf(index, 'D');
    const stopped = await run(REFRESH, { env: quota });
    expect([stopped.exit, stopped.stdout.split('\n').length - 1]).toEqual([5, 2]);
    expect(stopped.stderr).toMatch(/^error: the quota of 5 requests a day is used up until \d{4}-\S+Z\n/);
    const onTerminal = await run(REFRESH, { env: quota, tty: { stderr: true } });
    expect(onTerminal.stderr).toMatch(/ is used up until \w{3} \d\d:\d\d\s/);
    const [first] = await recorded('Place three');
    expect((await run(REFRESH)).stdout.split('\t')[2]).toBe(first[0]);
    expect(await recorded()).toHaveLength(6);
  });

  it('leaves restaurants of another service out, and says so', async () => {
    const env = { RESTAURANT_BASE_URL: 'http://127.0.0.1:9' };
    expect(await run(REFRESH, { env })).toEqual({
      exit: 0,
      stdout: '',
      stderr: expect.stringMatching(/^warning: 3 restaurants of another service: /),
    });
  });

  it('loses no change and records none twice when it is killed at any moment', async () => {
    const times = fewOrAll(4, 60);
    const start = () => startRestaurant(REFRESH, { env });
    const base = Date.now();
    await start().ended;
    const length = Date.now() - base;
    for (let turn = 0; turn < times; turn += 1) {
      for (const index of [0, 1, 2]) gradeOf(index, `G${turn}`);
      const running = start();
      // Most of the time, the process starts: what matters is the end.
      await sleep(length * (0.6 + Math.random() * 0.5));
      running.process.kill('SIGKILL');
      await running.ended;
    }
    for (const index of [0, 1, 2]) gradeOf(index, 'Z');
    expect((await start().ended).exit).toBe(0);
    for (const name of ['one', 'two', 'three']) {
      const steps: string[][] = await recorded(`aaaaaa-${name}`);
      expect(steps.map(([, , before]) => before)).toEqual([
        'B',
        ...steps.slice(0, -1).map(([, , , after]) => after),
      ]);
      expect(steps.at(-1)?.[3]).toBe('Z');
    }
  }, 120_000);

  it('finds a change once when two processes look at the same time', async () => {
    gradeOf(0, 'C');
    const runs = await Promise.all([restaurant(REFRESH, { env }), restaurant(REFRESH, { env })]);
    expect(runs.map(({ exit, stderr }) => [exit, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(
      runs
        .map(({ stdout }) => stdout)
        .join('')
        .split('\n'),
    ).toHaveLength(2);
    expect(await recorded()).toHaveLength(1);
  });
});

describe('changes', () => {
  const line = (when: string, id: string, after: unknown) =>
    `${JSON.stringify({ when, id, name: `Place ${id}`, field: 'grade', before: null, after })}\n`;
  const NOW = Date.UTC(2026, 10, 23, 12);

  it('prints the record since a time, and of the named restaurants', async () => {
    writeFileSync(
      join(data, 'changes.ndjson'),
      line('2026-10-01T00:00:00.000Z', 'aaaaaa-one', 'A') +
        line('2026-11-22T00:00:00.000Z', 'aaaaaa-one', ['x', 'y']) +
        line('2026-11-23T00:00:00.000Z', 'bbbbbb-two', 1),
    );
    const ids = async (...words: string[]) =>
      (await run(['changes', '--columns', 'id,after', ...words], { now: () => NOW })).stdout;
    expect(await ids()).toBe('aaaaaa-one\tA\naaaaaa-one\tx; y\nbbbbbb-two\t1\n');
    expect(await ids('--since', '36h')).toBe('aaaaaa-one\tx; y\nbbbbbb-two\t1\n');
    expect(await ids('--since', '60d', 'aaaaaa')).toBe('aaaaaa-one\tA\naaaaaa-one\tx; y\n');
    expect(await ids('--since', '2026-11-22T12:00Z')).toBe('bbbbbb-two\t1\n');
    expect(await ids('--since', '2026-11-01', 'place aaaaaa-one')).toBe('aaaaaa-one\tx; y\n');
    expect(await ids('nothing')).toBe('');
    const wrong = await run(['changes', '--since', 'yesterday']);
    expect([wrong.exit, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("--since 'yesterday': expected a duration or a date, such as 7d or 2026-11-01"),
    ]);
    const { stdout } = await run(['changes'], {
      now: () => NOW,
      tty: { stdout: true, stderr: true, columns: 100 },
      env: { NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/\nOct \d+, 2026, \d\d:\d\d +Place aaaaaa-one +grade +- +A +aaaaaa-one\n/);
    expect(stdout).toMatch(/\n(Sun|Mon) \d\d:\d\d +Place bbbbbb-two +grade +- +1 +bbbbbb-two\n$/);
  });

  it('prints nothing when nothing is recorded, and creates no folder', async () => {
    env.RESTAURANT_DATA_DIR = join(data, 'new');
    expect(await run(['changes'])).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(await json('changes')).toEqual({ changes: [] });
    expect(existsSync(join(data, 'new'))).toBe(false);
  });
});

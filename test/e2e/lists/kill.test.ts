import { existsSync, statSync, utimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { restaurants, UNPACED, useLists } from '../../helpers/enrich.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { type Running, startRestaurant, until } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ROWS = 2000;
/** Each query is in four rows, near each other. */
const DISTINCT = ROWS / 4;
const KILLS = fewOrAll(8, 20);
const CONCURRENCY = 4;

const { service, path, read, write } = useLists({ restaurants: restaurants(60), latencyMs: 1 });

function writeList(rows: number): void {
  const lines = Array.from({ length: rows }, (_each, index) => {
    const number = (Math.floor(index / 8) * 2 + (index % 2)) % DISTINCT;
    return `Place ${number},Testville,"n ""${index}""\nx"\n`;
  });
  write('in.csv', `name,city,note\n${lines.join('')}`);
}

const sizeOf = (name: string): number => statSync(path(name), { throwIfNoEntry: false })?.size ?? 0;
/** The names of the whole lines of an answers file. */
const answered = (name: string): string[] =>
  sizeOf(name) === 0
    ? []
    : read(name)
        .split('\n')
        .slice(0, -1)
        .flatMap((line) => /"find":\{"name":"(.*?)"/.exec(line)?.[1] ?? []);

const start = (words: readonly string[]): Running =>
  startRestaurant(['enrich', ...words], {
    cwd: path(''),
    env: { ...service.env, ...UNPACED, RESTAURANT_CACHE_DIR: tempFolder() },
  });

/** Returns the names that were requested since the last call. */
let seen = 0;
function newRequests(): string[] {
  const all = service.sandbox.requests;
  const since = all.slice(seen);
  seen = all.length;
  return since.map(({ body }) => (body as { params: { arguments: { name: string } } }).params.arguments.name);
}

describe('a run that is killed', () => {
  it('loses no answer and repeats no request that was answered, whenever it is killed', async () => {
    writeList(ROWS);
    newRequests();
    const before = seen;
    expect((await start(['in.csv', '-o', 'whole.csv']).ended).exit).toBe(0);
    expect(newRequests()).toHaveLength(DISTINCT);
    const [whole, size] = [read('whole.csv'), sizeOf('whole.answers.ndjson')];

    // Most kills occur during the run, some while the program starts, or writes its view.
    const places = Array.from({ length: KILLS }, () => Math.random() * 0.95 * size);
    let kills = 0;
    for (const [turn, goal] of places.sort((a, b) => a - b).entries()) {
      const known = new Set(answered('out.answers.ndjson'));
      const run = start(['in.csv', '-o', 'out.csv']);
      if (turn % 5 === 4) await sleep(Math.random() * 100);
      else await until(() => sizeOf('out.answers.ndjson') > goal, run);
      run.process.kill('SIGKILL');
      const { exit } = await run.ended;
      expect(newRequests().filter((name) => known.has(name))).toEqual([]);
      // The last rows may be finished before the process is killed.
      if (exit === 0) break;
      expect([exit, sizeOf('out.csv')]).toEqual([null, 0]);
      kills += 1;
    }
    expect(kills).toBeGreaterThan(KILLS / 2);
    const last = await start(['in.csv', '-o', 'out.csv']).ended;
    expect([last.exit, last.stderr]).toEqual([0, expect.stringMatching(/\n2,000 rows in out\.csv: /)]);
    expect(read('out.csv')).toBe(whole);
    // Only the requests in flight at each kill are repeated.
    expect(service.sandbox.requests.length - before).toBeLessThanOrEqual(2 * DISTINCT + KILLS * CONCURRENCY);
  }, 240_000);

  it('leaves a temporary file that a run after an hour deletes', async () => {
    writeList(8);
    const [fresh, old] = ['.restaurant-0123456789abcdef.tmp', '.restaurant-fedcba9876543210.tmp'];
    for (const name of [fresh, old, '.restaurant-mine.tmp']) write(name, 'rows');
    const hours = Date.now() / 1000 - 7200;
    for (const name of [old, '.restaurant-mine.tmp']) utimesSync(path(name), hours, hours);
    const preview = await start(['in.csv', '-o', 'out.csv', '--dry-run']).ended;
    expect([preview.exit, existsSync(path(old))]).toEqual([0, true]);
    expect((await start(['in.csv', '-o', 'out.csv']).ended).exit).toBe(0);
    expect([fresh, old, '.restaurant-mine.tmp'].map((name) => existsSync(path(name)))).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('keeps a second process from its answers', async () => {
    writeList(300);
    const first = start(['in.csv', '-o', 'out.csv']);
    await until(() => sizeOf('out.answers.ndjson') > 0, first);
    first.process.kill('SIGSTOP');
    const second = await start(['in.csv', '-o', 'out.csv']).ended;
    const preview = await start(['in.csv', '-o', 'out.csv', '--dry-run']).ended;
    first.process.kill('SIGCONT');
    expect([second.exit, preview.exit]).toEqual([9, 0]);
    expect(second.stderr).toMatch(/^error: .*in use by process/);
    expect((await first.ended).exit).toBe(0);
  });
});

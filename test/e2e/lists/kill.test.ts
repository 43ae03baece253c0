import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { restaurants, UNPACED, useLists } from '../../helpers/enrich.ts';
import { type Running, startRestaurant, until } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ROWS = 2000;
/** Each query is in four rows, near each other. */
const DISTINCT = ROWS / 4;
const KILLS = 20;
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
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^(Place \d+),/gm)].map(([, name = '']) => name);

const start = (words: readonly string[], cache = path('cache')): Running =>
  startRestaurant(['enrich', ...words], {
    cwd: path(''),
    env: { ...service.env, ...UNPACED, RESTAURANT_CACHE_DIR: cache },
  });

const options = (output: string): string[] => ['in.csv', '-o', output, '--concurrency', String(CONCURRENCY)];

/** Returns the names that were requested since the last call. */
let seen = 0;
function newRequests(): string[] {
  const all = service.sandbox.requests;
  const since = all.slice(seen);
  seen = all.length;
  return since.map(({ body }) => (body as { params: { arguments: { name: string } } }).params.arguments.name);
}

describe('a run that is killed', () => {
  it('loses no row and repeats no finished row, whenever it is killed', async () => {
    writeList(ROWS);
    newRequests();
    const before = seen;
    expect((await start(options('whole.csv'), tempFolder()).ended).exit).toBe(0);
    const whole = read('whole.csv');
    expect(newRequests()).toHaveLength(DISTINCT);

    // Most kills occur during the run, some while the program starts.
    const places = Array.from({ length: KILLS }, () => Math.random() * 0.95 * whole.length);
    let kills = 0;
    for (const [turn, goal] of places.sort((a, b) => a - b).entries()) {
      const finished = new Set(namesIn(wholeRows('out.csv')));
      const run = start([...options('out.csv'), '--resume']);
      if (turn % 5 === 4) await sleep(Math.random() * 100);
      else await until(() => sizeOf('out.csv') > goal, run);
      run.process.kill('SIGKILL');
      const { exit } = await run.ended;
      expect(newRequests().filter((name) => finished.has(name))).toEqual([]);
      // The last rows may be finished before the process is killed.
      if (exit === 0) break;
      expect(exit).toBe(null);
      kills += 1;
    }
    expect(kills).toBeGreaterThan(KILLS / 2);
    const last = await start([...options('out.csv'), '--resume']).ended;
    expect([last.exit, last.stderr]).toEqual([0, expect.stringMatching(/^2,000 rows in out\.csv: /)]);
    expect(read('out.csv')).toBe(whole);
    // Only the requests in flight at each kill are repeated.
    expect(service.sandbox.requests.length - before).toBeLessThanOrEqual(2 * DISTINCT + KILLS * CONCURRENCY);
  }, 240_000);

  it('keeps a second process from its output', async () => {
    writeList(300);
    const first = start(options('out.csv'));
    await until(() => sizeOf('out.csv') > 0, first);
    first.process.kill('SIGSTOP');
    const second = await start([...options('out.csv'), '--resume']).ended;
    first.process.kill('SIGCONT');
    expect(second.exit).toBe(9);
    expect(second.stderr).toMatch(/^error: .*in use by process/);
    expect((await first.ended).exit).toBe(0);
  });
});

/** Returns the whole rows of an unfinished output. The note of each ends with a quote, before its result. */
function wholeRows(name: string): string {
  if (sizeOf(name) === 0) return '';
  const text = read(name);
  return text.slice(0, text.lastIndexOf('\n') + 1).replace(/^Place \d+,Testville,"[^\n]*\n$(?![\s\S])/m, '');
}

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Running, startRestaurant, until } from '../../helpers/process.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { restaurants, UNPACED } from '../../unit/enrich/service-data.ts';

const ROWS = 2000;
/** Each query is in four rows, near each other. */
const DISTINCT = ROWS / 4;
const KILLS = 20;
const CONCURRENCY = 4;

const service = useService({ restaurants: restaurants(60), latencyMs: 1 });
let folder = '';
beforeEach(() => {
  folder = tempFolder();
});

function writeList(rows: number): void {
  const lines = Array.from({ length: rows }, (_each, index) => {
    const number = (Math.floor(index / 8) * 2 + (index % 2)) % DISTINCT;
    return `Place ${number},Testville,"n ""${index}""\nx"\n`;
  });
  writeFileSync(path('in.csv'), `name,city,note\n${lines.join('')}`);
}

const path = (name: string): string => join(folder, name);
const sizeOf = (name: string): number => statSync(path(name), { throwIfNoEntry: false })?.size ?? 0;
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^(Place \d+),/gm)].map(([, name = '']) => name);

const start = (words: readonly string[], cache = path('cache')): Running =>
  startRestaurant(['enrich', ...words], {
    cwd: folder,
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
    const whole = readFileSync(path('whole.csv'));
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
    expect(readFileSync(path('out.csv')).equals(whole)).toBe(true);
    // Only the requests in flight at each kill are repeated.
    expect(service.sandbox.requests.length - before).toBeLessThanOrEqual(2 * DISTINCT + KILLS * CONCURRENCY);
  }, 240_000);

  it('ends at once with Ctrl-C, and prints the command that continues', async () => {
    writeList(300);
    const first = start(options('out.csv'));
    await until(() => sizeOf('out.csv') > 3000, first);
    const at = Date.now();
    first.process.kill('SIGINT');
    const { exit, stderr } = await first.ended;
    // Mostly a few milliseconds; a busy machine may need longer to end a process.
    expect(Date.now() - at).toBeLessThan(10_000);
    expect(exit).toBe(130);
    const command = /hint: continue: restaurant enrich (.*)\n/.exec(stderr)?.[1] ?? '';
    expect(command).toBe('in.csv -o out.csv --concurrency 4 --resume');
    newRequests();
    const again = await start(command.split(' ')).ended;
    expect(again.exit).toBe(0);
    expect(namesIn(readFileSync(path('out.csv'), 'utf8'))).toEqual(
      namesIn(readFileSync(path('in.csv'), 'utf8')),
    );
  });

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
  const text = readFileSync(path(name), 'utf8');
  return text.slice(0, text.lastIndexOf('\n') + 1).replace(/^Place \d+,Testville,"[^\n]*\n$(?![\s\S])/m, '');
}

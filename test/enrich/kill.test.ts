import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { useService } from '../helpers/service.ts';
import { restaurants, UNPACED } from './service-data.ts';

const BIN = fileURLToPath(new URL('../../bin/restaurant.js', import.meta.url));
const ROWS = 300;
const CONCURRENCY = 4;

const service = useService({ restaurants: restaurants(60), latencyMs: 5 });
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(service.home, 'kill-'));
  const rows = Array.from(
    { length: ROWS },
    (_each, place) => `Place ${(place * 7) % 200},Testville,"n ""${place}""\nx"`,
  );
  writeFileSync(path('in.csv'), `name,city,note\n${rows.join('\n')}\n`);
});

const path = (name: string): string => join(folder, name);
const sizeOf = (name: string): number => statSync(path(name), { throwIfNoEntry: false })?.size ?? 0;
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^(Place \d+),/gm)].map(([, name = '']) => name);

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ exit: number | null; stderr: string }>;
}

/** Starts the real program. The cache is a new one each time, so that only the output can know what was answered. */
function start(words: readonly string[]): Run {
  const child = spawn(process.execPath, [BIN, 'enrich', ...words], {
    cwd: folder,
    env: {
      ...process.env,
      ...service.env,
      ...UNPACED,
      RESTAURANT_CACHE_DIR: mkdtempSync(join(folder, 'cache-')),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return { child, ended: once(child, 'close').then(([exit]) => ({ exit, stderr })) };
}

const options = (output: string): string[] => ['in.csv', '-o', output, '--concurrency', String(CONCURRENCY)];

/** Names that were asked for since the last call. */
let seen = 0;
function asked(): string[] {
  const all = service.sandbox.requests;
  const since = all.slice(seen);
  seen = all.length;
  return since.map(({ body }) => (body as { params: { arguments: { name: string } } }).params.arguments.name);
}

describe('a run that is killed', () => {
  it('loses no row and asks no finished row again, at whatever moment it is killed', async () => {
    expect((await start(options('whole.csv')).ended).exit).toBe(0);
    const whole = readFileSync(path('whole.csv'));
    expect(asked()).toHaveLength(200);

    let kills = 0;
    for (let goal = 0; sizeOf('out.csv') < whole.length && kills < 5; kills += 1) {
      goal = sizeOf('out.csv') + Math.floor(Math.random() * (whole.length / 8));
      const finished = new Set(
        namesIn(sizeOf('out.csv') === 0 ? '' : completeRows(readFileSync(path('out.csv'), 'utf8'))),
      );
      const { child, ended } = start([...options('out.csv'), '--resume']);
      let open = true;
      ended.then(() => {
        open = false;
      });
      while (open && sizeOf('out.csv') <= goal) await sleep(1);
      child.kill('SIGKILL');
      await ended;
      expect(asked().filter((name) => finished.has(name))).toEqual([]);
    }
    const before = sizeOf('out.csv') < whole.length;
    const last = await start([...options('out.csv'), '--resume']).ended;
    expect([last.exit, kills > 2, before || kills < 5]).toEqual([0, true, true]);
    expect(readFileSync(path('out.csv')).equals(whole)).toBe(true);
    expect(service.sandbox.requests.length).toBeLessThanOrEqual(400 + kills * CONCURRENCY);
  });

  it('ends at once with Ctrl-C, and says how it goes on', async () => {
    const { child, ended } = start(options('out.csv'));
    while (sizeOf('out.csv') < 3000) await sleep(2);
    const at = Date.now();
    child.kill('SIGINT');
    const { exit, stderr } = await ended;
    // Mostly a few milliseconds; a busy machine may need longer to end a process.
    expect(Date.now() - at).toBeLessThan(2000);
    expect(exit).toBe(130);
    const command = /hint: go on with: restaurant enrich (.*)\n/.exec(stderr)?.[1] ?? '';
    expect(command).toBe('in.csv --concurrency 4 -o out.csv --resume');
    asked();
    const again = await start(command.split(' ')).ended;
    expect(again.exit).toBe(0);
    expect(namesIn(readFileSync(path('out.csv'), 'utf8'))).toEqual(
      namesIn(readFileSync(path('in.csv'), 'utf8')),
    );
  });

  it('keeps a second process from its output', async () => {
    const first = start(options('out.csv'));
    while (sizeOf('out.csv') === 0) await sleep(2);
    const second = await start([...options('out.csv'), '--resume']).ended;
    expect(second.exit).toBe(9);
    expect(second.stderr).toMatch(/^error: .*in use by process/);
    expect((await first.ended).exit).toBe(0);
  });
});

/** Without what follows the last whole row. */
function completeRows(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1).replace(/^Place \d+,Testville,"[^\n]*\n$(?![\s\S])/m, '');
}

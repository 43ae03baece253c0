import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { KEY, type RpcRequest, useScriptedService } from '../../helpers/answers.ts';
import { restaurant, shell, startRestaurant, until } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { UNPACED } from '../../unit/enrich/service-data.ts';

const ROWS = 60;
const CONCURRENCY = 3;
const service = useScriptedService(found);
let folder = '';
let seen = 0;
beforeEach(() => {
  folder = tempFolder();
  const rows = Array.from({ length: ROWS }, (_each, index) => `Place ${index},Testville\n`);
  writeFileSync(path('in.csv'), `name,city\n${rows.join('')}`);
  seen = service.requests.length;
});

const path = (name: string): string => join(folder, name);
const read = (name = 'out.csv'): string => readFileSync(path(name), 'utf8');
const nameOf = ({ params }: RpcRequest): string => String(params.arguments?.name);

function found(request: RpcRequest, response: ServerResponse): void {
  const name = nameOf(request);
  const output = { status: 'ok', results: [{ service_id: `id-${name}`, name }], total_matches: 1 };
  const content = [{ type: 'text', text: JSON.stringify(output) }];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { content } }));
}

/** Responds to every request, and runs `act` at the request for the 30th row. */
const inTheMiddle = (act: (response: ServerResponse) => boolean | undefined) =>
  service.answer((request, response) => {
    if (nameOf(request) !== 'Place 30' || act(response) !== true) found(request, response);
  });

/** Returns the names that were requested since the test began, or since the last call. */
function newRequests(): string[] {
  const since = service.requests.slice(seen).map(nameOf);
  seen = service.requests.length;
  return since;
}

/** The environment of a run; each has a separate cache, so that only the output has the responses of earlier runs. */
const env = (): Record<string, string> => ({
  HOME: service.home,
  RESTAURANT_BASE_URL: service.url,
  RESTAURANT_API_KEY: KEY,
  RESTAURANT_CACHE_DIR: tempFolder(),
  RESTAURANT_STATE_DIR: path('state'),
  ...UNPACED,
});
const words = (...more: string[]): string[] => [
  'enrich',
  'in.csv',
  '-o',
  'out.csv',
  '--concurrency',
  String(CONCURRENCY),
  ...more,
];
const enrich = (...more: string[]) => service.run(words(...more), { cwd: folder, env: env() });

const LINE = /^Place (\d+),Testville,matched,exact,1,id-Place \1,Place \1,.*\n/;

/** Resumes a run that was stopped: only the missing rows are requested, and the output has every row. */
async function finishesWithResume(): Promise<void> {
  const finished = read()
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',', 1)[0]);
  expect(finished.length).toBeLessThan(ROWS);
  newRequests();
  service.answer(found);
  expect(await enrich('--resume')).toMatchObject({ exit: 0 });
  const names = Array.from({ length: ROWS }, (_each, index) => `Place ${index}`);
  expect(newRequests().sort()).toEqual(names.filter((name) => !finished.includes(name)).sort());
  const lines = read().split(/(?<=\n)/);
  expect(lines.slice(1).map((line) => LINE.exec(line)?.[1])).toEqual(names.map((_name, index) => `${index}`));
}

describe('a run that is stopped in the middle', () => {
  it('by a rejected key ends at once with 4, and loses nothing', async () => {
    inTheMiddle((response) => {
      response.writeHead(401).end();
      return true;
    });
    const { exit, stderr } = await enrich();
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /^\d+ of 60 rows in out\.csv: .*\nerror: .*401.*\nhint: .*; then continue: restaurant enrich in\.csv -o out\.csv .*--resume\n$/,
    );
    expect(newRequests().length).toBeLessThanOrEqual(30 + CONCURRENCY);
    expect(read().split('\n').length).toBeGreaterThan(30 - CONCURRENCY);
    await finishesWithResume();
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s ends with %i, and loses nothing', async (signal, code) => {
    const run = startRestaurant(words(), { cwd: folder, env: env() });
    inTheMiddle(() => run.process.kill(signal));
    const { exit, stderr } = await run.ended;
    expect(exit).toBe(code);
    expect(stderr).toMatch(
      new RegExp(
        `^\\d+ of 60 rows in out\\.csv: .*\\nerror: interrupted by ${signal}\\nhint: continue: restaurant enrich .*--resume\\n$`,
      ),
    );
    await finishesWithResume();
  });

  it('by Ctrl-C twice ends at once, and loses nothing', async () => {
    const run = startRestaurant(words(), { cwd: folder, env: env() });
    inTheMiddle(() => run.process.kill('SIGINT') && run.process.kill('SIGINT'));
    expect((await run.ended).exit).toBe(130);
    await finishesWithResume();
  });

  it('by a full disk ends with 9, and loses nothing', async () => {
    // No file may be larger than 2 KiB, which ends a write as a full disk does.
    const line = `ulimit -f 2; restaurant ${words().join(' ')}`;
    const { exit, stderr } = await shell(line, { cwd: folder, env: env() });
    expect(exit).toBe(9);
    expect(stderr).toMatch(
      /^\d+ of 60 rows in out\.csv: .*\nerror: cannot write .*out\.csv: .*\nhint: .*--resume\n$/,
    );
    await finishesWithResume();
  });
});

describe('an input that vanishes', () => {
  it('during the run is read to its end', async () => {
    inTheMiddle(() => {
      rmSync(path('in.csv'));
      return undefined;
    });
    expect(await enrich()).toMatchObject({ exit: 0 });
    expect(read().split('\n')).toHaveLength(ROWS + 2);
    const { exit, stderr } = await enrich('--resume');
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: cannot read in\.csv: no such file or folder\nhint: restaurant enrich /),
    ]);
    expect(read().split('\n')).toHaveLength(ROWS + 2);
  });

  it('is reported when it is truncated during the run, and not mistaken for a shorter one', async () => {
    const rows = Array.from(
      { length: 700 },
      (_each, index) => `Place ${index},Testville,${'-'.repeat(100)}\n`,
    );
    writeFileSync(path('in.csv'), `name,city,note\n${rows.join('')}`);
    inTheMiddle(() => {
      truncateSync(path('in.csv'), 50);
      return undefined;
    });
    const { exit, stderr } = await enrich();
    expect([exit, stderr]).toEqual([
      9,
      expect.stringContaining('error: cannot read in.csv: it was truncated while it was read\n'),
    ]);
    expect(stderr).toContain('of 700 rows in out.csv');
  });
});

describe('two processes at once', () => {
  it('send no more per minute together than the quota', async () => {
    const own = env();
    const runs = ['a.csv', 'b.csv'].map((output) =>
      startRestaurant(
        ['enrich', 'in.csv', '-o', output, '--per-minute', '40', '--progress', 'json', '--max-age', '0'],
        { cwd: folder, env: own },
      ),
    );
    // Each reports that it waits; granted requests may still be on their way to the service then.
    await Promise.all(runs.map((run) => run.printed('"why":"the quota per minute is used up"')));
    let last = { sent: 0, at: performance.now() };
    const isQuiet = (): boolean => {
      const sent = service.requests.length;
      if (sent !== last.sent) last = { sent, at: performance.now() };
      return performance.now() - last.at > 1000;
    };
    await Promise.all(runs.map((run) => until(isQuiet, run)));
    for (const run of runs) run.process.kill('SIGINT');
    expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ exit }) => exit)).toEqual([130, 130]);
    // A grant that a busy machine delays is not used; a new one is requested.
    const sent = newRequests().length;
    expect(sent).toBeLessThanOrEqual(40);
    expect(sent).toBeGreaterThan(30);
  });
});

describe('an output that cannot be written', () => {
  it('is reported before the first request', async () => {
    for (const output of ['/proc/out.csv', 'none/out.csv', '/dev/full/out.csv']) {
      const { exit, stderr } = await restaurant(['enrich', 'in.csv', '-o', output], {
        cwd: folder,
        env: env(),
      });
      expect([output, exit, stderr]).toEqual([
        output,
        9,
        expect.stringMatching(/^error: cannot .*\nhint: .*\n$/),
      ]);
    }
    expect(newRequests()).toEqual([]);
  });
});

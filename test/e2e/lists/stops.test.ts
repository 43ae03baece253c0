import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { found, KEY, type Reply, type RpcRequest, useScriptedService } from '../../helpers/answers.ts';
import { listOf, table, UNPACED, useFolder } from '../../helpers/enrich.ts';
import { ON_WINDOWS, shell, startRestaurant } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const CONCURRENCY = 4;
const NAMES = Array.from({ length: 60 }, (_each, index) => `Place ${index}`);
const nameOf = ({ params }: RpcRequest): string => String(params.arguments?.name);
const foundByName: Reply = (request, response) => {
  const name = nameOf(request);
  found({ service_id: `id-${name}`, name })(request, response);
};
const service = useScriptedService(foundByName);
const { path, read, write } = useFolder();
let seen = 0;
beforeEach(() => {
  write('in.csv', listOf(NAMES.length));
  seen = service.requests.length;
});

/** Responds to every request, and runs `act` at the request for the 30th row. */
const inTheMiddle = (act: (response: ServerResponse) => boolean | undefined) =>
  service.answer((request, response) => {
    if (nameOf(request) !== 'Place 30' || act(response) !== true) foundByName(request, response);
  });

/** Returns the names that were requested since the test began, or since the last call. */
function newRequests(): string[] {
  const since = service.requests.slice(seen).map(nameOf);
  seen = service.requests.length;
  return since;
}

/** The environment of a run; each has a separate cache, so that only the answers file has the responses of earlier runs. */
const env = (): Record<string, string> => ({
  HOME: service.home,
  RESTAURANT_BASE_URL: service.url,
  RESTAURANT_API_KEY: KEY,
  RESTAURANT_CACHE_DIR: tempFolder(),
  RESTAURANT_STATE_DIR: path('state'),
  ...UNPACED,
});
const words = () => ['enrich', 'in.csv', '-o', 'out.csv'];
const enrich = (more: Record<string, string> = {}) =>
  service.run(words(), { cwd: path(''), env: { ...env(), ...more } });
/** Identifies the requests of the second run: one of the stopped run may still arrive. */
const TRACE = `00-${'2'.repeat(32)}-${'2'.repeat(16)}-01`;
const start = () => startRestaurant(words(), { cwd: path(''), env: env() });
const named = (status: string): string[] =>
  table(read('out.csv')).flatMap(({ name = '', restaurant_status }) =>
    restaurant_status === status ? [name] : [],
  );

/** The same command after a stop: only the missing rows are requested, and the output has every row. */
async function goesOn(answered: readonly string[] = named('matched')): Promise<void> {
  expect(answered.length).toBeLessThan(NAMES.length);
  newRequests();
  service.answer(foundByName);
  expect(await enrich({ TRACEPARENT: TRACE })).toMatchObject({ exit: 0 });
  const own = service.requests.slice(seen).filter(({ headers }) => headers.traceparent === TRACE);
  expect(own.map(nameOf).sort()).toEqual(NAMES.filter((name) => !answered.includes(name)).sort());
  expect(named('matched')).toEqual(NAMES);
}

/** The names with an answer, which the answers file keeps even if no view was written. */
const answeredNames = (): string[] =>
  read('out.answers.ndjson')
    .split('\n')
    .flatMap((line) => /"find":\{"name":"(.*?)"/.exec(line)?.[1] ?? []);

describe('a run that is stopped in the middle', () => {
  it('by a rejected key ends at once with 4, and loses nothing', async () => {
    inTheMiddle((response) => {
      response.writeHead(401).end();
      return true;
    });
    const { exit, stderr } = await enrich();
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /\n60 rows in out\.csv: \d+ matched, .* \d+ pending, .*\nerror: .*401.*\nhint: .*; then continue: restaurant enrich in\.csv -o out\.csv\n$/,
    );
    expect(newRequests().length).toBeLessThanOrEqual(30 + CONCURRENCY);
    expect(named('matched').length).toBeGreaterThan(30 - CONCURRENCY);
    expect(named('matched').length + named('pending').length).toBe(NAMES.length);
    await goesOn();
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('by %s ends with %i, and loses nothing', async (signal, code) => {
    const run = start();
    inTheMiddle(() => run.process.kill(signal));
    const { exit, stderr } = await run.ended;
    expect(exit).toBe(code);
    expect(stderr).toMatch(
      new RegExp(
        `\\nwriting out\\.csv; press again to skip\\n60 rows in out\\.csv: .*pending.*\\nerror: interrupted( by ${signal})?\\nhint: continue: restaurant enrich in\\.csv -o out\\.csv\\n$`,
      ),
    );
    await goesOn();
  });

  it('by Ctrl-C twice ends at once, and loses nothing', async () => {
    const run = start();
    inTheMiddle(() => run.process.kill('SIGINT') && run.process.kill('SIGINT'));
    expect((await run.ended).exit).toBe(130);
    await goesOn(answeredNames());
  });

  it('by a full disk ends with 9, and loses nothing', async () => {
    // No file may be larger than 2 KiB, which ends a write as a full disk does.
    const line = `ulimit -f 2; restaurant ${words().join(' ')}`;
    const { exit, stderr } = await shell(line, { cwd: path(''), env: env() });
    expect(exit).toBe(9);
    expect(stderr).toMatch(/\nerror: cannot write .*out\.answers\.ndjson: .*\n/);
    expect(existsSync(path('out.csv'))).toBe(false);
    newRequests();
    service.answer(foundByName);
    expect(await enrich()).toMatchObject({ exit: 0 });
    expect(named('matched')).toEqual(NAMES);
    expect(newRequests().length).toBeLessThan(NAMES.length);
  });
});

describe('an input that vanishes', () => {
  it('during the run was read before', async () => {
    inTheMiddle(() => {
      rmSync(path('in.csv'));
      return undefined;
    });
    expect(await enrich()).toMatchObject({ exit: 0 });
    expect(named('matched')).toEqual(NAMES);
    const { exit, stderr } = await enrich();
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: cannot read in\.csv: no such file or folder\nhint: restaurant enrich /),
    ]);
    expect(named('matched')).toEqual(NAMES);
  });
});

it.skipIf(ON_WINDOWS)('a pipe that nobody reads leaves no lock behind', async () => {
  expect(spawnSync('mkfifo', [path('pipe')]).status).toBe(0);
  const stop = new AbortController();
  const running = service.run(['enrich', 'in.csv', '-o', 'pipe', '--answers', 'known.ndjson'], {
    ...{ cwd: path(''), env: env(), signal: stop.signal },
  });
  await expect.poll(() => existsSync(path('known.ndjson.lock'))).toBe(true);
  stop.abort(new AppError('interrupted', 'interrupted by SIGINT'));
  expect(await running).toMatchObject({ exit: 130, stdout: '' });
  expect(existsSync(path('known.ndjson.lock'))).toBe(false);
});

import { rmSync, truncateSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { found, KEY, type Reply, type RpcRequest, useScriptedService } from '../../helpers/answers.ts';
import { listOf, UNPACED, useFolder } from '../../helpers/enrich.ts';
import { shell, startRestaurant } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const CONCURRENCY = 3;
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

/** The environment of a run; each has a separate cache, so that only the output has the responses of earlier runs. */
const env = (): Record<string, string> => ({
  HOME: service.home,
  RESTAURANT_BASE_URL: service.url,
  RESTAURANT_API_KEY: KEY,
  RESTAURANT_CACHE_DIR: tempFolder(),
  RESTAURANT_STATE_DIR: path('state'),
  ...UNPACED,
});
const words = (more = '') => `enrich in.csv -o out.csv --concurrency ${CONCURRENCY}${more}`.split(' ');
const enrich = (more?: string) => service.run(words(more), { cwd: path(''), env: env() });
const start = () => startRestaurant(words(), { cwd: path(''), env: env() });

const LINE = /^Place (\d+),Testville,matched,exact,1,id-Place \1,Place \1,.*\n/;

/** Resumes a run that was stopped: only the missing rows are requested, and the output has every row. */
async function finishesWithResume(): Promise<void> {
  const finished = read('out.csv')
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',', 1)[0]);
  expect(finished.length).toBeLessThan(NAMES.length);
  newRequests();
  service.answer(foundByName);
  expect(await enrich(' --resume')).toMatchObject({ exit: 0 });
  expect(newRequests().sort()).toEqual(NAMES.filter((name) => !finished.includes(name)).sort());
  const lines = read('out.csv').split(/(?<=\n)/);
  expect(lines.slice(1).map((line) => LINE.exec(line)?.[1])).toEqual(NAMES.map((_name, index) => `${index}`));
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
    expect(read('out.csv').split('\n').length).toBeGreaterThan(30 - CONCURRENCY);
    await finishesWithResume();
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
        `^\\d+ of 60 rows in out\\.csv: .*\\nerror: interrupted( by ${signal})?\\nhint: continue: restaurant enrich in\\.csv -o out\\.csv --concurrency 3 --resume\\n$`,
      ),
    );
    await finishesWithResume();
  });

  it('by Ctrl-C twice ends at once, and loses nothing', async () => {
    const run = start();
    inTheMiddle(() => run.process.kill('SIGINT') && run.process.kill('SIGINT'));
    expect((await run.ended).exit).toBe(130);
    await finishesWithResume();
  });

  it('by a full disk ends with 9, and loses nothing', async () => {
    // No file may be larger than 2 KiB, which ends a write as a full disk does.
    const line = `ulimit -f 2; restaurant ${words().join(' ')}`;
    const { exit, stderr } = await shell(line, { cwd: path(''), env: env() });
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
    expect(read('out.csv').split('\n')).toHaveLength(NAMES.length + 2);
    const { exit, stderr } = await enrich(' --resume');
    expect([exit, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: cannot read in\.csv: no such file or folder\nhint: restaurant enrich /),
    ]);
    expect(read('out.csv').split('\n')).toHaveLength(NAMES.length + 2);
  });

  it('is reported when it is truncated during the run, and not mistaken for a shorter one', async () => {
    const rows = Array.from(
      { length: 700 },
      (_each, index) => `Place ${index},Testville,${'-'.repeat(100)}\n`,
    );
    write('in.csv', `name,city,note\n${rows.join('')}`);
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

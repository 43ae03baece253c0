import { spawnSync } from 'node:child_process';
import { existsSync, utimesSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../helpers/files.ts';
import {
  BIN,
  COMMAND,
  PROGRAM,
  type ProcessResult,
  restaurant,
  start,
  startRestaurant,
} from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { httpServer } from '../../helpers/servers.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { inTerminal } from '../../helpers/terminal.ts';

const service = useService();
const FIND = ['find', 'Nopa', '--city', 'SF'];
const PROBLEM = /^error: .+\nhint: .+\n$/;
const SECRET = 'sk_service_real_and_secret_0123456789';

/** Runs the program after loading a module with this code. */
function disturbed(code: string, ...words: string[]): Promise<ProcessResult> {
  const preload = `data:text/javascript,${encodeURIComponent(code)}`;
  // The program waits for stdin meanwhile.
  return start(process.execPath, ['--import', preload, BIN, ...words], {
    env: { ...service.env, HOME: newHome().home, RESTAURANT_API_KEY: SECRET },
    holdStdin: true,
  }).ended;
}

const soon = (code: string): string => `setTimeout(() => { ${code} }, 300);`;

describe.concurrent('a bug', () => {
  it('that leaves a promise unsettled exits with 1', async () => {
    const { exit } = await disturbed(
      `import net from 'node:net';
       import timers from 'node:timers';
       net.Socket.prototype.connect = function () { return this; };
       const timer = { ref() { return this; }, unref() { return this; }, refresh() { return this; } };
       globalThis.setTimeout = timers.setTimeout = () => timer;`,
      ...FIND,
    );
    expect(exit).toBe(1);
  });

  const WAITING = ['raw', 'tools/call', '-'];
  const reported = (type: string) =>
    new RegExp(`^error: ${type}: boom.*\\nhint: this is a bug in restaurant .*; please report .*\\n$`);
  const JSON_LINE = /^\{"error":\{"code":"unexpected","message":"Error: boom .*,"retryable":false\}\}\n$/;

  /** As when a peer closes. */
  const CLOSED = /^error: the connection was closed in the middle of a response\nhint: .+\n$/;

  // Neither a stack nor the key is printed.
  it.each<[string, string, string[], number, RegExp]>([
    ['throws', soon(`throw new Error('boom ${SECRET} \\u001b[2J')`), [], 1, reported('Error')],
    ['rejects', soon(`Promise.reject(new TypeError('boom ${SECRET}'))`), [], 1, reported('TypeError')],
    ['throws no Error', soon(`throw 'boom ${SECRET}'`), [], 1, reported('string')],
    ['throws with --json', soon(`throw new Error('boom ${SECRET}')`), ['--json'], 1, JSON_LINE],
    [
      'is an assertion of the HTTP library',
      `import assert from 'node:assert'; ${soon('assert(false)')}`,
      [],
      6,
      CLOSED,
    ],
  ])('that %s prints one problem', async (_what, code, more, exit, expected) => {
    const ended = await disturbed(code, ...WAITING, ...more);
    expect(ended).toMatchObject({ exit, stdout: '', stderr: expect.stringMatching(expected) });
    expect(ended.stderr).not.toMatch(/\u001b|real_and_secret/);
  });

  it('that occurs twice, or when stderr is closed, exits with 1', async () => {
    const twice = soon(`setTimeout(() => { throw new Error('two') }); throw new Error('one')`);
    const repeated = await disturbed(twice, ...WAITING);
    expect(repeated.exit).toBe(1);
    expect(repeated.stderr).toMatch(/^$|^error: .*one.*\nhint: .+\n$/);
    const mute = `import { closeSync } from 'node:fs'; ${soon(`closeSync(2); throw new Error('one')`)}`;
    expect(await disturbed(mute, ...WAITING)).toMatchObject({ exit: 1, stdout: '' });
  });
});

describe.skipIf(process.platform === 'win32').concurrent('a terminal that is closed', () => {
  // In a separate session no signal reports the closed terminal: the write does.
  it.each([
    ['a search, by a signal', FIND, 'sh'],
    ['a search, when it writes', FIND, 'setsid sh'],
    ['a prompt', ['login'], 'sh'],
  ])('ends %s without an abort', async (_what, words, inner) => {
    const home = new TestFolder();
    let pending: ServerResponse | undefined;
    const server = await httpServer((_request, response) => {
      pending = response;
    });
    const line = `${inner} -c 'trap : HUP; "$0" "$@"; echo $? > code' "$0" "$@"; sleep 30`;
    const env = { ...service.env, RESTAURANT_BASE_URL: server.origin, HOME: home.path };
    const run = inTerminal('sh', ['-c', line, ...PROGRAM, ...words], { env, cwd: home.path });
    if (words === FIND) while (pending === undefined) await pause();
    else await run.shown('API key for');
    run.kill();
    await run.ended;
    // The exact time of the hangup is unknown; before it, the response is printed as usual.
    if (inner !== 'sh') await pause(300).then(() => pending?.end('<html></html>'));
    while (!existsSync(home.at('code')) || home.read('code') === '') await pause();
    expect(inner === 'sh' ? ['129\n'] : ['129\n', '7\n']).toContain(home.read('code'));
    await server.close();
  });
});

const pause = (ms = 10) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether this user may mount a file system. */
const MAY_MOUNT =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;

describe.runIf(MAY_MOUNT).concurrent('a home', () => {
  // With a separate file system.
  it.each<[string, options: string, line: string, stdout: string, stderr: RegExp]>([
    [
      'that is read-only prevents only saving',
      'ro',
      `restaurant find Nopa --city SF > /dev/shm/$$ || exit 20
       wc -l < /dev/shm/$$; rm /dev/shm/$$
       restaurant save a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53
       restaurant config set city SF`,
      '3\n',
      new RegExp(
        '^error: .*the file system is read-only\\nhint: set RESTAURANT_DATA_DIR to .+\\n' +
          'error: .*the file system is read-only\\nhint: set HOME or RESTAURANT_CONFIG_DIR to .+\\n$',
      ),
    ],
    [
      'on a full disk prevents only saving, and loses nothing',
      'size=64k,mode=700',
      `restaurant config set city SF
       dd if=/dev/zero of=filler bs=1k status=none 2> /dev/null
       restaurant find Nopa --city SF | wc -l
       restaurant config set city Bern
       code=$?
       cat .config/restaurant/config.json
       ls -A .config/restaurant
       exit $code`,
      '3\n{\n  "settings": {\n    "city": "SF"\n  }\n}\nconfig.json\n',
      /^error: .*(the disk is full|as when it is full)\nhint: .+\n$/,
    ],
    [
      'on a full disk keeps the saved restaurants',
      'size=64k,mode=700',
      `restaurant find Nopa --city SF > /dev/null; restaurant save 1
       cp .local/share/restaurant/saved-*.ndjson /dev/shm/$$
       dd if=/dev/zero of=filler bs=1k status=none 2> /dev/null
       restaurant save 2; restaurant saved --refresh
       code=$?
       cmp .local/share/restaurant/saved-*.ndjson /dev/shm/$$ && restaurant saved | cut -f 2
       rm /dev/shm/$$ filler
       restaurant save 2
       exit $code`,
      'Nopa is saved\nNopa\nNopa Corner is saved\n',
      /^(error: .*the disk is full\nhint: .+\n){2}$/,
    ],
  ])('%s', async (_title, options, line, stdout, stderr) => {
    const { home: HOME } = newHome();
    const mount = `mount -t tmpfs -o ${options} none '${HOME}' && cd '${HOME}'`;
    const script = `${mount}\nrestaurant() { ${COMMAND} "$@"; }\n${line}`;
    const env = { ...service.env, HOME, RESTAURANT_MAX_AGE: '1h' };
    const ended = await start('unshare', ['-m', 'bash', '-c', script], { env }).ended;
    expect(ended).toMatchObject({ exit: 9, stdout, stderr: expect.stringMatching(stderr) });
  });
});

describe.concurrent('an invalid home', () => {
  it.each([[''], ['here']])('%j causes no files in the current folder', async (HOME) => {
    const folder = new TestFolder();
    const options = { env: { ...service.env, HOME }, cwd: folder.path, stdin: PAID };
    const found = await restaurant(FIND, options);
    expect([found.exit, found.stderr]).toEqual([0, '']);
    const login = await restaurant(['login', '--key-stdin', '--no-verify'], options);
    expect(login).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringMatching(PROBLEM) });
    expect(folder.list()).toEqual([]);
  });
});

describe('login', () => {
  it('that is killed leaves the old or the new key, and the next login deletes temporary files', async () => {
    const home = new TestFolder();
    const config = '.config/restaurant/config.json';
    const env = { HOME: home.path, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    const key = (name: string) => `sk_service_${name.repeat(2000)}`;
    const savedKey = () => JSON.parse(home.read(config)).profiles.default.key;
    const login = (name: string) =>
      startRestaurant(['login', '--key-stdin', '--no-verify'], { env, stdin: key(name) });
    home.write(config, JSON.stringify({ profiles: { default: { key: key('a') } } }));
    // The file that a writer leaves when it is killed between its last two steps.
    home.write(`${config}.tmp-1234567890abcdef`, key('z'));
    await Promise.all(
      [80, 130, 180, 230].map(async (ms) => {
        const run = login('b');
        await pause(ms);
        run.process.kill('SIGKILL');
        await run.ended;
        expect([key('a'), key('b')]).toContain(savedKey());
      }),
    );
    // Files of a lock, which contain no key, are deleted an hour later: their process might still run.
    const leftovers = home.list('.config/restaurant').filter((name) => name.endsWith('.lock'));
    const then = Date.now() / 1000 - 7200;
    for (const name of leftovers) utimesSync(home.at(`.config/restaurant/${name}`), then, then);
    expect((await login('c').ended).exit).toBe(0);
    expect([home.list('.config/restaurant'), savedKey()]).toEqual([['config.json'], key('c')]);
  });
});

describe('a small heap', () => {
  it('is enough for a long list', async () => {
    const home = new TestFolder();
    const rows = Array.from({ length: 20_000 }, (_, row) => `Nopa,SF,${'x'.repeat(100)} ${row}\n`);
    home.write('in.csv', `name,city,note\n${rows.join('')}`);
    const words = ['--max-old-space-size=64', BIN, 'enrich', 'in.csv', '-o', 'out.csv', '--quiet'];
    const options = { env: { ...service.env, HOME: home.path }, cwd: home.path };
    expect(await start(process.execPath, words, options).ended).toMatchObject({ exit: 0, stderr: '' });
    expect(home.read('out.csv').trimEnd().split('\n')).toHaveLength(rows.length + 1);
  });
});

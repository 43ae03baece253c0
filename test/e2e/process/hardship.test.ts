import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  BIN,
  COMMAND,
  PROGRAM,
  type ProcessResult,
  restaurant,
  STANDALONE,
  shell,
  start,
  startRestaurant,
} from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { httpServer } from '../../helpers/servers.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { inTerminal } from '../../helpers/terminal.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const service = useService();
const given = () => ({
  RESTAURANT_API_KEY: PAID,
  RESTAURANT_BASE_URL: service.sandbox.baseUrl,
  RESTAURANT_MAX_AGE: '0',
});
const FIND = ['find', 'Nopa', '--city', 'SF'];
const PROBLEM = /^error: .+\nhint: .+\n$/;
const SECRET = 'sk_service_real_and_secret_0123456789';

/** Runs the program after loading a module with this code. */
function disturbed(code: string, ...words: string[]): Promise<ProcessResult> {
  const preload = `data:text/javascript,${encodeURIComponent(code)}`;
  // The program waits for stdin meanwhile.
  return start(process.execPath, ['--import', preload, BIN, ...words], {
    env: { ...given(), HOME: newHome().home, RESTAURANT_API_KEY: SECRET },
    holdStdin: true,
  }).ended;
}

const soon = (code: string): string => `setTimeout(() => { ${code} }, 300);`;

describe('a command whose promise never settles', () => {
  it('exits with 1', async () => {
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
});

describe.concurrent('an uncaught error', () => {
  const WAITING = ['raw', 'tools/call', '-'];

  it.each([
    ['an exception', soon(`throw new Error('boom ${SECRET} \\u001b[2J')`), 'Error: boom'],
    ['a rejection', soon(`Promise.reject(new TypeError('boom ${SECRET}'))`), 'TypeError: boom'],
    ['a value that is not an Error', soon(`throw 'boom ${SECRET}'`), 'string: boom'],
  ])(
    '%s: prints one line with how to report it, without a stack or the key',
    async (_what, code, message) => {
      const { exit, stdout, stderr } = await disturbed(code, ...WAITING);
      expect([exit, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(PROBLEM);
      expect(stderr).toContain(message);
      expect(stderr).toMatch(/report/);
      expect(stderr).not.toContain('real_and_secret');
      expect(stderr).not.toMatch(/\u001b|^\s+at /m);
    },
  );

  it('is printed as one line of JSON with --json', async () => {
    const { exit, stdout, stderr } = await disturbed(
      soon(`throw new Error('boom ${SECRET}')`),
      ...WAITING,
      '--json',
    );
    expect([exit, stdout]).toEqual([1, '']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'unexpected', retryable: false } });
    expect(stderr).not.toContain('real_and_secret');
  });

  it('is handled when it occurs twice or when stderr is closed', async () => {
    const repeated = await disturbed(
      soon(`setTimeout(() => { throw new Error('two') }); throw new Error('one')`),
      ...WAITING,
    );
    expect(repeated.exit).toBe(1);
    expect(repeated.stderr).toMatch(/^$|^error: .*one.*\nhint: .+\n$/);
    const mute = await disturbed(
      `import { closeSync } from 'node:fs'; ${soon(`closeSync(2); throw new Error('one')`)}`,
      ...WAITING,
    );
    expect([mute.exit, mute.stdout]).toEqual([1, '']);
  });

  it('in the HTTP library, caused by a closing peer, is reported as a network error', async () => {
    const code = `import assert from 'node:assert'; ${soon('assert(false)')}`;
    const { exit, stderr } = await disturbed(code, ...WAITING);
    expect(exit).toBe(6);
    expect(stderr).toMatch(/^error: the connection was closed in the middle of a response\nhint: .+\n$/);
  });
});

describe.skipIf(!existsSync('/dev/full')).concurrent('a full device', () => {
  it('as stdout is reported in every output format', async () => {
    const { home } = newHome();
    const forms = ['table', 'json', 'ndjson', 'csv', 'tsv', 'geojson', 'html'];
    const lines = forms.map(
      (form) => `restaurant ${FIND.join(' ')} --format ${form} > /dev/full 2> ${form}; echo ${form} $? &`,
    );
    const { stdout } = await shell(`${lines.join('\n')}\nwait`.replaceAll(/^(.*) &$/gm, '( $1 ) &'), {
      env: { ...given(), HOME: home },
      cwd: home,
    });
    expect(stdout.trim().split('\n').sort()).toEqual(forms.map((form) => `${form} 9`).sort());
    for (const form of forms) {
      const text = readFileSync(join(home, form), 'utf8');
      expect(form === 'json' ? JSON.parse(text).error.code : text).toMatch(
        form === 'json' ? /^io_error$/ : PROBLEM,
      );
      expect(text).toContain('cannot write to stdout: the disk is full');
    }
  });

  it('as stderr changes nothing else', async () => {
    const { home } = newHome();
    const { exit, stdout } = await shell(`restaurant ${FIND.join(' ')} --verbose 2> /dev/full`, {
      env: { ...given(), HOME: home },
    });
    expect([exit, stdout.split('\n').length]).toEqual([0, 4]);
  });
});

describe.skipIf(process.platform === 'win32').concurrent('a terminal that is closed', () => {
  // In a separate session no signal reports the closed terminal: the write does.
  it.each([
    ['a search, by a signal', FIND, 'sh'],
    ['a search, when it writes', FIND, 'setsid sh'],
    ['a prompt', ['login'], 'sh'],
  ])('ends %s without an abort', async (_what, words, inner) => {
    const { home } = newHome();
    let pending: ServerResponse | undefined;
    const server = await httpServer((_request, response) => {
      pending = response;
    });
    const line = `${inner} -c 'trap : HUP; "$0" "$@"; echo $? > code' "$0" "$@"; sleep 30`;
    const env = { ...given(), RESTAURANT_BASE_URL: server.origin, HOME: home };
    const run = inTerminal('sh', ['-c', line, ...PROGRAM, ...words], { env, cwd: home });
    if (words === FIND) while (pending === undefined) await pause();
    else await run.shown('API key for');
    run.kill();
    await run.ended;
    const expected = ['129\n'];
    if (inner !== 'sh') {
      // The exact time of the hangup is unknown; before it, the response is printed as usual.
      await new Promise((resolve) => setTimeout(resolve, 300));
      pending?.end('<html></html>');
      expected.push('7\n');
    }
    const code = join(home, 'code');
    while (!existsSync(code) || readFileSync(code, 'utf8') === '') await pause();
    expect(expected).toContain(readFileSync(code, 'utf8'));
    await server.close();
  });
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

/** Returns whether this user may mount a file system. */
function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(mayMount()).concurrent('a home', () => {
  /** Runs a line with a separate file system mounted at `$HOME`. */
  function mounted(options: string, line: string): Promise<ProcessResult> {
    const { home } = newHome();
    const prepare = `mount -t tmpfs -o ${options} none '${home}' && cd '${home}'`;
    const program = `restaurant() { ${COMMAND} "$@"; }`;
    return start('unshare', ['-m', 'bash', '-c', `${prepare}\n${program}\n${line}`], {
      env: { ...given(), HOME: home, RESTAURANT_MAX_AGE: '1h' },
    }).ended;
  }

  it('that is read-only prevents only saving', async () => {
    const { exit, stdout, stderr } = await mounted(
      'ro',
      `${restaurantLine(FIND)} > /dev/shm/$$ || exit 20
       wc -l < /dev/shm/$$; rm /dev/shm/$$
       ${restaurantLine(['config', 'set', 'city', 'SF'])}`,
    );
    expect([exit, stdout]).toEqual([9, '3\n']);
    expect(stderr).toMatch(/^error: .*the file system is read-only\nhint: .+\n$/);
  });

  it('on a full disk prevents only saving, and loses nothing', async () => {
    const { exit, stdout, stderr } = await mounted(
      'size=64k,mode=700',
      `${restaurantLine(['config', 'set', 'city', 'SF'])}
       dd if=/dev/zero of=filler bs=1k status=none 2> /dev/null
       ${restaurantLine(FIND)} | wc -l
       ${restaurantLine(['config', 'set', 'city', 'Bern'])}
       code=$?
       cat .config/restaurant/config.json
       ls -A .config/restaurant
       exit $code`,
    );
    expect([exit, stdout]).toEqual([9, '3\n{\n  "settings": {\n    "city": "SF"\n  }\n}\nconfig.json\n']);
    expect(stderr).toMatch(/^error: .*(the disk is full|as when it is full)\nhint: .+\n$/);
  });

  it('on a full disk keeps the saved restaurants', async () => {
    const { exit, stdout, stderr } = await mounted(
      'size=64k,mode=700',
      `${restaurantLine(FIND)} > /dev/null; restaurant save 1
       cp .local/share/restaurant/saved.json /dev/shm/$$
       dd if=/dev/zero of=filler bs=1k status=none 2> /dev/null
       restaurant save 2; restaurant saved --refresh
       code=$?
       cmp .local/share/restaurant/saved.json /dev/shm/$$ && restaurant saved | cut -f 2
       rm /dev/shm/$$ filler
       restaurant save 2
       exit $code`,
    );
    expect([exit, stdout]).toEqual([9, 'Nopa is saved\nNopa\nNopa Corner is saved\n']);
    expect(stderr).toMatch(/^(error: .*the disk is full\nhint: .+\n){2}$/);
  });
});

const restaurantLine = (words: readonly string[]): string => `restaurant ${words.join(' ')}`;

describe.runIf(process.getuid?.() === 0).concurrent('files of another user', () => {
  const NOBODY = 65534;

  it('are reported with their owner and a fix; find continues without them', async () => {
    const { home } = newHome();
    // A copy of the program that every user may read.
    const place = join(home, 'program');
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(join(ROOT, part), join(place, part), { recursive: true });
    const own = join(home, 'home');
    mkdirSync(join(own, '.config/restaurant'), { recursive: true, mode: 0o755 });
    writeFileSync(join(own, '.config/restaurant/config.json'), '{"settings":{"city":"Bern"}}', {
      mode: 0o600,
    });
    for (const path of [home, own, place]) chmodSync(path, 0o755);
    const as = (words: readonly string[]) =>
      start(
        'setpriv',
        [
          `--reuid=${NOBODY}`,
          `--regid=${NOBODY}`,
          '--clear-groups',
          process.execPath,
          join(place, 'bin/restaurant.js'),
          ...words,
        ],
        {
          env: { ...given(), HOME: own },
          cwd: '/',
        },
      ).ended;
    const [found, login, status] = await Promise.all([
      as(FIND),
      as(['login', '--key-stdin', '--no-verify']),
      as(['status']),
    ]);
    expect([found.exit, found.stdout.split('\n').length]).toEqual([0, 4]);
    expect(found.stderr).toMatch(/^warning: cannot read the config file .*: permission denied; .*\n$/);
    for (const { exit, stderr } of [login, status]) {
      expect(exit).toBe(9);
      expect(stderr).toMatch(
        /^error: .*config\.json: permission denied\nhint: set HOME or RESTAURANT_CONFIG_DIR to a folder that only you can write to\n$/,
      );
    }
    expect(readFileSync(join(own, '.config/restaurant/config.json'), 'utf8')).toBe(
      '{"settings":{"city":"Bern"}}',
    );
  });
});

describe.skipIf(process.platform === 'win32' || STANDALONE).concurrent('compiled code', () => {
  it('is stored only where no other user can write', async () => {
    const { home } = newHome();
    const env = { ...given(), HOME: home, NODE_DISABLE_COMPILE_CACHE: undefined };
    const cache = join(home, '.cache/restaurant');
    const folder = join(cache, 'code');
    mkdirSync(folder, { recursive: true });
    // A user who can rename a folder on the path can replace it.
    for (const open of [folder, cache, join(home, '.cache')]) {
      chmodSync(open, 0o777);
      expect((await restaurant(FIND, { env })).exit).toBe(0);
      expect(readdirSync(folder)).toEqual([]);
      chmodSync(open, 0o700);
    }
    expect((await restaurant(FIND, { env })).exit).toBe(0);
    expect(readdirSync(folder).length).toBeGreaterThan(0);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['half of it zeros, as after a power cut', (bytes) => bytes.fill(0, bytes.length / 2)],
    [
      'one bit wrong',
      (bytes) => bytes.fill((bytes[bytes.length >> 1] ?? 0) ^ 4, bytes.length >> 1, (bytes.length >> 1) + 1),
    ],
  ])('is not run when it is damaged: %s', async (_what, damage) => {
    const { home } = newHome();
    const env = { ...given(), HOME: home, NODE_DISABLE_COMPILE_CACHE: undefined };
    const good = await restaurant(FIND, { env });
    const folder = join(home, '.cache/restaurant/code');
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      if (statSync(path).isFile()) writeFileSync(path, damage(readFileSync(path)));
    }
    expect(good.exit).toBe(0);
    expect(await restaurant(FIND, { env })).toEqual(good);
  });

  it('is made from chunks that are CommonJS modules, which Bun compiles into the executable', () => {
    const chunks = join(ROOT, 'dist/chunks');
    const helpers = readdirSync(chunks).find((name) => name.startsWith('rolldown-runtime-')) ?? '';
    expect(Object.keys(createRequire(import.meta.url)(join(chunks, helpers)))).not.toEqual([]);
  });

  it('contains no import() of a Node module, which would fail', () => {
    const chunks = join(ROOT, 'dist/chunks');
    const importing = readdirSync(chunks).filter((name) =>
      /\bimport\([`'"]node:/.test(readFileSync(join(chunks, name), 'utf8')),
    );
    expect(importing).toEqual([]);
  });

  it('runs the commands that read a key file and clear the cache', async () => {
    const { home } = newHome();
    const env = { ...given(), HOME: home, NODE_DISABLE_COMPILE_CACHE: undefined };
    const file = join(home, 'key.txt');
    writeFileSync(file, PAID, { mode: 0o600 });
    for (let run = 0; run < 2; run += 1) {
      const login = await restaurant(['login', '--key-file', file], { env });
      expect([login.exit, login.stderr]).toEqual([0, '']);
    }
    expect(await restaurant(['cache', 'clear'], { env })).toMatchObject({ exit: 0, stderr: '' });
  });

  it('is not read from a folder that anybody could have created during the run', async () => {
    const { home } = newHome();
    chmodSync(home, 0o1777);
    const code = join(home, 'cache/code');
    const env = {
      ...given(),
      NODE_DISABLE_COMPILE_CACHE: undefined,
      RESTAURANT_CACHE_DIR: join(home, 'cache'),
    };
    expect((await restaurant(FIND, { env })).exit).toBe(0);
    expect(existsSync(code)).toBe(false);
    // The run has created the folder above it, which is private.
    expect((await restaurant(FIND, { env })).exit).toBe(0);
    expect(readdirSync(code).length).toBeGreaterThan(0);
  });

  it.skipIf(process.getuid?.() !== 0)('is not stored below a folder of another user', async () => {
    const { home } = newHome();
    chownSync(home, 65534, 65534);
    const env = { ...given(), HOME: home, NODE_DISABLE_COMPILE_CACHE: undefined };
    expect((await restaurant(FIND, { env })).exit).toBe(0);
    const folder = join(home, '.cache/restaurant/code');
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });
});

describe.concurrent('an invalid home', () => {
  it.each([[''], ['here']])('%j causes no files in the current folder', async (HOME) => {
    const { home: cwd } = newHome();
    const env = { ...given(), HOME };
    const [found, login] = await Promise.all([
      restaurant(FIND, { env, cwd }),
      restaurant(['login', '--key-stdin', '--no-verify'], { env, cwd, stdin: PAID }),
    ]);
    expect([found.exit, found.stderr]).toEqual([0, '']);
    expect([login.exit, login.stdout]).toEqual([2, '']);
    expect(login.stderr).toMatch(PROBLEM);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('login', () => {
  it('that is killed leaves the old or the new key, and the next login deletes temporary files', async () => {
    const { home } = newHome();
    const folder = join(home, '.config/restaurant');
    const env = { HOME: home, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    const key = (name: string) => `sk_service_${name.repeat(2000)}`;
    const login = (name: string) =>
      startRestaurant(['login', '--key-stdin', '--no-verify'], { env, stdin: key(name) });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const saved = { profiles: { default: { key: key('a') } } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(saved), { mode: 0o600 });
    // The file that a writer leaves when it is killed between its last two steps.
    writeFileSync(join(folder, 'config.json.tmp-1234567890abcdef'), key('z'));
    await Promise.all(
      Array.from({ length: 4 }, async (_, place) => {
        const run = login('b');
        await new Promise((resolve) => setTimeout(resolve, 80 + place * 50));
        run.process.kill('SIGKILL');
        await run.ended;
        const { profiles } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
        expect([key('a'), key('b')]).toContain(profiles.default.key);
      }),
    );
    expect((await login('c').ended).exit).toBe(0);
    expect(readdirSync(folder)).toEqual(['config.json']);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain(key('c'));
  });
});

describe('a small heap', () => {
  it('is enough for a long list', async () => {
    const { home } = newHome();
    const rows = Array.from({ length: 20_000 }, (_, row) => `Nopa,SF,${'x'.repeat(100)} ${row}`);
    writeFileSync(join(home, 'in.csv'), `name,city,note\n${rows.join('\n')}\n`);
    const words = ['--max-old-space-size=64', BIN, 'enrich', 'in.csv', '-o', 'out.csv', '--quiet'];
    const { exit, stderr } = await start(process.execPath, words, {
      env: { ...given(), HOME: home },
      cwd: home,
    }).ended;
    expect([exit, stderr]).toEqual([0, '']);
    expect(readFileSync(join(home, 'out.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(rows.length + 1);
  });
});

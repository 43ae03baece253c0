import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRestaurant } from '../helpers/process.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { RUNS } from '../helpers/runs.ts';
import { PAID, useService } from '../helpers/service.ts';
import { readTree } from '../helpers/tree.ts';

const service = useService();
const FIND = ['find', 'Nopa', '--city', 'SF'];

const mode = (path: string): number => statSync(path).mode & 0o777;

/** Returns every file and folder below a folder. */
const tree = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** A finished list without doubtful rows. */
const FINISHED = join(newHome().home, 'finished.csv');
writeFileSync(FINISHED, 'name,restaurant_status,restaurant_id\nNopa,matched,x\n');

/** Runs that need no files in the current folder. */
const OTHER_RUNS: Partial<typeof RUNS> = {
  enrich: { words: ['enrich', '-'], stdin: 'name,city\nNopa,SF\n' },
  review: { words: ['review', FINISHED, '--json'] },
  unsave: { words: ['unsave', ...(RUNS.save?.words.slice(1) ?? [])] },
};

/** Runs commands that write files, in a new home. */
async function allCommands(env: Record<string, string>, cwd: string): Promise<void> {
  const given = { RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl, ...env };
  for (const [name, { words, stdin }] of Object.entries(RUNS)) {
    const piped = OTHER_RUNS[name] ?? { words, stdin };
    const input = piped.stdin === undefined ? {} : { stdin: piped.stdin };
    const { exit, stderr } = await runCli(piped.words, { env: given, cwd, ...input });
    expect([name, exit, exit === 0 ? '' : stderr]).toEqual([name, 0, '']);
  }
}

describe('files', () => {
  it('are created in four folders of the home only', async () => {
    const { home } = newHome();
    await allCommands({ HOME: home }, home);
    const places = ['.cache', '.config', '.local/share', '.local/state'].map(
      (folder) => `${folder}/restaurant`,
    );
    const strangers = tree(home).filter(
      (path) => !places.some((place) => path.startsWith(place) || place.startsWith(`${path}/`)),
    );
    expect(strangers).toEqual([]);
    for (const place of places) expect([place, mode(join(home, place))]).toEqual([place, 0o700]);
    for (const path of tree(home)) {
      const full = join(home, path);
      if (statSync(full).isFile()) expect([path, mode(full)]).toEqual([path, 0o600]);
    }
  });

  it('follow the XDG variables, unless empty or relative, and RESTAURANT_ variables before them', async () => {
    const { home } = newHome();
    const { home: elsewhere } = newHome();
    const { home: cwd } = newHome();
    const xdg = {
      cache: 'XDG_CACHE_HOME',
      config: 'XDG_CONFIG_HOME',
      data: 'XDG_DATA_HOME',
      state: 'XDG_STATE_HOME',
    };
    const there = Object.fromEntries(
      Object.entries(xdg).map(([what, name]) => [name, join(elsewhere, what)]),
    );
    await allCommands({ HOME: home, ...there }, cwd);
    expect(tree(home)).toEqual([]);
    expect(readdirSync(elsewhere)).toEqual(Object.keys(xdg));
    for (const what of Object.keys(xdg)) {
      expect(readdirSync(join(elsewhere, what))).toEqual(['restaurant']);
    }
    for (const value of ['', 'relative']) {
      const wrong = Object.fromEntries(Object.values(xdg).map((name) => [name, value]));
      await allCommands({ HOME: home, ...wrong }, cwd);
      expect(tree(cwd)).toEqual([]);
      expect(readdirSync(home).sort()).toEqual(['.cache', '.config', '.local']);
    }
    const own = { RESTAURANT_CONFIG_DIR: join(cwd, 'own'), XDG_CONFIG_HOME: join(elsewhere, 'config') };
    const { stdout } = await runCli(['config', 'path'], { env: { HOME: home, ...own } });
    expect(stdout).toBe(`${join(cwd, 'own', 'config.json')}\n`);
  });

  it('are ignored when other users can write them, and keep their permissions', async () => {
    const { home, env } = newHome();
    const folder = join(home, '.config', 'restaurant');
    const file = join(folder, 'config.json');
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify({ profiles: { default: { key: PAID } } }));
    chmodSync(folder, 0o777);
    chmodSync(file, 0o666);
    const status = await runCli(['status'], { env });
    expect([status.exit, status.stdout]).toEqual([2, '']);
    expect(status.stderr).toContain(file);
    expect([mode(folder), mode(file)]).toEqual([0o777, 0o666]);
  });

  it('are not required: find works in any home with the key in the environment', async () => {
    const { home } = newHome();
    const plain = join(home, 'file');
    writeFileSync(plain, 'not a folder');
    const given = { RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    for (const [what, env, homedir] of [
      ['a device', { HOME: '/dev/null' }, () => '/dev/null'],
      ['a file', { HOME: plain }, () => plain],
      ['a folder that is not there', { HOME: join(plain, 'none') }, () => join(plain, 'none')],
      ['the system folder of processes', { HOME: '/proc' }, () => '/proc'],
      ['empty', { HOME: '' }, () => ''],
      ['relative', { HOME: 'here' }, () => 'here'],
      [
        'unknown to the system',
        { HOME: undefined },
        () => {
          throw new Error('no such user');
        },
      ],
    ] as const) {
      for (const words of [
        FIND,
        ['lookup', 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53'],
        ['status'],
        ['tools', '--demo'],
      ]) {
        const ran = await runCli(words, { env: { ...given, ...env }, homedir, cwd: home });
        expect([what, words[0], ran.exit, ran.stderr]).toEqual([what, words[0], 0, '']);
        expect(ran.stdout).not.toBe('');
      }
      const login = await runCli(['login', '--key-stdin'], {
        env: { ...given, ...env },
        homedir,
        cwd: home,
        stdin: PAID,
      });
      expect([what, [2, 9].includes(login.exit)]).toEqual([what, true]);
      expect(login.stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
    expect(readdirSync(home)).toEqual(['file']);
    expect(readFileSync(plain, 'utf8')).toBe('not a folder');
  });

  it('of state that cannot be used cause one warning', async () => {
    const { home, env } = newHome();
    const file = join(home, 'file');
    writeFileSync(file, 'not a folder');
    const ran = await runCli(FIND, {
      env: {
        ...env,
        RESTAURANT_API_KEY: PAID,
        RESTAURANT_BASE_URL: service.sandbox.baseUrl,
        RESTAURANT_STATE_DIR: file,
      },
      tty: { stdout: true, stderr: true, columns: 300 },
    });
    expect(ran.exit).toBe(0);
    expect(ran.stderr.match(/warning:.*/g)).toEqual([
      expect.stringMatching(/ not a folder; RESTAURANT_STATE_DIR=<folder> sets another folder$/),
    ]);
  });

  it('that are damaged are reported and stay unchanged; commands that do not need them work', async () => {
    const { home, env } = newHome();
    const folder = join(home, '.config', 'restaurant');
    const file = join(folder, 'config.json');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, '{"profiles": {"default": ', { mode: 0o600 });
    const before = readFileSync(file, 'utf8');
    for (const words of [
      ['status'],
      ['config', 'list'],
      ['config', 'set', 'city', 'SF'],
      ['logout'],
      ['login', '--key-stdin'],
      FIND,
    ]) {
      const { exit, stdout, stderr } = await runCli(words, { env, stdin: PAID });
      expect([words, exit, stdout]).toEqual([words, 2, '']);
      expect(stderr).toContain(file);
      expect(stderr).toMatch(/^hint: .*mv .* && restaurant login$/m);
      expect(readFileSync(file, 'utf8')).toBe(before);
    }
    for (const words of [['config', 'path'], ['help'], ['schema'], ['cache', 'path'], [...FIND, '--demo']]) {
      expect([words, (await runCli(words, { env })).exit]).toEqual([words, 0]);
    }
  });

  it('of state and cache are replaced without a message when damaged', async () => {
    const { home, env: own } = newHome();
    const env = { ...own, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    const good = await runCli(FIND, { env });
    for (const rubbish of ['', '{', '\u0000\u0001', '[]', 'null']) {
      for (const place of ['.cache/restaurant', '.local/state/restaurant']) {
        const folder = join(home, place);
        for (const path of tree(folder)) {
          if (statSync(join(folder, path)).isFile()) writeFileSync(join(folder, path), rubbish);
        }
      }
      expect(await runCli(FIND, { env })).toEqual(good);
      expect((await runCli(['lookup', '1'], { env })).exit).toBe(0);
    }
  });

  it('stay valid during twenty concurrent logins', async () => {
    const { home, env: own } = newHome();
    const env = { ...own, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    const logins = Array.from({ length: 20 }, (_, index) => {
      const words = ['login', '--key-stdin', '--no-verify', '--profile', `p${index}`];
      return startRestaurant(words, { env, stdin: `sk_service_key_number_${index}` }).ended;
    });
    for (const { exit, stderr } of await Promise.all(logins)) expect([exit, stderr]).toEqual([0, '']);
    const folder = join(home, '.config', 'restaurant');
    const { profiles } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    expect(Object.keys(profiles)).toHaveLength(20);
    for (const [name, { key }] of Object.entries<{ key: string }>(profiles)) {
      expect(key).toBe(`sk_service_key_number_${name.slice(1)}`);
    }
    expect(readdirSync(folder)).toEqual(['config.json']);
    expect(mode(join(folder, 'config.json'))).toBe(0o600);
  });
});

describe('environment variables', () => {
  it('begin with RESTAURANT_ and count as unset when empty', async () => {
    const { environment } = await readTree();
    const names = environment.flatMap(({ name }) => name.split(', '));
    const own = names.filter((name) => name.startsWith('RESTAURANT_'));
    expect(own.length).toBeGreaterThan(15);
    const known =
      /^(XDG_\w+_HOME|NO_COLOR|FORCE_COLOR|CLICOLOR_FORCE|FORCE_HYPERLINK|CI|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|ALL_PROXY|TRACE(PARENT|STATE)|BAGGAGE)$/;
    for (const name of names) expect(own.includes(name) || known.test(name)).toBe(true);
    const { home, env } = newHome();
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    const plain = await runCli(['status', '--json'], { env });
    expect(await runCli(['status', '--json'], { env: { ...empty, ...env } })).toEqual(plain);
    expect(JSON.parse(plain.stdout).files.config).toBe(join(home, '.config/restaurant/config.json'));
  });
});

describe('the sandbox', () => {
  it('prints its address first, listens on loopback only, and exits on SIGTERM and Ctrl-C', async () => {
    for (const [signal, exit] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      const { env } = newHome();
      const run = startRestaurant(['sandbox', '--port', '0'], { env });
      await run.printed('\n');
      run.process.kill(signal);
      const { stdout, stderr, exit: code } = await run.ended;
      expect([code, stderr]).toEqual([exit, '']);
      expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    }
  });

  it('is not reachable from outside', async () => {
    const { env } = newHome();
    const run = startRestaurant(['sandbox', '--port', '0', '--json'], { env });
    let first = '';
    run.process.stdout?.on('data', (chunk) => {
      first += chunk;
    });
    await run.printed('}\n');
    const port = Number(new URL(JSON.parse(first).base_url).port);
    const reached = (host: string) =>
      new Promise<boolean>((resolve) => {
        const socket = createConnection({ host, port, timeout: 1000 });
        const done = (answer: boolean) => () => {
          socket.destroy();
          resolve(answer);
        };
        socket.on('connect', done(true)).on('error', done(false)).on('timeout', done(false));
      });
    expect(await reached('127.0.0.1')).toBe(true);
    const outside = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of outside) expect([address, await reached(address)]).toEqual([address, false]);
    expect(existsSync(join(env.HOME ?? '', '.config'))).toBe(false);
    run.process.kill('SIGTERM');
    await run.ended;
  });
});

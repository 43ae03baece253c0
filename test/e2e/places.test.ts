import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restaurant } from '../helpers/process.ts';
import { newHome, type RunOptions, runCli } from '../helpers/program.ts';
import { ID } from '../helpers/runs.ts';
import { PAID, useService } from '../helpers/service.ts';

// The service requires its own protocol, so that a protocol is detected and stored.
const service = useService({ mode: 'mcp' });
const FIND = ['find', 'Nopa', '--city', 'SF', '--max-age', '0'];
const CACHED = [...FIND.slice(0, -1), '1h'];
const STATE = '.local/state/restaurant';
const DATA = '.local/share/restaurant';
const CONFIG = '.config/restaurant/config.json';

/** Returns a home in which a search was made, so that every file exists. */
async function usedHome() {
  const { home, env: own } = newHome();
  const env = { ...own, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
  const run = (words: readonly string[], more: RunOptions = {}) =>
    runCli(words, { ...more, env: { ...env, ...more.env } });
  await run(['config', 'set', 'city', 'Bern']);
  const good = await run(FIND);
  expect(good.exit).toBe(0);
  const first = (folder: string): string => {
    const [name] = readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => lstatSync(join(home, folder, path)).isFile())
      .map((path) => join(home, folder, path));
    if (name === undefined) throw new Error(`nothing in ${folder}`);
    return name;
  };
  const places = {
    config: join(home, CONFIG),
    'last find': join(home, STATE, 'last-find.json'),
    protocol: first(`${STATE}/protocol`),
    ledger: first(`${STATE}/ledger`),
    answer: first('.cache/restaurant/responses'),
  };
  return { home, env, run, good, places };
}

/** Invalid content in the place of a file. */
const CONTENTS: Readonly<Record<string, (path: string) => void>> = {
  'an empty file': (path) => writeFileSync(path, ''),
  'only a byte order mark': (path) => writeFileSync(path, '\ufeff'),
  'half of the file': (path) => truncateSync(path, Math.floor(lstatSync(path).size / 2)),
  noise: (path) =>
    writeFileSync(path, Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31) % 256))),
  '100 MB': (path) => truncateSync(path, 100_000_000),
  'JSON of another shape': (path) => writeFileSync(path, '[[null]]'),
  'a folder': (path) => {
    rmSync(path);
    mkdirSync(join(path, 'with a file in it'), { recursive: true });
  },
  'a circular link': (path) => {
    rmSync(path);
    symlinkSync(path, path);
  },
  'a link to a device': (path) => {
    rmSync(path);
    symlinkSync('/dev/zero', path);
  },
};

/** Files that make a program wait when it opens them. */
const WAITING: Readonly<Record<string, (path: string) => void>> = {
  'a named pipe': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  'a socket': (path) => {
    rmSync(path);
    // A socket file that was moved is not deleted when its server closes.
    const server = createServer().listen(`${dirname(path)}/s`);
    execFileSync('mv', [`${dirname(path)}/s`, path]);
    server.close();
  },
};

/** The warning for a config file that cannot be used. */
const IGNORED = /^warning: cannot (use|read) the config file .*config\.json: .*; its settings are ignored\n$/;

const isPlain = (path: string): boolean => existsSync(path) && lstatSync(path).isFile();

describe.each(Object.keys(CONTENTS))('%s', (what) => {
  it('in place of a state or cache file is replaced; in place of the config file is reported and left unchanged', async () => {
    const { run, good, places } = await usedHome();
    const { config, ...kept } = places;
    for (const path of Object.values(kept)) CONTENTS[what]?.(path);
    expect(await run(CACHED)).toEqual(good);
    expect((await run(['lookup', '1'])).exit).toBe(0);
    for (const [name, path] of Object.entries(kept)) {
      // A response is not cached if a folder has its path.
      expect([name, isPlain(path)]).toEqual([name, !(name === 'answer' && what === 'a folder')]);
    }

    CONTENTS[what]?.(config);
    const facts = () => {
      const { mode, size, ino } = lstatSync(config);
      return { mode: mode & ~0o777, size, ino };
    };
    const before = facts();
    expect(await run(FIND)).toEqual({ ...good, stderr: expect.stringMatching(IGNORED) });
    for (const words of [['status'], ['config', 'set', 'city', 'SF'], ['logout']]) {
      const { exit, stdout, stderr } = await run(words);
      expect([words, exit, stdout]).toEqual([words, what === 'a circular link' ? 9 : 2, '']);
      expect(stderr).toContain(config);
      expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
    expect(facts()).toEqual(before);
    expect(readdirSync(dirname(config))).toEqual(['config.json']);
  });
});

describe.skipIf(process.platform === 'win32').concurrent.each(Object.keys(WAITING))('%s', (what) => {
  it('in place of a file blocks no command', async () => {
    const { env, good, places } = await usedHome();
    for (const path of Object.values(places)) WAITING[what]?.(path);
    const ran = await restaurant(FIND, { env });
    expect(ran).toMatchObject({ ...good, stderr: expect.stringMatching(IGNORED) });
    const { config, ...kept } = places;
    for (const [name, path] of Object.entries(kept)) expect([name, isPlain(path)]).toEqual([name, true]);
    const status = await restaurant(['status'], { env });
    expect([status.exit, status.stderr]).toEqual([
      2,
      expect.stringContaining(`cannot use the config file ${config}: it is not a regular file`),
    ]);
    expect(isPlain(config)).toBe(false);
  });
});

describe.skipIf(process.platform === 'win32')('a symbolic link', () => {
  const aside = () => {
    const { home } = newHome();
    return home;
  };

  it('to a config file stays a link, and its target is written', async () => {
    const { run, places } = await usedHome();
    const dotfiles = aside();
    const target = join(dotfiles, 'restaurant.json');
    writeFileSync(target, '{"settings":{"city":"Bern"},"mine":1}', { mode: 0o600 });
    rmSync(places.config);
    symlinkSync(target, places.config);
    expect(await run(['config', 'set', 'city', 'Wien'])).toMatchObject({ exit: 0, stderr: '' });
    expect(readlinkSync(places.config)).toBe(target);
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ settings: { city: 'Wien' }, mine: 1 });
    expect(lstatSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(dotfiles)).toEqual(['restaurant.json']);
  });

  it('in the place of state, the ledger or a response is replaced, and its target is not written', async () => {
    const { run, good, places } = await usedHome();
    const { config: _, ...kept } = places;
    const folder = aside();
    for (const [name, path] of Object.entries(kept)) {
      const target = join(folder, 'precious');
      writeFileSync(target, 'precious');
      rmSync(path);
      symlinkSync(target, path);
      expect(await run(FIND)).toEqual(good);
      expect([name, readFileSync(target, 'utf8'), isPlain(path)]).toEqual([name, 'precious', true]);
    }
  });

  it('to a folder of the same user is followed', async () => {
    const { home, env } = await usedHome();
    const elsewhere = aside();
    for (const place of ['.config/restaurant', STATE, '.cache/restaurant']) {
      rmSync(join(home, place), { recursive: true });
      mkdirSync(join(elsewhere, place), { recursive: true });
      symlinkSync(join(elsewhere, place), join(home, place));
    }
    expect((await runCli(['config', 'set', 'city', 'SF'], { env })).exit).toBe(0);
    expect((await runCli(FIND, { env })).exit).toBe(0);
    expect(existsSync(join(elsewhere, CONFIG))).toBe(true);
    expect(existsSync(join(elsewhere, STATE, 'last-find.json'))).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)('to a folder of another user is not followed', async () => {
    const { home, run, places, good } = await usedHome();
    const theirs = aside();
    chownSync(theirs, 65534, 65534);
    const link = (path: string, target = theirs) => {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(target, path);
    };
    link(places.config, join(theirs, 'config.json'));
    const set = await run(['config', 'set', 'city', 'SF']);
    expect([set.exit, set.stdout]).toEqual([2, '']);
    expect(set.stderr).toMatch(
      /^error: refusing to use .*config\.json: .* belongs to user 65534\nhint: set HOME or .*\n$/,
    );
    for (const place of ['.config/restaurant', STATE, '.cache/restaurant']) link(join(home, place));
    expect(await run(FIND)).toEqual(good);
    expect((await run(['config', 'set', 'city', 'SF'])).exit).toBe(9);
    const verbose = await run([...FIND, '--verbose']);
    expect(verbose.stderr).toContain('belongs to user 65534');
    link(join(home, DATA));
    expect(await run(['save', ID])).toMatchObject({ exit: 9, stdout: '' });
    expect(readdirSync(theirs)).toEqual([]);
  });
});

describe('a clock that jumps', () => {
  const HOUR = 3_600_000;
  const NOW = Date.UTC(2026, 5, 1);

  it.each([
    ['to 1970', 0],
    ['to 2100', Date.UTC(2100, 0, 1)],
    ['back by an hour', NOW - HOUR],
    ['forward by a day', NOW + 24 * HOUR + 60_000],
  ])('%s: does not fail, and uses no response of the other time', async (_what, then) => {
    const { home, env: own } = newHome();
    const env = { ...own, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
    const at = (now: number, words: readonly string[]) => runCli(words, { env, now: () => now });
    const good = await at(NOW, CACHED);
    const used = async (now: number) =>
      JSON.parse((await at(now, ['status', '--json'])).stdout).budget.per_minute.used;
    expect([good.exit, (await used(NOW)) > 0]).toEqual([0, true]);
    service.sent();
    expect(await used(then)).toBe(0);
    expect(await at(then, CACHED)).toEqual(good);
    expect(service.sent()).toBeGreaterThan(0);
    expect(await used(then)).toBeGreaterThan(0);
    // After the clock is correct again, earlier requests still count.
    expect(await used(NOW)).toBeGreaterThan(0);
    expect(readdirSync(join(home, STATE)).filter((name) => name.includes('damaged'))).toEqual([]);
  });
});

describe('a config of a later version', () => {
  it('keeps unknown fields', async () => {
    const { run, places } = await usedHome();
    const later = {
      version: 7,
      profiles: { default: { key: PAID, scopes: ['a'] } },
      settings: { shiny: true },
      'new part': { a: [1, null] },
    };
    writeFileSync(places.config, JSON.stringify(later));
    expect((await run(['config', 'set', 'city', 'SF'])).exit).toBe(0);
    expect(
      await run(['login', '--key-stdin', '--no-verify'], { stdin: 'sk_service_demo_free' }),
    ).toMatchObject({ exit: 0 });
    expect((await run(['logout'])).exit).toBe(0);
    const { key: _, ...profile } = later.profiles.default;
    expect(JSON.parse(readFileSync(places.config, 'utf8'))).toMatchObject({
      ...later,
      profiles: { default: { scopes: profile.scopes } },
      settings: { shiny: true, city: 'SF' },
    });
  });
});

describe('a read-only file', () => {
  it.skipIf(process.platform === 'win32')('of state or cache is replaced in a writable folder', async () => {
    const { run, good, places } = await usedHome();
    for (const path of Object.values(places)) chmodSync(path, 0o400);
    expect(await run(FIND)).toEqual(good);
    expect((await run(['config', 'set', 'city', 'SF'])).exit).toBe(0);
  });
});

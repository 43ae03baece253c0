import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../helpers/files.ts';
import { filesOf } from '../helpers/leaks.ts';
import { restaurant } from '../helpers/process.ts';
import { newHome, type RunOptions, runCli } from '../helpers/program.ts';
import { PAID, useService } from '../helpers/service.ts';

// The service requires its own protocol, so that a protocol is detected and stored.
const service = useService({ mode: 'mcp' });
const FIND = ['find', 'Nopa', '--city', 'SF', '--max-age', '0'];
const CACHED = [...FIND.slice(0, -1), '1h'];
const STATE = '.local/state/restaurant';
const CONFIG = '.config/restaurant/config.json';

/** Returns a home in which a search was made, so that every file exists. */
async function usedHome() {
  const { home: path, env: own } = newHome();
  const home = new TestFolder(path);
  const env = { ...own, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
  const run = (words: readonly string[], more: RunOptions = {}) =>
    runCli(words, { ...more, env: { ...env, ...more.env } });
  await run(['config', 'set', 'city', 'Bern']);
  const good = await run(FIND);
  expect(good.exit).toBe(0);
  const first = (folder: string): string => filesOf(home.at(folder))[0] ?? '';
  const kept = {
    lastFind: home.at(STATE, 'last-find.json'),
    protocol: first(`${STATE}/protocol`),
    ledger: first(`${STATE}/ledger`),
    answer: first('.cache/restaurant/responses'),
  };
  return { home, env, run, good, config: home.at(CONFIG), kept };
}

const PRECIOUS = new TestFolder().write('precious', 'precious');

/** Replaces a file with a link. */
const linkTo = (target: string) => (path: string) => {
  rmSync(path);
  symlinkSync(target, path);
};

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
    mkdirSync(`${path}/with a file in it`, { recursive: true });
  },
  'a circular link': (path) => linkTo(path)(path),
  'a link to a device': linkTo('/dev/zero'),
  'a link to another file': linkTo(PRECIOUS),
};

/** Files that make a program wait when it opens them. */
const WAITING: Readonly<Record<string, (path: string) => void>> = {
  'a named pipe': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  'a socket': (path) => {
    rmSync(path);
    // In its folder, because the path of a socket has at most 103 characters on macOS. One that was moved remains.
    const listen = `require('net').createServer().listen('s', () => {
      require('fs').renameSync('s', process.argv[1]);
      process.exit();
    })`;
    execFileSync(process.execPath, ['-e', listen, path], { cwd: dirname(path) });
  },
};

/** The warning for a config file that cannot be used. */
const IGNORED = /^warning: cannot (use|read) the config file .*config\.json: .*; its settings are ignored\n$/;

const isPlain = (path: string): boolean => existsSync(path) && lstatSync(path).isFile();

describe.each(Object.keys(CONTENTS))('%s', (what) => {
  it('in place of a state or cache file is replaced; in place of the config file is reported and left unchanged', async () => {
    const { run, good, config, kept } = await usedHome();
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
    for (const words of [
      ['status'],
      ['config', 'list'],
      ['config', 'set', 'city', 'SF'],
      ['login', '--key-stdin', '--no-verify'],
      ['logout'],
    ]) {
      const { exit, stdout, stderr } = await run(words, { stdin: PAID });
      expect([words, exit, stdout]).toEqual([words, what === 'a circular link' ? 9 : 2, '']);
      expect(stderr).toContain(config);
      expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
    expect(facts()).toEqual(before);
    expect(new TestFolder(dirname(config)).list()).toEqual(['config.json']);
    expect(new TestFolder(dirname(PRECIOUS)).read('precious')).toBe('precious');
  });
});

describe.skipIf(process.platform === 'win32').concurrent.each(Object.keys(WAITING))('%s', (what) => {
  it('in place of a file blocks no command', async () => {
    const { env, good, config, kept } = await usedHome();
    for (const path of [config, ...Object.values(kept)]) WAITING[what]?.(path);
    const ran = await restaurant(FIND, { env });
    expect(ran).toMatchObject({ ...good, stderr: expect.stringMatching(IGNORED) });
    expect(Object.values(kept).filter((path) => !isPlain(path))).toEqual([]);
    expect(await restaurant(['status'], { env })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`cannot use the config file ${config}: it is not a regular file`),
    });
    expect(isPlain(config)).toBe(false);
  });
});

describe.skipIf(process.platform === 'win32')('a symbolic link', () => {
  it('to a folder of the same user is followed', async () => {
    const { home, run } = await usedHome();
    const elsewhere = new TestFolder();
    for (const place of ['.config/restaurant', STATE, '.cache/restaurant']) {
      rmSync(home.at(place), { recursive: true });
      mkdirSync(elsewhere.at(place), { recursive: true });
      symlinkSync(elsewhere.at(place), home.at(place));
    }
    expect((await run(['config', 'set', 'city', 'SF'])).exit).toBe(0);
    expect((await run(FIND)).exit).toBe(0);
    expect(elsewhere.list('.config/restaurant')).toEqual(['config.json']);
    expect(elsewhere.list(STATE)).toContain('last-find.json');
  });
});

it('a config of a later version keeps unknown fields', async () => {
  const { home, run } = await usedHome();
  const later = { version: 7, settings: { shiny: true }, 'new part': { a: [1, null] } };
  const profile = { scopes: ['a'] };
  home.write(CONFIG, JSON.stringify({ ...later, profiles: { default: { key: PAID, ...profile } } }));
  for (const words of [['config', 'set', 'city', 'SF'], ['login', '--key-stdin', '--no-verify'], ['logout']])
    expect((await run(words, { stdin: 'sk_service_demo_free' })).exit).toBe(0);
  expect(JSON.parse(home.read(CONFIG))).toMatchObject({
    ...later,
    profiles: { default: profile },
    settings: { shiny: true, city: 'SF' },
  });
});

it.skipIf(process.platform === 'win32')('a read-only file is replaced in a writable folder', async () => {
  const { run, good, config, kept } = await usedHome();
  for (const path of [config, ...Object.values(kept)]) chmodSync(path, 0o400);
  expect(await run(FIND)).toEqual(good);
  expect((await run(['config', 'set', 'city', 'SF'])).exit).toBe(0);
});

import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { filesOf } from '../../helpers/leaks.ts';
import { BIN, restaurant, STANDALONE } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';

const CHUNKS = fileURLToPath(new URL('../../../dist/chunks', import.meta.url));
const FIND = ['find', 'Nopa', '--city', 'SF', '--demo', '--json'];
const service = useService();
const NOBODY = 65534;
const IS_ROOT = process.getuid?.() === 0;

/** A home in which compiled code is cached. */
function newCache() {
  const { home, env } = newHome();
  const folder = join(home, '.cache/restaurant/code');
  const run = (words: readonly string[] = FIND, more: Record<string, string> = {}) =>
    restaurant(words, { env: { ...env, NODE_COMPILE_CACHE: undefined, ...more } });
  const files = () => (existsSync(folder) ? filesOf(folder) : []);
  return { home, folder, run, files };
}

describe.skipIf(process.platform === 'win32' || STANDALONE).concurrent('compiled code', () => {
  it.each(['json', 'table', 'csv'])(
    'is cached for this user only, used again, and deleted by cache clear: find as %s',
    async (format) => {
      const { folder, run, files } = newCache();
      const words = [...FIND.slice(0, -1), '--format', format];
      const first = await run(words);
      expect(first).toMatchObject({ exit: 0, stderr: '' });
      expect(files().length).toBeGreaterThan(2);
      expect(files().filter((path) => path.endsWith('.tmp'))).toEqual([]);
      expect(statSync(folder).mode & 0o077).toBe(0);
      const times = () => files().map((path) => [path, statSync(path).mtimeMs]);
      const before = times();
      expect(await run(words)).toEqual(first);
      expect(times()).toEqual(before);
      expect(await run(['cache', 'clear'])).toMatchObject({ exit: 0, stderr: '' });
      expect(readdirSync(folder)).not.toContain('find');
    },
  );

  it('is kept in the folder that NODE_COMPILE_CACHE names, as that of Node', async () => {
    const { home, run, files } = newCache();
    const named = join(home, 'named');
    const first = await run(FIND, { NODE_COMPILE_CACHE: named });
    const times = () => filesOf(named).map((path) => [path, statSync(path).mtimeMs]);
    const before = times().filter(([path]) => String(path).endsWith('.cjs.bin'));
    expect(before.length).toBeGreaterThan(2);
    expect(await run(FIND, { NODE_COMPILE_CACHE: named })).toEqual(first);
    expect(times()).toEqual(expect.arrayContaining(before));
    expect(files()).toEqual([]);
  });

  it.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['text', () => Buffer.from('not compiled code at all')],
    ['empty', () => Buffer.alloc(0)],
    ['half of it zeros, as after a power cut', (bytes) => bytes.fill(0, bytes.length / 2)],
    ['one bit wrong', (bytes) => bytes.map((byte, index) => (index === bytes.length >> 1 ? byte ^ 4 : byte))],
  ])('is not run when it is damaged: %s', async (_what, damage) => {
    const { run, files } = newCache();
    const good = await run();
    for (const path of files()) writeFileSync(path, damage(readFileSync(path)));
    expect(good.exit).toBe(0);
    expect(await run()).toEqual(good);
  });

  // A user who can rename a folder on the path can replace it.
  type Prepare = (home: string) => void;
  const open =
    (name: string): Prepare =>
    (home) =>
      chmodSync(join(home, name), 0o777);
  const give: Prepare = (home) => chownSync(home, NOBODY, NOBODY);
  it.each<[string, Prepare, Record<string, string>?]>([
    ['a code folder that others can change', open('.cache/restaurant/code')],
    ['a cache that others can change', open('.cache/restaurant')],
    ['a parent that others can change', open('.cache')],
    ['a folder below a file', () => {}, { XDG_CACHE_HOME: BIN }],
    ['no home', () => {}, { HOME: '' }],
    ['a place without folders', () => {}, { XDG_CACHE_HOME: '/proc/no/folder' }],
    ...(IS_ROOT ? [['a home of another user', give] as [string, Prepare]] : []),
  ])('is not stored in %s', async (_what, prepare, more) => {
    const { home, folder, run, files } = newCache();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    prepare(home);
    expect(await run(FIND, more)).toMatchObject({ exit: 0, stderr: '' });
    expect(files()).toEqual([]);
  });

  it('is not stored in a folder that anybody could have created during the run, but in the next', async () => {
    const { home, run, files } = newCache();
    chmodSync(home, 0o1777);
    const search = () => run(['find', 'Nopa', '--city', 'SF'], { ...service.env, HOME: home });
    expect((await search()).exit).toBe(0);
    expect(files()).toEqual([]);
    expect((await search()).exit).toBe(0);
    expect(files().length).toBeGreaterThan(0);
  });

  it.runIf(IS_ROOT)('of another user, with a second name, or behind a link is written again', async () => {
    const { home, run, files } = newCache();
    await run();
    const [foreign = '', hard = '', link = ''] = files();
    const old = ['x.cjs.bin', '.restaurant-0123456789abcdef.tmp'].map((name) => join(foreign, '..', name));
    for (const path of old) {
      writeFileSync(path, '');
      utimesSync(path, 0, 0);
    }
    chownSync(foreign, NOBODY, NOBODY);
    linkSync(hard, join(home, 'second-name'));
    renameSync(link, join(home, 'target'));
    symlinkSync(join(home, 'target'), link);
    expect((await run()).exit).toBe(0);
    for (const path of [foreign, hard, link]) {
      const stats = lstatSync(path);
      expect([stats.uid, stats.nlink, stats.isFile()]).toEqual([0, 1, true]);
    }
    // Left behind by killed runs.
    expect(old.filter((path) => existsSync(path))).toEqual([]);
  });

  it('of a command is kept apart from that of others, of help, and of words that are no command', async () => {
    const { folder, run } = newCache();
    for (const words of [['status'], ['saved', '--help'], ['nope']]) await run(words);
    const [version = ''] = readdirSync(folder);
    expect(readdirSync(join(folder, version)).toSorted()).toEqual(['other', 'status']);
  });

  it('runs the commands that read a key file', async () => {
    const { home, run } = newCache();
    writeFileSync(join(home, 'key.txt'), PAID, { mode: 0o600 });
    const words = ['login', '--key-file', join(home, 'key.txt')];
    for (let times = 0; times < 2; times += 1) {
      const login = await run(words, { RESTAURANT_BASE_URL: service.sandbox.baseUrl });
      expect([login.exit, login.stderr]).toEqual([0, '']);
    }
  });

  it('is made from chunks that are CommonJS modules, which Bun compiles into the executable', () => {
    const helpers = readdirSync(CHUNKS).find((name) => name.startsWith('rolldown-runtime-')) ?? '';
    expect(Object.keys(createRequire(import.meta.url)(join(CHUNKS, helpers)))).not.toEqual([]);
  });

  it('contains no import() of a Node module, which would fail', () => {
    const importing = readdirSync(CHUNKS).filter((name) =>
      /\bimport\([`'"]node:/.test(readFileSync(join(CHUNKS, name), 'utf8')),
    );
    expect(importing).toEqual([]);
  });
});

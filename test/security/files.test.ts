import {
  chmodSync,
  chownSync,
  constants,
  lchownSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { attempt } from '../../src/errors.ts';
import { useService } from '../helpers/service.ts';
import { restaurantInTerminal } from '../helpers/terminal.ts';
import { IS_ROOT, KEY, MALLORY, sharedFolder, subfolder, useProgram, VICTIM } from './support.ts';

const service = useService({ auth: false });
const { run, home } = useProgram(() => service.sandbox.baseUrl);
const FIND = ['find', 'Nopa', '--city', 'SF'];
const LOGIN = ['login', '--key-stdin', '--no-verify'];
const SET = ['config', 'set', 'city', 'SF'];
const LIST = 'name,city\nNopa,SF\n';
/** Names of files that would be ours in a folder of ours. */
const ENTRY = `${'a'.repeat(16)}-${'a'.repeat(64)}.json`;
const OLD = `${'a'.repeat(64)}.json`;
const CACHED = { RESTAURANT_MAX_AGE: '10m' };
const WITHOUT_SERVICE = { RESTAURANT_API_KEY: undefined, RESTAURANT_BASE_URL: undefined };

/** Creates a symbolic link that belongs to a user. */
function linkOf(user: number, path: string, target: string): void {
  symlinkSync(target, path);
  lchownSync(path, user, user);
}

/** Writes a file that belongs to a user. @returns its path */
function fileOf(user: number, path: string, text: string, mode = 0o644): string {
  writeFileSync(path, text);
  chmodSync(path, mode);
  chownSync(path, user, user);
  return path;
}

/** Returns mode and content of all that a folder contains, to show that nothing changed it. */
const facts = (folder: string) =>
  ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()].map((name) => {
    const { mode } = lstatSync(join(folder, name));
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
    return [name, mode, isFile ? readFileSync(join(folder, name), 'utf8') : ''];
  });

/** Creates a folder of a user in which an attack would change, delete, or run something. */
function bait(owner = 0): string {
  const folder = sharedFolder(owner);
  const config = {
    profiles: { default: { base_url: service.sandbox.baseUrl } },
    settings: { 'key-command': `touch ${join(folder, 'executed')}` },
  };
  for (const name of ['code/project', 'responses', 'restaurant']) subfolder(join(folder, name), owner);
  for (const name of ['code/project/file', 'responses/file', `responses/${ENTRY}`, 'file', OLD])
    fileOf(owner, join(folder, name), 'text\n');
  for (const name of ['config.json', 'restaurant/config.json'])
    fileOf(owner, join(folder, name), JSON.stringify(config), 0o600);
  fileOf(owner, join(folder, 'settings'), '{"settings":{"city":"Bern"}}', 0o755);
  utimesSync(join(folder, OLD), 0, 0);
  return folder;
}

const NOT_OURS = /^error: refusing to use .*config\.json: .* belongs to user 65534\n/;

describe.runIf(IS_ROOT)('root in the home folder of a hostile user', () => {
  /** Creates a home of the hostile user, with a link at `path`. */
  function homeWithLink(path: string, target: string): string {
    const home = sharedFolder(MALLORY);
    let folder = home;
    for (const part of dirname(path).split('/')) folder = subfolder(join(folder, part), MALLORY);
    linkOf(MALLORY, join(home, path), target);
    writeFileSync(join(home, 'list.csv'), LIST);
    return home;
  }
  const ENRICH = ['enrich', 'list.csv', '-o', 'out.csv'];

  it.each<[link: string, target: string, words: string[], exit: number]>([
    ['.local/state/restaurant', '', FIND, 0],
    ['.local/state/restaurant', '', SET, 9],
    ['.cache/restaurant', '', FIND, 0],
    ['.cache/restaurant', '', SET, 9],
    ['.cache/restaurant', '', ['cache', 'clear'], 9],
    ['.config/restaurant', '', FIND, 0],
    ['.config/restaurant', '', SET, 2],
    ['.config/restaurant', 'responses', FIND, 0],
    ['.config/restaurant', 'responses', SET, 9],
    ['.config/restaurant/config.json', 'file', ['status'], 2],
    ['.config/restaurant/config.json', 'file', FIND, 0],
    ['.config/restaurant/config.json', 'file', SET, 2],
    ['.config/restaurant/config.json', 'settings', ['status'], 2],
    ['.config/restaurant/config.json', 'settings', FIND, 0],
    ['.config/restaurant/config.json', 'settings', SET, 2],
    ['.config/restaurant/config.json.lock', 'file', SET, 9],
    ['.config/restaurant/config.json.lock', 'new', SET, 9],
    ['out.answers.ndjson.lock', 'file', ENRICH, 9],
    ['out.answers.ndjson.lock', 'new', ENRICH, 9],
    ['out.answers.ndjson', 'file', ENRICH, 9],
    ['out.answers.ndjson', 'new', ENRICH, 9],
    ['out.csv', 'new', [...FIND, '-o', 'out.csv'], 9],
    ['out.csv', 'new', [...FIND, '-o', 'out.csv', '--force'], 9],
  ])('with a link from %s to %j changes nothing there: %j', async (link, target, words, exit) => {
    const folder = bait();
    const home = homeWithLink(link, join(folder, target));
    const before = facts(folder);
    await run(words, { env: { HOME: home, ...CACHED }, cwd: home, exit });
    expect(facts(folder)).toEqual(before);
  });

  it('deletes no old file in a folder that the terminals link to', async () => {
    const folder = bait();
    const home = homeWithLink('.local/state/restaurant/terminals', folder);
    const before = facts(folder);
    const env = { ...service.env, HOME: home };
    const { exit } = await restaurantInTerminal(FIND, { env }).ended;
    expect([exit, facts(folder)]).toEqual([0, before]);
  });

  it.each(['.config/restaurant', '.config'])(
    'obeys no config file in a folder that %s links to',
    async (path) => {
      const folder = bait();
      const home = homeWithLink(path, folder);
      const before = facts(folder);
      const { stderr } = await run(FIND, { env: { ...WITHOUT_SERVICE, HOME: home }, exit: 2 });
      expect(stderr).toMatch(NOT_OURS);
      expect(facts(folder)).toEqual(before);
    },
  );
});

describe.runIf(IS_ROOT)('a victim in a folder that a hostile user shares', () => {
  const asVictim = (HOME: string, more = {}) => ({ env: { HOME, ...more }, uid: VICTIM, cwd: '/' });

  it.each<[words: string[], exit: number, how: string]>([
    [FIND, 2, 'a link'],
    [FIND, 2, 'the folder itself'],
    [['cache', 'clear'], 9, 'a link'],
    [FIND, 0, 'a link'],
  ])('uses no folder of its own behind it: %j ends with %i for %s', async (words, exit, how) => {
    const shared = sharedFolder(MALLORY, 0o777);
    const folder = bait(VICTIM);
    const own = join(how === 'a link' ? folder : shared, 'restaurant');
    if (how === 'a link') linkOf(MALLORY, join(shared, 'restaurant'), folder);
    else renameSync(join(folder, 'restaurant'), own);
    const before = facts(folder);
    service.sent();
    const xdg = { XDG_STATE_HOME: shared, XDG_CACHE_HOME: shared, XDG_CONFIG_HOME: shared };
    const more = exit === 0 ? CACHED : { RESTAURANT_BASE_URL: undefined };
    const { stderr } = await run(words, { ...asVictim(folder, { ...xdg, ...more }), exit });
    expect([service.sent(), facts(folder)]).toEqual([exit === 0 ? 1 : 0, before]);
    if (exit === 2) expect(stderr).toMatch(NOT_OURS);
  });

  it('gets an error without a privileged command for a folder of root', async () => {
    const ofRoot = sharedFolder(0, 0o755);
    const input = fileOf(VICTIM, join(sharedFolder(VICTIM), 'list.csv'), LIST);
    const output = ['-o', join(ofRoot, 'out.csv')];
    for (const words of [LOGIN, SET, ['enrich', input, ...output], [...FIND, ...output]])
      await run(words, { ...asVictim(ofRoot), stdin: 'sk_service_demo_free', exit: 9 });
  });

  it.each([
    [0, 0o700, 'cannot create the folder'],
    [0, 0o755, 'cannot read the config file'],
    [VICTIM, 0o700, 'cannot read the config file'],
  ])('after a run as root searches, and gets a fix for the rest: owner %i, mode %o', async (owner, mode) => {
    const own = sharedFolder(VICTIM);
    const folder = subfolder(join(subfolder(join(own, '.config'), VICTIM), 'restaurant'), owner, mode);
    fileOf(0, join(folder, 'config.json'), '{"settings":{"city":"Bern"}}', 0o600);
    const before = facts(folder);
    const found = await run(FIND, { ...asVictim(own), exit: 0 });
    expect(found.stdout.split('\n')).toHaveLength(4);
    expect(found.stderr).toMatch(/^warning: cannot read the config file .*: permission denied; .*\n$/);
    for (const words of [LOGIN, ['status']]) {
      const { stderr } = await run(words, { ...asVictim(own), stdin: KEY, exit: 9 });
      expect(stderr).toMatch(
        /^error: .*: permission denied\nhint: set HOME or RESTAURANT_CONFIG_DIR to a folder that only you can write to\n$/,
      );
    }
    expect(facts(folder)).toEqual(before);
  });
});

describe.runIf(IS_ROOT)('a home that its user cannot read', () => {
  it.each<[words: string[], exit: number]>([
    [['cache', 'clear'], 9],
    [['skill', 'install', 'claude-code'], 9],
    [['skill', 'uninstall', 'claude-code'], 9],
    [['mcp', 'config', 'cursor', '--write'], 9],
    [['mcp', 'config', 'cursor', '--remove'], 9],
    [['save', 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53'], 9],
    [['logout'], 9],
    [SET, 9],
    [LOGIN, 9],
    [FIND, 0],
  ])('is an error of %j, not a bug', async (words, exit) => {
    const HOME = sharedFolder(0, 0o700);
    const { stderr } = await run(words, { env: { HOME }, uid: VICTIM, cwd: '/', stdin: KEY, exit });
    expect(stderr).toContain(exit === 0 ? 'warning: ' : 'permission denied');
  });
});

describe('files of ours', () => {
  it('are deleted by name, even if the cache folder is the home folder', async () => {
    const env = { ...CACHED, RESTAURANT_CACHE_DIR: home.path };
    await run(FIND, { env, exit: 0, asProcess: true });
    for (const name of ['code/project/a.ts', 'responses/notes.txt']) home.write(name);
    const { stdout } = await run(['cache', 'clear'], { env, exit: 0 });
    expect(stdout).toBe('removed 1 cached response\n');
    expect([home.list('code/project'), home.list('responses')]).toEqual([['a.ts'], ['notes.txt']]);
  });

  it('with a key or responses are deleted by logout', async () => {
    const options = { env: { ...CACHED, RESTAURANT_API_KEY: undefined }, stdin: KEY, exit: 0 };
    home.write('.config/restaurant/config.json.tmp-123456789abcdef', KEY);
    await run(['logout'], options);
    expect(home.list('.config/restaurant')).toEqual([]);
    await run(LOGIN, options);
    await run([...FIND, '-H', 'X-Team: x'], options);
    const responses = '.cache/restaurant/responses';
    expect(home.list(responses)).toHaveLength(1);
    await run(['logout'], options);
    expect(home.list(responses)).toEqual([]);
  });

  it('stay readable: the config file cannot become too large', async () => {
    const set = (name: string, value: string) => run(['config', 'set', name, value]);
    const exits = [];
    await set('base-url', service.sandbox.baseUrl);
    for (let i = 0; i < 11; i += 1) exits.push((await set(`header.X-${i}`, 'x'.repeat(100_000))).exit);
    expect(exits).toEqual([...Array(10).fill(0), 9]);
    await run(['config', 'unset', 'header.X-1'], { exit: 0 });
  });

  it('can be deleted while other commands write them', async () => {
    const options = { env: { ...CACHED, NODE_COMPILE_CACHE: undefined }, exit: 0 };
    let isDone = false;
    const clear = () => run(['cache', 'clear'], options);
    const runs = Promise.all([clear(), clear(), run(FIND, options)]).finally(() => {
      isDone = true;
    });
    for (let i = 10; !isDone; i = i === 99 ? 10 : i + 1) {
      // The folder may just have been deleted.
      for (const name of [`code/v1-x64/find/${i}.cjs.bin`, `responses/${ENTRY.replace(/aa/, `${i}`)}`])
        attempt(() => home.write(`.cache/restaurant/${name}`));
      await setImmediate();
    }
    await runs;
  });
});

describe('an output file', () => {
  it('that is a dangling link counts as existing', async () => {
    symlinkSync(home.at('created'), home.at('out.csv'));
    const before = facts(home.path);
    const { stderr } = await run([...FIND, '-o', 'out.csv'], { exit: 2 });
    expect(stderr).toContain('out.csv');
    expect(facts(home.path)).toEqual(before);
  });

  it('that is a hard link is replaced, and the other link keeps its content', async () => {
    linkSync(home.write('other', 'kept\n'), home.at('out.csv'));
    await run([...FIND, '-o', 'out.csv', '--force'], { exit: 0 });
    expect(home.read('other')).toBe('kept\n');
    expect(home.read('out.csv')).toContain('Nopa');
  });

  it.each(['/dev/full', '/proc/self/mem', '/', `${'x'.repeat(300)}.csv`, 'evil\n\u001b[2J.csv'])(
    'named %j is written or rejected without blocking',
    async (path) => {
      const { exit } = await run([...FIND, '-o', path, '--force']);
      expect([0, 2, 9]).toContain(exit);
    },
  );
});

describe('a cloned repository', () => {
  /** Creates a repository in the home folder, with links that lead out of it. @returns its path */
  function clone(links: Record<string, string>): string {
    home.write('repo/places.csv', LIST);
    home.write('empty');
    subfolder(home.at('elsewhere'));
    for (const [name, target] of Object.entries(links)) symlinkSync(target, home.at('repo', name));
    return home.at('repo');
  }
  const ENRICH = ['enrich', 'places.csv', '--quiet'];

  it.each<[string, Record<string, string>, readonly string[]]>([
    ['an output', { 'out.csv': '../new' }, [...ENRICH, '-o', 'out.csv']],
    ['an output that exists', { 'out.csv': '../empty' }, [...ENRICH, '-o', 'out.csv']],
    ['one of several outputs', { 'page.html': '../new' }, [...ENRICH, '-o', 'out.csv', '-o', 'page.html']],
    ['the folder of an output', { out: '../elsewhere' }, [...ENRICH, '-o', 'out/new.csv']],
    ['the folder of search results', { out: '../elsewhere' }, [...FIND, '-o', 'out/new.csv']],
    ['a list', { 'list.csv': '../empty' }, ['enrich', 'list.csv']],
    ['a JSON file', { 'args.json': '../empty' }, ['call', 'find_restaurant', '--args', '@args.json']],
    ['a value', { secret: '../empty' }, ['call', 'find_restaurant', 'name=@secret', 'city=SF']],
    ['parameters', { 'p.json': '../empty' }, ['raw', 'tools/call', '@p.json']],
    ['sandbox data', { 'data.csv': '../empty' }, ['sandbox', '--data', 'data.csv']],
    ['a key file', { key: '../empty' }, ['login', '--no-verify', '--key-file', 'key']],
  ])('does not lead %s out of the current folder', async (_what, links, words) => {
    const cwd = clone(links);
    const before = facts(home.path);
    service.sent();
    const { stderr } = await run(words, { cwd, exit: 2 });
    expect(stderr).toContain('refusing to ');
    expect([facts(home.path), service.sent()]).toEqual([before, 0]);
  });

  it('does not choose where answers are written', async () => {
    const cwd = clone({ 'out.answers.ndjson': '../empty' });
    await run([...ENRICH, '-o', 'out.csv'], { cwd, exit: 9 });
    expect(home.read('empty')).toBe('');
  });

  it('can be left with --force, and with links outside of it', async () => {
    const cwd = clone({ 'out.csv': '../new' });
    await run([...ENRICH, '-o', 'out.csv', '--force'], { cwd, exit: 0 });
    expect(home.read('new')).toContain('Nopa,SF,');
    symlinkSync('elsewhere', home.at('data'));
    await run([...FIND, '-o', '../data/out.csv'], { cwd, exit: 0 });
    symlinkSync('repo/places.csv', home.at('latest.csv'));
    await run(['enrich', '../latest.csv', '-o', '../data/rows.csv'], { cwd, exit: 0 });
    expect(home.list('elsewhere')).toEqual(['out.csv', 'rows.answers.ndjson', 'rows.csv']);
  });
});

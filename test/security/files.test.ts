import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isReservedName, openDevice, resolveOutput } from '../../src/storage/user-files.ts';
import { STANDALONE, shell, startRestaurant, until } from '../helpers/process.ts';
import { useService } from '../helpers/service.ts';
import { restaurantInTerminal } from '../helpers/terminal.ts';
import { IS_ROOT, KEY, MALLORY, sharedFolder, subfolder, useProgram, VICTIM } from './support.ts';

const { run } = useProgram();
const service = useService({ auth: false });
const FIND = ['find', 'Nopa', '--city', 'SF'];
/** Names of files that would be ours in a folder of ours. */
const ENTRY = `${'a'.repeat(16)}-${'a'.repeat(64)}.json`;
const OLD = `${'a'.repeat(64)}.json`;
const env = (home: string, more: Record<string, string> = {}) => ({
  HOME: home,
  RESTAURANT_BASE_URL: service.sandbox.baseUrl,
  ...more,
});

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

/** Returns mode and content of a file, to show that nothing changed it. */
const facts = (path: string) => ({ mode: statSync(path).mode & 0o7777, text: readFileSync(path, 'utf8') });

describe.runIf(IS_ROOT)('root in the home folder of a hostile user', () => {
  /** Creates a home of the hostile user, with a link at `path`. */
  function homeWithLink(path: string, target: string): string {
    const home = sharedFolder(MALLORY);
    let folder = home;
    for (const part of dirname(path).split('/')) folder = subfolder(join(folder, part), MALLORY);
    linkOf(MALLORY, join(home, path), target);
    return home;
  }

  it.each(['.local/state/restaurant', '.cache/restaurant', '.config/restaurant'])(
    'does not change a folder that %s links to',
    async (path) => {
      const target = sharedFolder(undefined, 0o755);
      const home = homeWithLink(path, target);
      await run(FIND, { env: env(home), exit: 0 });
      await run(['config', 'set', 'city', 'SF'], { env: env(home) });
      expect([statSync(target).mode & 0o777, readdirSync(target)]).toEqual([0o755, []]);
    },
  );

  it.each(['#!/bin/sh\n', '{"settings":{"city":"Bern"}}'])(
    'does not use a file that config.json links to: %s',
    async (text) => {
      const target = join(sharedFolder(), 'tool');
      writeFileSync(target, text, { mode: 0o755 });
      const before = facts(target);
      const home = homeWithLink('.config/restaurant/config.json', target);
      for (const words of [['status'], FIND, ['config', 'set', 'city', 'SF']]) {
        await run(words, { env: env(home) });
        expect(facts(target)).toEqual(before);
      }
    },
  );

  it.each(['.config/restaurant', '.config'])(
    'obeys no config file in a folder that %s links to',
    async (path) => {
      const repo = sharedFolder();
      const marker = join(repo, 'executed');
      const folder = path === '.config' ? subfolder(join(repo, 'restaurant')) : repo;
      const config = { profiles: { default: { base_url: service.sandbox.baseUrl } }, settings: {} };
      const settings = { 'key-command': `touch ${marker}` };
      writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, settings }), { mode: 0o600 });
      const home = homeWithLink(path, repo);
      const { exit, stderr } = await run(FIND, { env: { HOME: home, RESTAURANT_API_KEY: undefined } });
      expect([exit, existsSync(marker)]).toEqual([2, false]);
      expect(stderr).toMatch(/^error: refusing to use .*config\.json: .* belongs to user 65534\n/);
    },
  );

  it('deletes nothing in a folder that the cache links to', async () => {
    const target = sharedFolder();
    const files = ['code/project/file', 'responses/file', `responses/${ENTRY}`].map((name) => {
      const path = join(target, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'text');
      return path;
    });
    const home = homeWithLink('.cache/restaurant', target);
    await run(['cache', 'clear'], { env: env(home), exit: 9 });
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('deletes no old file in a folder that the terminals link to', async () => {
    const target = sharedFolder();
    writeFileSync(join(target, OLD), 'text');
    utimesSync(join(target, OLD), 0, 0);
    const home = homeWithLink('.local/state/restaurant/terminals', target);
    const more = { env: env(home, { RESTAURANT_API_KEY: KEY }) };
    const { exit } = await restaurantInTerminal([...FIND, '--no-pager'], more).ended;
    expect([exit, readdirSync(target)]).toEqual([0, [OLD]]);
  });

  it('does not create or append to a file that a lock links to', async () => {
    const folder = sharedFolder();
    const existing = join(folder, 'sudoers');
    writeFileSync(existing, 'root ALL\n');
    for (const target of [join(folder, 'nologin'), existing]) {
      const home = homeWithLink('.config/restaurant/config.json.lock', target);
      await run(['config', 'set', 'city', 'SF'], { env: env(home), exit: 9 });
      const list = join(folder, 'list.csv');
      writeFileSync(list, 'name,city\nNopa,SF\n');
      const out = join(homeWithLink('out.csv.lock', target), 'out.csv');
      await run(['enrich', list, '-o', out], { env: env(home), exit: 9 });
    }
    expect(existsSync(join(folder, 'nologin'))).toBe(false);
    expect(readFileSync(existing, 'utf8')).toBe('root ALL\n');
  });

  it('does not write through a link, even with --force', async () => {
    const target = join(sharedFolder(), 'evil');
    const home = homeWithLink('out.csv', target);
    for (const force of [[], ['--force']]) {
      const { exit } = await run([...FIND, '-o', join(home, 'out.csv'), ...force], { env: env(home) });
      expect(exit).not.toBe(0);
    }
    expect(existsSync(target)).toBe(false);
  });

  it('ignores a config file of another user', async () => {
    const home = sharedFolder(MALLORY);
    const folder = subfolder(join(home, '.config'), MALLORY);
    const path = join(subfolder(join(folder, 'restaurant'), MALLORY), 'config.json');
    fileOf(MALLORY, path, JSON.stringify({ settings: { base_url: service.sandbox.baseUrl } }));
    const before = service.sandbox.requests.length;
    const { exit, stderr } = await run(FIND, { env: { HOME: home } });
    expect(exit).not.toBe(0);
    expect(stderr).toContain(path);
    expect(service.sandbox.requests.length).toBe(before);
    expect(stderr).not.toMatch(/sudo|chown/);
    await run(FIND, { env: env(home), exit: 0 });
  });
});

describe('a config file that others may write', () => {
  it('does not select the service that gets the key', async () => {
    const home = sharedFolder();
    const folder = join(home, '.config/restaurant');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify({ settings: { base_url: service.sandbox.baseUrl } }));
    chmodSync(path, 0o666);
    const before = service.sandbox.requests.length;
    const { exit, stderr } = await run(FIND, { env: { HOME: home } });
    expect(exit).not.toBe(0);
    expect(stderr).toContain(path);
    expect(service.sandbox.requests.length).toBe(before);
    expect(statSync(path).mode & 0o777).toBe(0o666);
  });
});

describe.runIf(IS_ROOT)('a victim in a folder that a hostile user shares', () => {
  const list = 'name,city\nNopa,SF\n';
  const asVictim = (variables: Record<string, string>) => ({ env: variables, uid: VICTIM, cwd: '/' });

  it('does not append to a file that the lock of an output links to', async () => {
    const shared = sharedFolder(MALLORY, 0o777);
    const home = sharedFolder(VICTIM, 0o700);
    const profile = fileOf(VICTIM, join(home, '.bashrc'), 'alias ls=ls\n');
    const input = fileOf(VICTIM, join(home, 'list.csv'), list);
    linkOf(MALLORY, join(shared, 'out.csv.lock'), profile);
    const out = join(shared, 'out.csv');
    const { exit } = await run(['enrich', input, '-o', out, '--quiet'], asVictim(env(home)));
    expect([0, 9]).toContain(exit);
    expect(readFileSync(profile, 'utf8')).toBe('alias ls=ls\n');
  });

  it('does not write into its own folder through a link in XDG_STATE_HOME', async () => {
    const shared = sharedFolder(MALLORY, 0o777);
    const home = sharedFolder(VICTIM, 0o755);
    const site = subfolder(join(home, 'www'), VICTIM, 0o755);
    linkOf(MALLORY, join(shared, 'restaurant'), site);
    const more = { XDG_STATE_HOME: shared, XDG_CACHE_HOME: shared };
    await run(FIND, { ...asVictim(env(home, more)), exit: 0 });
    expect([statSync(site).mode & 0o777, readdirSync(site)]).toEqual([0o755, []]);
  });

  it.each(['a link', 'the folder itself'])(
    'obeys no config file behind %s of the hostile user',
    async (what) => {
      const shared = sharedFolder(MALLORY, 0o777);
      const home = sharedFolder(VICTIM, 0o755);
      const repo = subfolder(join(what === 'a link' ? home : shared, 'clone'), VICTIM, 0o755);
      const config = { profiles: { default: { base_url: service.sandbox.baseUrl } } };
      fileOf(VICTIM, join(repo, 'config.json'), JSON.stringify(config));
      if (what === 'a link') {
        linkOf(MALLORY, join(shared, 'restaurant'), repo);
      } else renameSync(repo, join(shared, 'restaurant'));
      const before = service.sandbox.requests.length;
      const { exit, stderr } = await run(FIND, asVictim({ HOME: home, XDG_CONFIG_HOME: shared }));
      expect([exit, service.sandbox.requests.length]).toEqual([2, before]);
      expect(stderr).toMatch(/^error: refusing to use .*config\.json: .* belongs to user 65534\n/);
    },
  );

  it('keeps the folders that a link in XDG_CACHE_HOME leads to', async () => {
    const shared = sharedFolder(MALLORY, 0o777);
    const home = sharedFolder(VICTIM, 0o755);
    for (const name of ['code', 'responses']) subfolder(join(home, name), VICTIM);
    linkOf(MALLORY, join(shared, 'restaurant'), home);
    const options = { ...asVictim(env(home, { XDG_CACHE_HOME: shared })), exit: 9 };
    await run(['cache', 'clear'], options);
    expect(readdirSync(home).sort()).toEqual(['code', 'responses']);
  });

  it('reports a lock of another user with the name of the file', async () => {
    for (const [text, mode] of [
      ['1 host', 0o644],
      ['', 0o666],
      ['{"pid":1,"host":"\u001b[2Jx"}', 0o666],
      ['-1 0 1e999', 0o644],
    ] as const) {
      const shared = sharedFolder(MALLORY, 0o777);
      const home = sharedFolder(VICTIM, 0o700);
      const input = fileOf(VICTIM, join(home, 'list.csv'), list);
      const lock = fileOf(MALLORY, join(shared, 'out.csv.lock'), text, mode);
      const words = ['enrich', input, '-o', join(shared, 'out.csv'), '--quiet'];
      const { exit, stderr } = await run(words, asVictim(env(home)));
      expect([text, exit]).toEqual([text, 9]);
      expect(stderr).toContain('out.csv');
      expect(stderr).not.toMatch(/sudo|chown/);
      expect(readFileSync(lock, 'utf8')).toBe(text);
    }
  });

  it('gets an error without a privileged command for a folder of root', async () => {
    const home = sharedFolder(0, 0o755);
    const input = join(sharedFolder(VICTIM), 'list.csv');
    writeFileSync(input, list);
    for (const words of [
      ['login', '--key-stdin', '--no-verify'],
      ['config', 'set', 'city', 'SF'],
      ['enrich', input, '-o', join(home, 'out.csv'), '--quiet'],
      [...FIND, '-o', join(home, 'out.csv')],
    ]) {
      const { exit, stderr } = await run(words, { ...asVictim(env(home)), stdin: 'sk_service_demo_free' });
      expect([words, exit]).toEqual([words, 9]);
      expect(stderr).not.toMatch(/sudo|chown|rm -/);
    }
  });
});

describe('files of ours', () => {
  it('are deleted by name, even if the cache folder is the home folder', async () => {
    const home = sharedFolder();
    const all = env(home, { RESTAURANT_CACHE_DIR: home, RESTAURANT_MAX_AGE: '10m' });
    await run(FIND, { env: all, exit: 0, asProcess: true });
    const files = ['code/project/a.ts', 'responses/notes.txt'].map((name) => join(home, name));
    for (const path of files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'text');
    }
    const { stdout } = await run(['cache', 'clear'], { env: all, exit: 0 });
    expect(stdout).toBe('removed 1 cached response\n');
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    expect(readdirSync(join(home, 'responses'))).toEqual(['notes.txt']);
  });

  it('that are damaged are renamed, and what has that name is kept', async () => {
    const home = sharedFolder();
    const state = subfolder(join(home, '.local/state/restaurant'), undefined, 0o700);
    const path = join(state, 'last-find.json');
    subfolder(`${path}.damaged/tree`);
    writeFileSync(path, 'noise');
    await run(['last'], { env: env(home) });
    expect(existsSync(`${path}.damaged/tree`)).toBe(true);
    expect(readdirSync(state).filter((name) => name.startsWith('last-find'))).toHaveLength(2);
  });

  it('with a key or responses are deleted by logout', async () => {
    const home = sharedFolder();
    const all = { ...env(home, { RESTAURANT_MAX_AGE: '10m' }), RESTAURANT_API_KEY: undefined };
    const config = join(home, '.config/restaurant');
    const leftover = join(subfolder(config, undefined, 0o700), 'config.json.tmp-123456789abcdef');
    writeFileSync(leftover, KEY);
    await run(['logout'], { env: all, exit: 0 });
    expect(existsSync(leftover)).toBe(false);
    await run(['login', '--key-stdin', '--no-verify'], { env: all, stdin: KEY, exit: 0 });
    await run([...FIND, '-H', 'X-Team: x'], { env: all, exit: 0 });
    const responses = join(home, '.cache/restaurant/responses');
    expect(readdirSync(responses)).toHaveLength(1);
    await run(['logout'], { env: all, exit: 0 });
    expect(readdirSync(responses)).toEqual([]);
  });

  it('stay readable: the config file cannot become too large', async () => {
    const home = sharedFolder();
    const value = 'x'.repeat(100_000);
    const exits = [];
    await run(['config', 'set', 'base-url', service.sandbox.baseUrl], { env: env(home), exit: 0 });
    for (let i = 0; i < 11; i += 1) {
      exits.push((await run(['config', 'set', `header.X-${i}`, value], { env: env(home) })).exit);
    }
    expect(exits).toEqual([...Array(10).fill(0), 9]);
    await run(['config', 'unset', 'header.X-1'], { env: env(home), exit: 0 });
  });

  it('can be deleted while other commands write them', async () => {
    const home = sharedFolder();
    const all = { ...env(home, { RESTAURANT_MAX_AGE: '10m' }), NODE_DISABLE_COMPILE_CACHE: undefined };
    let isDone = false;
    const clear = () => run(['cache', 'clear'], { env: all, exit: 0 });
    const runs = Promise.all([clear(), clear(), run(FIND, { env: all, exit: 0 })]).finally(() => {
      isDone = true;
    });
    for (let i = 10; !isDone; i = i === 99 ? 10 : i + 1) {
      for (const name of [`code/v1-x64/find/${i}.cjs.bin`, `responses/${ENTRY.replace(/aa/, `${i}`)}`]) {
        const path = join(home, '.cache/restaurant', name);
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        try {
          writeFileSync(path, '');
        } catch {
          // The folder has just been deleted.
        }
      }
      await setImmediate();
    }
    await runs;
  });

  it('count the requests of a time that is ahead, after the clock was set back', async () => {
    const home = sharedFolder();
    const all = env(home);
    writeFileSync(join(home, 'list.csv'), 'name,city\nNopa,SF\n');
    const words = ['enrich', 'list.csv', '--per-day', '1', '--quiet', '-o'];
    await run([...words, '1.csv'], { env: all, cwd: home, exit: 0 });
    const folder = join(home, '.local/state/restaurant/ledger');
    for (const path of readdirSync(folder).map((name) => join(folder, name))) {
      const ahead = (time: string) => `${Number(time) + 120_000}`;
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/\d{13}/g, ahead));
    }
    const before = service.sandbox.requests.length;
    await run([...words, '2.csv'], { env: all, cwd: home, exit: 5 });
    expect(service.sandbox.requests.length).toBe(before);
  });

  it.runIf(IS_ROOT && !STANDALONE)('do not contain code of another user, or of killed runs', async () => {
    const home = sharedFolder();
    const all = { ...env(home), NODE_DISABLE_COMPILE_CACHE: undefined };
    await run(FIND, { env: all, exit: 0, asProcess: true });
    const folder = join(home, '.cache/restaurant/code', `${process.version}-${process.arch}`, 'find');
    const [foreign = '', hard = '', link = ''] = readdirSync(folder).map((name) => join(folder, name));
    const old = [join(folder, 'x.cjs.bin'), `${foreign}.1.tmp`];
    for (const each of old) {
      writeFileSync(each, '');
      utimesSync(each, 0, 0);
    }
    chownSync(foreign, MALLORY, MALLORY);
    linkSync(hard, join(home, 'second-name'));
    renameSync(link, join(home, 'target'));
    symlinkSync(join(home, 'target'), link);
    await run(FIND, { env: all, exit: 0, asProcess: true });
    // They were not used, so they were compiled and written again.
    for (const path of [foreign, hard, link]) {
      const stats = lstatSync(path);
      expect([stats.uid, stats.nlink, stats.isFile()]).toEqual([0, 1, true]);
    }
    expect(old.filter((each) => existsSync(each))).toEqual([]);
  });
});

describe('an output file', () => {
  it('that is a dangling link counts as existing', async () => {
    const folder = sharedFolder();
    const target = join(folder, 'created');
    symlinkSync(target, join(folder, 'out.csv'));
    const { exit, stderr } = await run([...FIND, '-o', 'out.csv'], { env: env(folder), cwd: folder });
    expect([exit, existsSync(target)]).toEqual([2, false]);
    expect(stderr).toContain('out.csv');
    expect(lstatSync(join(folder, 'out.csv')).isSymbolicLink()).toBe(true);
  });

  it('that is a hard link is replaced, and the other link keeps its content', async () => {
    const folder = sharedFolder();
    const other = join(folder, 'other');
    writeFileSync(other, 'kept\n');
    linkSync(other, join(folder, 'out.csv'));
    await run([...FIND, '-o', 'out.csv', '--force'], { env: env(folder), cwd: folder, exit: 0 });
    expect(readFileSync(other, 'utf8')).toBe('kept\n');
    expect(readFileSync(join(folder, 'out.csv'), 'utf8')).toContain('Nopa');
  });

  it.each(['/dev/full', '/proc/self/mem', '/', `${'x'.repeat(300)}.csv`, 'evil\n\u001b[2J.csv'])(
    'named %j is written or rejected without blocking',
    async (path) => {
      const folder = sharedFolder();
      const { exit } = await run([...FIND, '-o', path, '--force'], { env: env(folder), cwd: folder });
      expect([0, 2, 9]).toContain(exit);
    },
  );

  it('and state, cache and config are private with any umask', async () => {
    const home = sharedFolder();
    const all = env(home, { RESTAURANT_MAX_AGE: '10m' });
    await run(FIND, { env: all, exit: 0, asProcess: true });
    await run(['config', 'set', 'city', 'SF'], { env: all, exit: 0 });
    for (const root of ['.config/restaurant', '.local/state/restaurant', '.cache/restaurant']) {
      const folder = join(home, root);
      expect([root, statSync(folder).mode & 0o777]).toEqual([root, 0o700]);
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
      }
    }
  });
});

describe('a cloned repository', () => {
  /** Creates a repository in a home folder, with links that lead out of it. */
  function clone(links: Record<string, string>): { home: string; repo: string } {
    const home = sharedFolder();
    const repo = subfolder(join(home, 'repo'));
    writeFileSync(join(repo, 'places.csv'), 'name,city\nNopa,SF\n');
    writeFileSync(join(home, 'empty'), '');
    subfolder(join(home, 'elsewhere'));
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(repo, name));
    return { home, repo };
  }
  const ENRICH = ['enrich', 'places.csv', '--quiet'];

  it.each<[string, Record<string, string>, readonly string[]]>([
    ['an output', { 'out.csv': '../new' }, [...ENRICH, '-o', 'out.csv']],
    ['a finished output', { 'out.csv': '../empty' }, [...ENRICH, '-o', 'out.csv', '--resume']],
    ['a report', { 'page.html': '../new' }, [...ENRICH, '-o', 'out.csv', '--report', 'page.html']],
    ['the folder of an output', { out: '../elsewhere' }, [...ENRICH, '-o', 'out/new.csv']],
    ['the folder of search results', { out: '../elsewhere' }, [...FIND, '-o', 'out/new.csv']],
    ['a list', { 'list.csv': '../empty' }, ['enrich', 'list.csv']],
    ['a JSON file', { 'args.json': '../empty' }, ['call', 'find_restaurant', '--args', '@args.json']],
    ['a value', { secret: '../empty' }, ['call', 'find_restaurant', 'name=@secret', 'city=SF']],
    ['parameters', { 'p.json': '../empty' }, ['raw', 'tools/call', '@p.json']],
    ['sandbox data', { 'data.csv': '../empty' }, ['sandbox', '--data', 'data.csv']],
    ['a key file', { key: '../empty' }, ['login', '--no-verify', '--key-file', 'key']],
  ])('does not lead %s out of the current folder', async (_what, links, words) => {
    const { home, repo } = clone(links);
    const before = service.sandbox.requests.length;
    const { stderr } = await run(words, { env: env(home), cwd: repo, exit: 2 });
    expect(stderr).toContain('refusing to ');
    expect(readdirSync(home).sort()).toEqual(['elsewhere', 'empty', 'repo']);
    expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
    expect(readFileSync(join(home, 'empty'), 'utf8')).toBe('');
    expect(service.sandbox.requests.length).toBe(before);
  });

  it('does not choose where retried rows are written', async () => {
    const { home, repo } = clone({ 'out.csv.retry': '../empty' });
    await run([...ENRICH, '-o', 'out.csv'], { env: env(home), cwd: repo, exit: 0 });
    symlinkSync('../empty', join(repo, 'out.csv.retry'));
    await run([...ENRICH, '-o', 'out.csv', '--resume'], { env: env(home), cwd: repo, exit: 9 });
    expect(readFileSync(join(home, 'empty'), 'utf8')).toBe('');
    expect(lstatSync(join(repo, 'out.csv')).isFile()).toBe(true);
  });

  it('does not name a lock outside of it', async () => {
    const { home, repo } = clone({});
    const text = JSON.stringify({ key: '/../../x', pid: 1, host: hostname() });
    writeFileSync(join(repo, 'out.csv.lock'), text);
    await run([...ENRICH, '-o', 'out.csv'], { env: env(home), cwd: repo, exit: 9 });
    expect(readFileSync(join(repo, 'out.csv.lock'), 'utf8')).toBe(text);
  });

  it('can be left with --force, and with links outside of it', async () => {
    const { home, repo } = clone({ 'out.csv': '../new' });
    await run([...ENRICH, '-o', 'out.csv', '--force'], { env: env(home), cwd: repo, exit: 0 });
    expect(readFileSync(join(home, 'new'), 'utf8')).toContain('Nopa,SF,');
    symlinkSync('elsewhere', join(home, 'data'));
    await run([...FIND, '-o', '../data/out.csv'], { env: env(home), cwd: repo, exit: 0 });
    symlinkSync('repo/places.csv', join(home, 'latest.csv'));
    await run(['enrich', '../latest.csv', '-o', '../data/rows.csv'], { env: env(home), cwd: repo, exit: 0 });
    expect(readdirSync(join(home, 'elsewhere')).sort()).toEqual(['out.csv', 'rows.csv']);
  });
});

describe('a named pipe', () => {
  /** Creates a folder with a pipe. */
  function folderWithPipe(): string {
    const folder = sharedFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    return folder;
  }

  it.each([
    [['enrich', 'pipe']],
    [['call', 'find_restaurant', '--args', '@pipe']],
    [['call', 'find_restaurant', 'name=@pipe', 'city=SF']],
    [['raw', 'tools/call', '@pipe']],
    [['sandbox', '--data', 'pipe']],
    [['login', '--no-verify', '--key-file', 'pipe']],
  ])('that sends nothing does not keep Ctrl-C from %j', async (words) => {
    const cwd = folderWithPipe();
    const running = startRestaurant(words, {
      env: { ...env(cwd), RESTAURANT_API_KEY: KEY },
      cwd,
      timeout: 10_000,
    });
    let writer: number | undefined;
    await until(() => {
      writer ??= openWriter(join(cwd, 'pipe'));
      return writer !== undefined;
    }, running);
    running.process.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exit: 130, signal: null });
    closeSync(writer ?? -1);
  });

  it('without a reader does not keep Ctrl-C from find', async () => {
    const cwd = folderWithPipe();
    const before = service.sandbox.requests.length;
    const options = { env: { ...env(cwd), RESTAURANT_API_KEY: KEY }, cwd, timeout: 10_000 };
    const running = startRestaurant([...FIND, '-o', 'pipe'], options);
    await until(() => service.sandbox.requests.length > before, running);
    running.process.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exit: 130, signal: null });
  });

  it.each([
    ['restaurant enrich <(cat list.csv) --quiet', 'Nopa,SF,matched'],
    [
      'cat list.csv | restaurant enrich /dev/stdin -o /dev/stdout --format csv --quiet | cat',
      'Nopa,SF,matched',
    ],
    ['restaurant enrich list.csv -o pipe --format csv --quiet & cat pipe', 'Nopa,SF,matched'],
    ['cat list.csv > pipe & restaurant enrich pipe --quiet', 'Nopa,SF,matched'],
    ['restaurant find Nopa --city SF --format csv -o >(cat); wait $!', ',Nopa,'],
    ['restaurant call find_restaurant --args @<(echo \'{"name":"Nopa","city":"SF"}\') --json', '"Nopa"'],
    ['restaurant find Nopa --city SF -o /dev/null --format csv; echo $?', '0\n'],
  ])('works in %s', async (line, text) => {
    const cwd = folderWithPipe();
    writeFileSync(join(cwd, 'list.csv'), 'name,city\nNopa,SF\n');
    const { stdout } = await shell(line, { env: { ...env(cwd), RESTAURANT_API_KEY: KEY }, cwd });
    expect(stdout).toContain(text);
  });

  it('is not written after it was replaced by a link to a file', async () => {
    const folder = folderWithPipe();
    const [pipe, diary] = [join(folder, 'pipe'), join(folder, 'diary')];
    writeFileSync(diary, 'mine\n');
    const context = { cwd: () => folder, platform: process.platform };
    const target = resolveOutput(pipe, context, false);
    rmSync(pipe);
    symlinkSync(diary, pipe);
    const { signal } = new AbortController();
    await expect(openDevice(target, signal)).rejects.toMatchObject({ code: 'ESYMLINK' });
    rmSync(pipe);
    linkSync(diary, pipe);
    await expect(openDevice(target, signal)).rejects.toMatchObject({ code: 'io_error' });
    expect(readFileSync(diary, 'utf8')).toBe('mine\n');
  });

  it.runIf(IS_ROOT)('of another user is refused', async () => {
    const folder = folderWithPipe();
    const pipe = join(folder, 'pipe');
    chownSync(pipe, MALLORY, MALLORY);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    await run([...FIND, '-o', pipe], { env: env(folder), exit: 9 });
    closeSync(reader);
  });
});

describe('a current folder that was deleted', () => {
  it.each([
    [['enrich', '../list.csv', '-o', '../out.csv', '--quiet'], 0],
    [['enrich', 'list.csv'], 9],
  ])('does not end %j with a bug', async (words, exit) => {
    const home = sharedFolder();
    writeFileSync(join(home, 'list.csv'), 'name,city\nNopa,SF\n');
    const line = words.map((word) => word.replace('..', home)).join(' ');
    const more = { env: { ...env(home), RESTAURANT_API_KEY: KEY }, cwd: subfolder(join(home, 'gone')) };
    expect(await shell(`rmdir "$PWD"; restaurant ${line}`, more)).toMatchObject({ exit });
  });
});

describe('a name that Windows reserves for a device', () => {
  it.each(['NUL', 'con.csv', 'COM1', 'lpt9.tar.gz', 'C:\\x\\nul', 'aux .txt', 'COM¹.csv', 'CONOUT$', 'prn:'])(
    '%s is refused on Windows only',
    (name) => {
      const resolveOn = (platform: NodeJS.Platform) => () =>
        resolveOutput(join('/none', name), { cwd: () => '/', platform }, true);
      expect(resolveOn('win32')).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(resolveOn('linux')).not.toThrow();
    },
  );

  it.each(['null.csv', 'console', 'com10', 'com', 'out.con', 'aux-1.csv'])(
    '%s is not such a name',
    (name) => {
      expect(isReservedName(name)).toBe(false);
    },
  );
});

/** Opens a pipe that has a reader; undefined if it has none. */
function openWriter(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

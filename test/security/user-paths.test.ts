import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modeOf } from '../helpers/files.ts';
import { shell } from '../helpers/process.ts';
import { ID, resetFolder } from '../helpers/runs.ts';
import { useService } from '../helpers/service.ts';
import { everyCommand, readTree } from '../helpers/tree.ts';
import { useProgram } from './support.ts';

const service = useService({ auth: false });
const { run, home } = useProgram(() => service.sandbox.baseUrl, false);
const LIST = 'name,city\nNopa,SF\n';
const NOPA = '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}';

/** Every command with an output file, without it. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  find: ['find', 'Nopa', '--city', 'SF'],
  lookup: ['lookup', ID],
  last: ['last'],
  saved: ['saved'],
  changes: ['changes'],
  enrich: ['enrich', '-'],
  tools: ['tools'],
  call: ['call', 'find_restaurant', 'name=Nopa', 'city=SF'],
  raw: ['raw', 'tools/call', NOPA],
  schema: ['schema'],
};

/** Every option and argument with a file to read, which some write to, too. */
const INPUTS: Readonly<Record<string, (file: string) => readonly string[]>> = {
  'enrich <file>': (file) => ['enrich', file, '--dry-run'],
  'review <file>': (file) => ['review', file, '--json'],
  'review --list': (file) => ['review', home.at('done/results.answers.ndjson'), '--json', '--list', file],
  'review --apply': (file) => ['review', home.at('done/results.answers.ndjson'), '--apply', file],
  'review --answers': (file) => ['review', home.at('done/new.csv'), '--json', '--answers', file],
  'changes <id>': (file) => ['changes', file],
  'call --args': (file) => ['call', 'find_restaurant', '--args', `@${file}`],
  'call <key=value>': (file) => ['call', 'find_restaurant', `name=@${file}`, 'city=SF'],
  'raw <params>': (file) => ['raw', 'tools/call', `@${file}`],
  'sandbox --data': (file) => ['sandbox', '--data', file, '--port', new URL(service.sandbox.baseUrl).port],
  'login --key-file': (file) => ['login', '--no-verify', '--key-file', file],
};

const ANSWERS_FILE = 'enrich --answers';

/** Options that speak of files, but take the name of none. */
const NO_FILES = [
  'enrich --add',
  ...['--write', '--remove'].map((option) => `mcp config ${option}`),
  ...['install', 'uninstall'].flatMap((act) => [`skill ${act} --scope`, `skill ${act} --force`]),
  ...Object.keys(OUTPUTS).map((name) => `${name} --force`),
];

/** Where a user stands, and how the folder of the clone is named from there. */
const PLACES: Readonly<Record<string, (repo: string) => readonly [cwd: string, prefix: string]>> = {
  'in the clone': (repo) => [repo, ''],
  'in a subfolder': (repo) => [join(repo, 'sub'), '../'],
  'in the home folder': (repo) => [dirname(repo), 'repo/'],
  'in /': (repo) => ['/', `${repo.slice(1)}/`],
  'anywhere, with absolute paths': (repo) => [repo, `${repo}/`],
};

/** The kinds of files in the clone, with the names that the user types. */
const KINDS: Readonly<Record<string, string>> = {
  nothing: 'new.csv',
  'a file': 'file.csv',
  'a dangling link': 'dangling.csv',
  'a dangling link inside': 'promise.csv',
  'a link inside': 'inside.csv',
  'a link outside': 'outside.csv',
  'a link to a device': 'device.csv',
  'a device': 'sub/../../../../../../../../dev/null',
  'a folder': 'sub',
  'a file behind a folder link inside': 'in/new.csv',
  'a file behind a folder link outside': 'out/new.csv',
  'a file behind a link to a link outside': 'far/new.csv',
};

/** @returns the clone, in the home folder */
function clone(): string {
  const repo = home.at('repo');
  for (const folder of ['repo/sub', 'repo/data', 'elsewhere', '.bashrc.d'])
    mkdirSync(home.at(folder), { recursive: true });
  for (const name of ['repo/file.csv', 'secret.csv']) home.write(name, LIST);
  resetFolder(home.at('done'));
  // A view that the program did not write is never replaced.
  rmSync(home.at('done/results.csv'));
  const links: Readonly<Record<string, string>> = {
    'dangling.csv': '../.bash_profile',
    'promise.csv': 'none.csv',
    'inside.csv': 'file.csv',
    'outside.csv': '../secret.csv',
    'device.csv': '/dev/null',
    in: 'data',
    out: '../.bashrc.d',
    far: 'sub/away',
    'sub/away': '../../elsewhere',
  };
  for (const [name, target] of Object.entries(links)) {
    symlinkSync(target, join(repo, name));
    if (name.endsWith('.csv')) symlinkSync(target, join(repo, name.replace('.csv', '.json')));
  }
  return repo;
}

/** Returns the content of the home folder, except the files of the program itself. */
const facts = () =>
  readdirSync(home.path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^\.(?:config|cache|local)/.test(name))
    .sort()
    .map((name) => {
      const stats = lstatSync(home.at(name));
      const target = stats.isSymbolicLink() ? readlinkSync(home.at(name)) : undefined;
      return [name, stats.isFile() ? readFileSync(home.at(name), 'utf8') : target];
    });

const LEADS_AWAY = ['a dangling link', 'a link outside', 'a link to a device'];
const BEHIND = ['a file behind a folder link outside', 'a file behind a link to a link outside'];
const EXITS: Readonly<Record<string, number>> = {
  nothing: 0,
  'a file behind a folder link inside': 0,
  'a device': 0,
  'a folder': 9,
};

it('every option and argument that names a file is tested', async () => {
  const { commands, options } = await readTree();
  const speaksOfFiles = (text: string) => /\b(?:file|path|folder|director)/i.test(text);
  const names = everyCommand(commands).flatMap((command) => [
    ...command.arguments
      .filter(({ name, description }) => speaksOfFiles(`<${name}> ${description}`))
      .map(({ name }) => `${command.name} <${name}>`),
    ...[...command.options, ...options.filter(({ name }) => command.global_options.includes(name))]
      .filter(({ flags, description }) => speaksOfFiles(`${flags} ${description}`))
      .map(({ name }) => `${command.name} ${name}`),
  ]);
  const outputs = Object.keys(OUTPUTS).map((name) => `${name} --output`);
  expect(names.sort()).toEqual([...outputs, ANSWERS_FILE, ...Object.keys(INPUTS), ...NO_FILES].sort());
});

describe.each(Object.entries(PLACES))('standing %s', (_where, place) => {
  it.each(Object.entries(KINDS))(
    'find writes %s only if the clone does not choose it',
    async (kind, name) => {
      const [cwd, prefix] = place(clone());
      const before = facts();
      service.sent();
      const exit = EXITS[kind] ?? 2;
      const words = [...(OUTPUTS.find ?? []), '--format', 'csv', '-o', `${prefix}${name}`];
      const { stderr } = await run(words, { cwd, exit });
      expect(service.sent()).toBe(exit === 0 ? 1 : 0);
      if (exit !== 0 || kind === 'a device') expect(facts()).toEqual(before);
      else expect(home.list('repo/data').length + home.list('repo').length).toBeGreaterThan(0);
      if (exit === 2) expect(stderr).toMatch(/hint: .*-o /);
    },
  );

  const outputs: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries(OUTPUTS).map(([name, words]) => [`${name} -o`, [...words, '-o']] as const),
    [ANSWERS_FILE, ['enrich', '-', '-o', 'answered.csv', '--answers']],
  ];
  it.each(outputs)('%s writes through no link of the clone', async (name, words) => {
    const [cwd, prefix] = place(clone());
    const before = facts();
    for (const kind of [...LEADS_AWAY, 'a dangling link inside', ...BEHIND]) {
      const file = KINDS[kind]?.replace('csv', name === 'raw -o' ? 'json' : 'csv');
      const { exit, stderr } = await run([...words, `${prefix}${file}`], { cwd, stdin: LIST });
      expect([kind, exit, stderr]).toEqual([kind, 2, expect.stringContaining('refusing to write')]);
    }
    expect(facts()).toEqual(before);
  });

  it.each(Object.entries(INPUTS))('%s is not read through a link that leads away', async (_what, words) => {
    const [cwd, prefix] = place(clone());
    service.sent();
    for (const name of ['outside.csv', 'far/x.csv', 'out/x.csv']) {
      const { stderr } = await run(words(`${prefix}${name}`), { cwd, exit: 2 });
      expect(stderr).toContain(`refusing to read ${prefix}${name}: the link ${home.at('repo')}/`);
    }
    for (const name of ['inside.csv', 'file.csv']) {
      const { stderr } = await run(words(`${prefix}${name}`), { cwd });
      expect(stderr).not.toContain('refusing');
    }
    expect(service.sent()).toBeLessThan(3);
  });
});

it.each(Object.entries(OUTPUTS))(
  '%s -o replaces a file only with --force, and keeps its mode',
  async (name, words) => {
    const cwd = clone();
    const file = ['raw', 'schema'].includes(name) ? 'old.json' : 'old.csv';
    const path = home.write(`repo/${file}`, LIST, 0o640);
    await run(OUTPUTS.find ?? [], { cwd, exit: 0 });
    const more = { enrich: ['--answers', 'new.answers.ndjson'], tools: ['--demo'] }[name] ?? [];
    const write = (force: readonly string[], exit: number) =>
      run([...words, ...more, '-o', file, ...force], { cwd, stdin: LIST, exit });
    await write([], 2);
    expect(home.read(`repo/${file}`)).toBe(LIST);
    await write(['--force'], 0);
    expect([home.read(`repo/${file}`) === LIST, modeOf(path)]).toEqual([false, '640']);
  },
);

it('the attack runs nothing at the next login', async () => {
  clone();
  home.write('repo/places.csv', `name,city\n"$(touch\${IFS}$TMP/PWN)",SF\n`);
  const env = { HOME: home.path, TMP: home.path };
  for (const [cwd, list, output] of [
    ['repo/sub', '../places.csv', '../dangling.csv'],
    ['', 'repo/places.csv', 'repo/dangling.csv'],
    ['elsewhere', home.at('repo/places.csv'), home.at('repo/dangling.csv')],
  ] as const)
    await run(['enrich', list, '-o', output], { cwd: home.at(cwd), env, exit: 2, asProcess: true });
  await shell('bash --login -c true', { env: { ...service.env, ...env }, cwd: home.path });
  expect([home.list().includes('PWN'), home.list().includes('.bash_profile')]).toEqual([false, false]);
});

describe('a link', () => {
  it('is followed if it stays in the git work tree, unless that contains the home folder', async () => {
    const repo = clone();
    mkdirSync(join(repo, '.git'));
    symlinkSync('../data', join(repo, 'sub/data'));
    await run([...(OUTPUTS.find ?? []), '-o', 'sub/data/a.csv'], { cwd: repo, exit: 0 });
    mkdirSync(home.at('.git'));
    await run([...(OUTPUTS.find ?? []), '-o', 'out/a.csv'], { cwd: repo, exit: 2 });
    expect([home.list('repo/data'), home.list('.bashrc.d')]).toEqual([['a.csv'], []]);
  });

  it('leads out of the work tree if it leads into its .git folder', async () => {
    const repo = clone();
    home.write('repo/.git/config', LIST);
    symlinkSync('../.git', join(repo, 'sub/git'));
    symlinkSync('.git/config', join(repo, 'list.csv'));
    await run([...(OUTPUTS.find ?? []), '-o', 'sub/git/a.csv'], { cwd: repo, exit: 2 });
    for (const list of ['list.csv', 'sub/git/config'])
      await run(['enrich', list, '--dry-run'], { cwd: repo, exit: 2 });
    expect(home.list('repo/.git')).toEqual(['config']);
  });

  it('is followed if it lies in the home folder, and with --force', async () => {
    const repo = clone();
    symlinkSync('elsewhere', home.at('data'));
    symlinkSync('repo/file.csv', home.at('latest.csv'));
    await run([...(OUTPUTS.find ?? []), '-o', '../data/out.csv'], { cwd: repo, exit: 0 });
    await run(['enrich', '../latest.csv', '-o', '../data/rows.csv'], { cwd: repo, exit: 0 });
    expect(home.list('elsewhere')).toEqual(['out.csv', 'rows.answers.ndjson', 'rows.csv']);
    await run([...(OUTPUTS.find ?? []), '-o', 'dangling.csv', '--force'], { cwd: repo, exit: 0 });
    expect(home.read('.bash_profile')).toContain('Nopa');
    await run([...(OUTPUTS.find ?? []), '-o', '../latest.csv'], { cwd: repo, exit: 2 });
  });

  it.runIf(existsSync('/dev/shm'))('in /dev/shm is not one of the system', async () => {
    const cwd = mkdtempSync('/dev/shm/restaurant-test-');
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const links = { 'a.csv': home.at('new'), out: home.path, 'in.csv': home.write('secret.csv', LIST) };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(cwd, name));
    for (const output of ['a.csv', 'out/b.csv'])
      await run([...(OUTPUTS.find ?? []), '-o', output], { cwd, exit: 2 });
    await run(['enrich', 'in.csv'], { cwd, exit: 2 });
    expect(home.list().filter((name) => ['new', 'b.csv'].includes(name))).toEqual([]);
  });

  it.each(Object.entries(INPUTS))(
    'that leads %s away has a hint that works as printed',
    async (what, words) => {
      const cwd = clone();
      const { stderr } = await run(words('outside.csv'), { cwd, exit: 2 });
      const hint = /if you trust the link: restaurant (.*?)["\n]/.exec(stderr)?.[1] ?? '';
      expect(hint).toContain(home.at('secret.csv'));
      const other = await run(hint.split(' '), { cwd });
      expect([what, other.stderr]).toEqual([what, expect.not.stringContaining('refusing')]);
    },
  );
});

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { modeOf } from '../helpers/files.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { RUNS, resetFolder } from '../helpers/runs.ts';
import { PAID, useService } from '../helpers/service.ts';
import { readTree } from '../helpers/tree.ts';

const service = useService();
const given = () => ({ RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl });

/** Returns every file and folder below a folder. */
const tree = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** A folder with a list that was brought up to date. */
const FOLDER = join(newHome().home, 'lists');
resetFolder(FOLDER);

/** Runs that need no files in the current folder. */
const OTHER_RUNS: Partial<typeof RUNS> = {
  enrich: { words: ['enrich', '-'], stdin: 'name,city\nNopa,SF\n' },
  review: { words: ['review', join(FOLDER, 'results.csv'), '--json'] },
  unsave: { words: ['unsave', ...(RUNS.save?.words.slice(1) ?? [])] },
};

/** Runs commands that write files, in a new home. */
async function allCommands(env: Record<string, string>, cwd: string): Promise<void> {
  for (const [name, planned] of Object.entries(RUNS)) {
    const { words, ...stdin } = OTHER_RUNS[name] ?? planned;
    const { exit, stderr } = await runCli(words, { env: { ...given(), ...env }, cwd, ...stdin });
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
    for (const place of places) expect([place, modeOf(join(home, place))]).toEqual([place, '700']);
    for (const path of tree(home)) {
      const full = join(home, path);
      if (statSync(full).isFile()) expect([path, modeOf(full)]).toEqual([path, '600']);
    }
  });

  it('follow the XDG variables', async () => {
    const [home, elsewhere, cwd] = [newHome().home, newHome().home, newHome().home];
    const names = ['CACHE', 'CONFIG', 'DATA', 'STATE'];
    const xdg = Object.fromEntries(names.map((name) => [`XDG_${name}_HOME`, join(elsewhere, name)]));
    await allCommands({ HOME: home, ...xdg }, cwd);
    expect([tree(home), tree(cwd), readdirSync(elsewhere)]).toEqual([[], [], names]);
    for (const name of names) expect(readdirSync(join(elsewhere, name))).toEqual(['restaurant']);
  });

  it('are not required: find works in any home with the key in the environment', async () => {
    const { home: cwd } = newHome();
    const file = join(cwd, 'file');
    writeFileSync(file, 'not a folder');
    for (const HOME of ['/dev/null', file, join(file, 'none'), '/proc', '', 'here', undefined]) {
      const homedir = () => {
        if (HOME === undefined) throw new Error('no such user');
        return HOME;
      };
      const options = { env: { ...given(), HOME }, homedir, cwd };
      for (const name of ['find', 'lookup', 'status', 'tools']) {
        const { exit, stdout, stderr } = await runCli(RUNS[name]?.words ?? [], options);
        expect([HOME, name, exit, stderr]).toEqual([HOME, name, 0, '']);
        expect(stdout).not.toBe('');
      }
      const login = await runCli(['login', '--key-stdin'], { ...options, stdin: PAID });
      expect([HOME, [2, 9].includes(login.exit)]).toEqual([HOME, true]);
      expect(login.stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
    expect(readdirSync(cwd)).toEqual(['file']);
    expect(readFileSync(file, 'utf8')).toBe('not a folder');
  });
});

it('environment variables begin with RESTAURANT_ and count as unset when empty', async () => {
  const { environment } = await readTree();
  const names = environment.flatMap(({ name }) => name.split(', '));
  const own = names.filter((name) => name.startsWith('RESTAURANT_'));
  expect(own.length).toBeGreaterThan(15);
  const known =
    /^(XDG_\w+_HOME|BROWSER|NO_COLOR|FORCE_COLOR|CLICOLOR_FORCE|FORCE_HYPERLINK|CI|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|ALL_PROXY|TRACE(PARENT|STATE)|BAGGAGE)$/;
  for (const name of names) expect(own.includes(name) || known.test(name)).toBe(true);
  const { home, env } = newHome();
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  const plain = await runCli(['status', '--json'], { env });
  expect(await runCli(['status', '--json'], { env: { ...empty, ...env } })).toEqual(plain);
  expect(JSON.parse(plain.stdout).files.config).toBe(join(home, '.config/restaurant/config.json'));
});

it('the sandbox listens on loopback only', async () => {
  const reached = (host: string) =>
    fetch(service.sandbox.baseUrl.replace('127.0.0.1', host), { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    );
  expect(await reached('127.0.0.1')).toBe(true);
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of outside) expect([address, await reached(address)]).toEqual([address, false]);
});

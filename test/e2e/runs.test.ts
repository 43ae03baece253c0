import { afterAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { shell } from '../helpers/process.ts';
import { runCli } from '../helpers/program.ts';
import { plannedRun, RUNS, resetFolder, splitWords, useCommandRuns } from '../helpers/runs.ts';
import { rawServer } from '../helpers/servers.ts';
import { PAID } from '../helpers/service.ts';
import { everyCommand, isGroup, readTree } from '../helpers/tree.ts';

const tree = await readTree();
const leaves = everyCommand(tree.commands).filter((command) => !isGroup(command));
// The sandbox runs until it is stopped, and pick needs a person.
const names = leaves.map(({ name }) => name).filter((name) => !['sandbox', 'pick'].includes(name));
const { service, home, fresh, again } = useCommandRuns();
const stopped = AbortSignal.abort(new AppError('interrupted', 'interrupted by SIGINT'));

/** A proxy that no command should use; counts connections. */
const proxy = await rawServer((socket) => socket.destroy());
afterAll(proxy.close);
const env = { HTTPS_PROXY: proxy.origin, HTTP_PROXY: proxy.origin };

describe('every command', () => {
  it('has a run in this test', () => {
    expect(Object.keys(RUNS).sort()).toEqual([...names].sort());
  });

  it.each(names)(
    '%s prints the same stdout with --verbose, --quiet and any locale, and no escapes with NO_COLOR',
    async (name) => {
      const plain = await fresh(plannedRun(name), [], { env });
      expect(plain).toMatchObject({ exit: 0, stderr: name === 'enrich' ? expect.any(String) : '' });
      const quiet = await fresh(plannedRun(name), ['--quiet'], { env });
      expect(quiet).toEqual({ exit: 0, stdout: plain.stdout, stderr: '' });
      const verbose = await fresh(plannedRun(name), ['--verbose'], { env });
      expect(verbose).toMatchObject({ exit: 0, stdout: plain.stdout });
      expect(`${plain.stdout}${verbose.stderr}`).not.toContain('\u001b');
      const german = { ...env, LC_ALL: 'de_DE.UTF-8', TZ: 'Asia/Tokyo' };
      expect(await fresh(plannedRun(name), [], { env: german })).toEqual(plain);
      expect(proxy.connections()).toBe(0);
      // At a terminal.
      const tty = { stdout: true, stderr: true };
      expect(await fresh(plannedRun(name), ['--quiet'], { tty })).toMatchObject({ exit: 0, stderr: '' });
      const shown = await fresh(plannedRun(name), [], { tty, env: { NO_COLOR: '1' } });
      expect(shown.exit).toBe(0);
      expect(shown.stdout + shown.stderr).not.toContain('\u001b');
    },
  );
});

describe('every example', () => {
  const all = everyCommand(tree.commands).filter(({ name }) => name !== 'pick');
  const examples = [...new Set([...all.flatMap(({ examples: lines }) => lines)])];
  const lines = [
    // Row numbers refer to the last find.
    'restaurant find "Nopa" --city SF',
    'restaurant find "Nopa" --city SF --demo',
    ...examples,
  ];

  it('runs, in order', async () => {
    expect(examples.length).toBeGreaterThan(leaves.length);
    resetFolder(home);
    for (const line of lines.filter((each) => !/[|<>]/.test(each))) {
      const words = splitWords(line);
      // A server runs until it is stopped, and its port may be in use.
      if (words[0] === 'sandbox') {
        const port = words.includes('--port') ? [] : ['--port', '0'];
        const outcome = await again({ words: [...words, ...port] }, { signal: stopped });
        const stdout = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/);
        expect({ line, ...outcome }).toEqual({ line, exit: 130, stdout, stderr: '' });
        continue;
      }
      // At a terminal, since login without options prompts; `CI` disables the spinner.
      const tty = words.join() === 'login' ? { stdin: true, stderr: true } : {};
      const outcome = await again({ words }, { tty, answers: { secret: PAID }, env: { TERM: 'dumb' } });
      // The summary of a list is not its output. After a search in the sample data, row numbers and `last` stay with it.
      const isList = words.includes('-o') && words[0] === 'enrich';
      const stderr = isList
        ? /^\d+ rows? in .*: 1 matched/m
        : /^(warning: this is sample data, as in your last search\n)?$/;
      expect({ line, ...outcome }).toMatchObject({ line, exit: 0, stderr: expect.stringMatching(stderr) });
    }
  });

  it.each(lines.filter((line) => /[|<>]/.test(line)))('runs in a shell: %s', async (line) => {
    resetFolder(home);
    const there = line.replaceAll('https://api.example.com', service.sandbox.baseUrl);
    const options = { env: { ...service.env, HOME: home }, cwd: home };
    const { exit, stdout } = await shell(`set -o pipefail; ${there}`, options);
    expect([line, exit]).toEqual([line, 0]);
    expect(stdout).not.toBe('');
  });

  it('of a help topic runs', async () => {
    for (const topic of ['environment', 'exit-codes', 'formats']) {
      const { stdout } = await runCli(['help', topic]);
      for (const [, line = ''] of stdout.matchAll(/^ {2}\$ (restaurant .*)$/gm)) {
        const { exit, stderr } = await shell(`set -o pipefail; ${line}`, { env: { HOME: home } });
        expect([line, exit, stderr]).toEqual([line, 0, '']);
      }
    }
  });

  it('of the program and its introduction uses existing commands', async () => {
    for (const words of [[], ['--help']]) {
      const { stdout } = await runCli(words);
      const shown = [...stdout.matchAll(/^ {2}\$ restaurant (\w+)/gm)].map(([, name]) => name);
      expect(shown.length).toBeGreaterThan(2);
      expect(tree.commands.map(({ name }) => name)).toEqual(expect.arrayContaining(shown));
    }
  });
});

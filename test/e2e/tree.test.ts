import { describe, expect, it } from 'vitest';
import { RESULT_FLAGS } from '../../src/commands/find/refine.ts';
import { SETTING_NAMES, SETTINGS } from '../../src/settings/catalog.ts';
import { VERSION } from '../../src/version.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { everyCommand, isGroup, readTree, wordsOf } from '../helpers/tree.ts';

const tree = await readTree();
const commands = everyCommand(tree.commands);
const leaves = commands.filter((command) => !isGroup(command));
const options = [...tree.options, ...commands.flatMap((command) => command.options)];
const { env } = newHome();
const run = (...words: string[]) => runCli(words, { env });

/** The expected usage error: two lines on stderr, nothing on stdout. */
const refusal = (message: string | RegExp) => ({
  exit: 2,
  stdout: '',
  stderr: expect.stringMatching(
    typeof message === 'string'
      ? new RegExp(`^error: ${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\nhint: .+\n$`)
      : message,
  ),
});

describe('the command tree', () => {
  it('follows the POSIX naming conventions', () => {
    for (const { name } of commands) expect(name).toMatch(/^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)?$/);
    for (const { name, short } of options) {
      expect(name).toMatch(/^--[a-z]+(-[a-z]+)*$/);
      if (short !== null) expect(short).toMatch(/^-[A-Za-z0-9]$/);
      // -h is always help; -v is not used, since it means verbose or version elsewhere.
      expect(['-h', '-v']).not.toContain(short);
    }
  });

  it('lists the formats of each command and its defaults in help and schema', async () => {
    const found: Record<string, unknown> = {};
    for (const name of ['find', 'lookup', 'tools', 'call', 'enrich']) {
      const { format, 'max-age': maxAge } = JSON.parse((await run('schema', name)).stdout).input.properties;
      const help = (await run(name, '--help')).stdout.replace(/\s+/g, ' ');
      expect(help).toContain(`(${format.enum.join(', ')}; default`);
      found[name] = [format.enum.at(-1), maxAge?.default];
    }
    expect(found).toEqual({
      find: ['html', '10m'],
      lookup: ['html', '10m'],
      tools: ['geojson', undefined],
      call: ['geojson', '0'],
      enrich: ['json', '10m'],
    });
  });

  it('describes every option with its choices, default and value', () => {
    for (const { name, flags, description, type, choices, ...rest } of options) {
      expect([name, description.length > 4]).toEqual([name, true]);
      expect([name, /<.+>$/.test(flags)]).toEqual([name, type !== 'boolean']);
      for (const choice of choices ?? []) expect(description).toContain(choice);
      if (type !== 'array' && typeof rest.default === 'string' && rest.default.length > 0) {
        expect(description).toContain(`default: ${rest.default.replace(/^0$/, '')}`);
      }
    }
    for (const { arguments: args } of commands)
      for (const each of args) expect(each.description).not.toBe('');
    for (const { summary } of commands) expect(summary.length).toBeGreaterThan(10);
  });

  it('uses one syntax, type and default for a flag in all commands', () => {
    const seen = new Map<string, unknown>();
    for (const { name, flags, type, default: fallback } of options) {
      const facts = { name, flags, type };
      expect(facts).toEqual({ ...facts, ...(seen.get(name) ?? {}) });
      seen.set(name, facts);
      expect([undefined, false]).toContainEqual(type === 'boolean' ? fallback : undefined);
    }
  });

  it('repeats every filter of pick in the search that needs no terminal', () => {
    const namesOf = (wanted: string) =>
      (commands.find(({ name }) => name === wanted)?.options ?? []).map(({ name }) => name);
    const [find, last, pick, lookup] = ['find', 'last', 'pick', 'lookup'].map(namesOf) as string[][];
    const filters = find?.filter((name) => last?.includes(name) && pick?.includes(name));
    expect(filters?.filter((name) => !lookup?.includes(name)).toSorted()).toEqual(RESULT_FLAGS.toSorted());
  });

  it('is printed with exit codes and variables', () => {
    expect(tree.exit_codes.map(({ exit }) => exit)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130]);
    const names = tree.environment.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(SETTING_NAMES.map((name) => SETTINGS[name].env)));
    for (const name of names.flatMap((each) => each.split(', '))) expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/);
  });
});

describe.each(commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const words = wordsOf(command);

  it('has help', async () => {
    const help = await run('help', ...words);
    expect(help).toMatchObject({ exit: 0, stderr: '' });
    expect(await run(...words, '--help')).toEqual(help);
    expect(await run(...words, '-h')).toEqual(help);
    if (isGroup(command)) expect(await run(...words)).toEqual(help);
    const lines = help.stdout.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^Usage: restaurant ${name}( |$)`));
    expect(help.stdout).toMatch(/^ {2}\$ restaurant /m);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /[\u001b\t]| $/.test(line))).toEqual([]);
    for (const { flags } of command.options) expect(help.stdout).toContain(flags);
    const { stdout: onTerminal } = await runCli([...words, '--help'], { env, tty: { stdout: true } });
    for (const long of command.global_options) expect(onTerminal).toContain(`${long}`);
    // A program gets the options of most commands only when it asks for them.
    const shared = isGroup(command)
      ? []
      : ['--agent', ...command.global_options.filter((each) => each === '--timeout')];
    for (const long of shared) expect(help.stdout).not.toContain(` ${long} `);
    const more = /More options \((--\w+)/.exec(help.stdout)?.[1];
    expect(more !== undefined).toBe(shared.length > 0);
    if (more === '--demo') expect(command.global_options).toContain('--demo');
  });
});

describe.each(leaves.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const words = wordsOf(command);
  /** A valid number of arguments. */
  const needed = command.arguments
    .filter(({ required }) => required)
    .map(({ choices }) => choices?.[0] ?? 'x');

  it('prints its help also with usage errors', async () => {
    const help = await run('help', ...words);
    const others = [
      [...words, '--no-such-option', '-h'],
      ['-h', ...words],
      [...words, '--format', '-h'],
    ];
    if (command.commands === undefined) others.push([...words, 'a', 'b', 'c', 'd', '--help']);
    for (const line of [...others, [...words, '-qh']]) expect(await run(...line)).toEqual(help);
  });

  it('rejects an unknown option', async () => {
    const line = [...words, ...needed, '--no-such-option'];
    expect(await run(...line)).toEqual(
      refusal(
        /^error: unknown option '--no-such-option'\nhint: (?:.*--help|without it: restaurant .*|to search for it: restaurant find x .*)\n$/,
      ),
    );
    const { exit, stdout, stderr } = await run(...line, '--json');
    expect([exit, stdout, stderr.split('\n').length]).toEqual([2, '', 2]);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'usage',
      message: "unknown option '--no-such-option'",
      hint: expect.stringContaining('restaurant '),
      retryable: false,
    });
  });

  it('rejects too few and too many arguments', async () => {
    if (needed.length > 0) {
      expect(await run(...words)).toEqual(
        refusal(new RegExp(`^error: ${name} needs <.+>\nhint: .*--help\n$`)),
      );
    }
    if (command.arguments.some(({ variadic }) => variadic)) return;
    const tooMany = [...command.arguments.map(() => 'x'), 'one-more', 'another'];
    const pattern = command.commands === undefined ? `^error: ${name} takes ` : '^error: unknown command ';
    expect(await run(...words, ...tooMany)).toEqual(refusal(new RegExp(pattern)));
  });

  it('rejects every global option that it does not use', async () => {
    for (const { name: flag, type } of tree.options) {
      if (flag === '--version' || command.global_options.includes(flag)) continue;
      const value = type === 'boolean' ? [] : ['x'];
      const refused = await run(...words, ...needed, flag, ...value, '--quiet');
      const message =
        flag === '--json' ? `"${name} does not accept --json"` : `error: ${name} does not accept ${flag}\n`;
      expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(message) });
    }
  });
});

describe('help', () => {
  it('of the program lists every command; without arguments an introduction is printed', async () => {
    const help = await run('help');
    expect(help).toMatchObject({ exit: 0, stderr: '' });
    for (const flag of ['--help', '-h']) expect(await run(flag)).toEqual(help);
    expect(help.stdout).toMatch(/^Usage: restaurant/);
    for (const { name } of tree.commands) expect(help.stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    expect(help.stdout).toContain('-V, --version');
    const bare = await run();
    expect(bare).toMatchObject({ exit: 0, stderr: '' });
    expect(bare.stdout).toMatch(/\$ restaurant find .* --demo[\s\S]*--help/);
    for (const line of `${help.stdout}${bare.stdout}`.split('\n'))
      expect(line.length).toBeLessThanOrEqual(80);
  });

  const defaults = Object.values(SETTINGS).flatMap((one) => ('default' in one ? one.default : []));
  it.each([
    ['environment', [...tree.environment.map(({ name }) => name), ...defaults]],
    ['exit-codes', []],
    ['formats', []],
    ['options', tree.options.flatMap(({ name, flags }) => (name === '--version' ? [] : flags))],
  ])('on the topic %s is complete and fits 80 columns', async (topic, parts) => {
    const { exit, stdout, stderr } = await run('help', topic);
    expect([exit, stderr]).toEqual([0, '']);
    for (const part of parts) expect(stdout).toContain(part);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b');
  });

  it('suggests the nearest topic', async () => {
    expect(await run('help', 'environmnt')).toEqual(
      refusal(/^error: unknown topic 'environmnt'\nhint: did you mean: restaurant help environment\n$/),
    );
  });

  it('fails for a command that does not exist', async () => {
    for (const words of [
      ['fnd', '-h'],
      ['--help', 'fnd'],
      ['help', 'fnd'],
    ]) {
      expect(await run(...words)).toEqual(
        refusal(/^error: unknown command 'fnd'\nhint: .*restaurant find\b/),
      );
    }
    expect(await run('help', 'config', 'gte')).toEqual(refusal("unknown command 'config gte'"));
  });
});

it.each(['--version', '-V'])('%s prints the version and nothing else', async (flag) => {
  expect(await run(flag)).toEqual({ exit: 0, stdout: `${VERSION}\n`, stderr: '' });
});

describe('an invalid command line', () => {
  it('accepts no abbreviation', async () => {
    expect(await run('ramen')).toEqual(refusal("unknown command 'ramen'"));
    expect(await run('')).toEqual(refusal("unknown command ''"));
    expect(await run('--', 'ramen')).toEqual(refusal("unknown command 'ramen'"));
    const names = commands.map((command) => command.name);
    for (const command of commands) {
      const part = command.name.slice(0, -1);
      if (names.includes(part) || part.endsWith(' ') || ['tool', 'config profile'].includes(part)) continue;
      expect(await run(...part.split(' '), 'x')).toEqual(refusal(`unknown command '${part}'`));
    }
    for (const flag of ['--lim', '--jso', '--verb']) {
      expect(await run('find', 'x', flag)).toEqual(refusal(`unknown option '${flag}'`));
    }
  });

  it('with an unknown option is distinguished from a missing command', async () => {
    expect(await run('--bogus')).toEqual(refusal("unknown option '--bogus'"));
    expect(await run('-v')).toEqual(refusal("unknown option '-v'"));
    expect(await run('--jsn')).toEqual(refusal(/^error: unknown option '--jsn'\nhint: restaurant --help\n$/));
    expect((await run('config', '--bogus')).stderr).toMatch(/^error: unknown option '--bogus'/);
    expect(await run('--city', 'SF', 'find', 'Nopa', '--demo')).toMatchObject({ exit: 0 });
    for (const words of [['--json'], ['config', '--json']]) {
      const { exit, stdout, stderr } = await run(...words);
      expect([exit, stdout]).toEqual([2, '']);
      expect(JSON.parse(stderr).error).toMatchObject({
        code: 'usage',
        hint: expect.stringContaining('schema'),
      });
    }
  });

  it('is reported as JSON with --json in any position', async () => {
    const wrong = [
      ...['fnd x --json', '--json fnd x', '-j fnd', '-qj fnd', 'find x --bogus --json', 'help fnd --json'],
      ...['find x --format=json --bogus', 'find x --format json --bogus', 'find --limit x -j'],
      ...['find -jn 0 x', 'config gte --json', 'find x --json --timeout'],
    ];
    for (const line of wrong) {
      const { exit, stdout, stderr } = await run(...line.split(' '));
      expect([line, exit, stdout]).toEqual([line, 2, '']);
      expect(Object.keys(JSON.parse(stderr).error)).toEqual(['code', 'message', 'hint', 'retryable']);
    }
    const fromVariable = await runCli(['find', 'x'], { env: { ...env, RESTAURANT_FORMAT: 'json' } });
    expect(JSON.parse(fromVariable.stderr).error.code).toBe('usage');
    // Words after `--` are not options.
    expect((await run('fnd', '--', '--json')).stderr).toMatch(/^error: /);
  });
});

describe('an option', () => {
  const demo = (...words: string[]) => run(...words, '--demo');

  it('is accepted before or after the command, with = or a space, alone or grouped', async () => {
    const json = await demo('find', 'Nopa', '--city', 'SF', '--limit', '2', '--json');
    expect(JSON.parse(json.stdout).results).toHaveLength(2);
    for (const words of [
      ['--json', 'find', 'Nopa', '--city', 'SF', '--limit', '2'],
      ['find', '--limit', '2', '--city', 'SF', 'Nopa', '-j'],
      ['find', 'Nopa', '--city=SF', '--limit=2', '--json'],
      ['find', 'Nopa', '--city', 'SF', '-n', '2', '-j'],
      ['find', 'Nopa', '--city', 'SF', '-n2', '-qj'],
      ['find', 'Nopa', '--city', 'SF', '-jn2'],
      ['-q', '--format', 'json', 'find', 'Nopa', '--city', 'SF', '-n2'],
    ]) {
      expect(await demo(...words)).toEqual(json);
    }
  });

  it('has the last of several values', async () => {
    const words = ['find', 'Nopa', '--city', 'Paris', '--city', 'SF', '--demo'];
    expect((await run('--format', 'csv', ...words, '--format', 'json')).stdout).toContain(
      '"city":"San Francisco"',
    );
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { splitWords } from '../../src/util/shell.ts';
import { VERSION } from '../../src/version.ts';
import { type RunOptions, runCli, type Transcript } from './program.ts';

/** Commands of a session file: they get the folder and their words, and return what they print. */
export type Commands = Readonly<Record<string, (folder: string, ...words: string[]) => string>>;

interface MachineOptions {
  readonly env?: () => Readonly<Record<string, string>>;
  readonly commands?: Commands;
  readonly run?: Pick<RunOptions, 'now' | 'sleep'>;
}

/** The parts of a command line that runs the program. */
const COMMAND = new RegExp(
  [
    /^(?:(?<source>(?:printf|echo|cat) .*?) \| )?/,
    /(?<variables>(?:\w+=(?:'[^']*'|\S*) )*)/,
    /restaurant(?<words> .*?)?/,
    /(?: < (?<file>\S+))?(?<silent> > \/dev\/null)?(?: \| grep (?<pattern>.+?))?(?<sorted> \| sort)?$/,
  ]
    .map(({ source }) => source)
    .join(''),
  's',
);

function wordsOf(line: string): readonly string[] {
  const words = splitWords(line);
  if (words === undefined) throw new Error(`a quote is missing: ${line}`);
  return words;
}

/** Replaces escapes as `printf` does, and `\ufeff`. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:[ntr]|u[\da-f]{4})/g, (code) => JSON.parse(`"${code}"`));

/** Commands of a shell that also work on Windows. They return what they print. */
const BUILT_IN: Readonly<Record<string, (machine: Machine, words: readonly string[]) => string>> = {
  cat: (machine, names) => names.map((name) => machine.read(name)).join(''),
  cd: (machine, [folder = '']) => machine.enter(folder),
  cmp: (machine, [one = '', other = '']) =>
    machine.read(one) === machine.read(other) ? '' : `${one} ${other} differ\n`,
  export: (machine, words) => machine.set(words.map((word) => word.split(/=(.*)/s))),
  head: (machine, names) => `${machine.read(names.at(-1) ?? '').split('\n')[0]}\n`,
  ls: (machine, [option]) => machine.list(option === '-A'),
  mode: (machine, names) => names.map((name) => `${machine.modeOf(name)} ${name}\n`).join(''),
  printf: (machine, [text = '', mode, name = '']) =>
    machine.write(name, (mode === '>>' ? machine.read(name) : '') + unescaped(text)),
  replace: (machine, [before = '', after = '', name = '']) =>
    machine.write(name, machine.read(name).replaceAll(before, after)),
  unset: (machine, names) => machine.set(names.map((name) => [name])),
};

/** Returns whether a line needs a shell, which Windows does not have. */
export function needsShell(line: string, commands: Commands = {}): boolean {
  if (!line.startsWith('$ ') || COMMAND.test(line.slice(2))) return false;
  const [name = '', ...words] = wordsOf(line.slice(2));
  return name === 'mode' || !(name in commands || isBuiltIn(name, words));
}

const isBuiltIn = (name: string, words: readonly string[]): boolean =>
  name in BUILT_IN && (name !== 'ls' || ['', '-A'].includes(words.join(' ')));

const NAMED_KEYS: Readonly<Record<string, string>> = {
  ...{ '^': 'ctrl-c', '⏎': 'enter', '⌫': 'backspace', '⎋': 'escape', '↑': 'up', '↓': 'down', '␣': ' ' },
};

/** A terminal of this width, and what is typed at it. */
const terminal = (columns: number, keys?: string, answers = '', secrets = ''): RunOptions => ({
  tty: { stdin: keys !== undefined, stdout: true, stderr: true, columns },
  answers: {
    keys: [...(keys ?? '')].map((key) => NAMED_KEYS[key] ?? key),
    text: answers.split(','),
    secret: secrets.split(','),
  },
});

/** The address of a service in the name of its file of saved restaurants. */
const fileNameOf = (service: string): string => service.replace('http://', '').replace(':', '-');

/** A home folder and the variables of a session. */
export class Machine {
  readonly #home: string;
  #cwd: string;
  readonly #env: Record<string, string | undefined>;
  readonly #options: MachineOptions;

  constructor(home: string, env: Record<string, string>, options: MachineOptions) {
    this.#home = home;
    this.#cwd = home;
    this.#env = env;
    this.#options = options;
  }

  write(name: string, text: string): string {
    const file = resolve(this.#cwd, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
    return '';
  }

  read = (name: string): string => readFileSync(resolve(this.#cwd, name), 'utf8');

  modeOf = (name: string): string => (statSync(resolve(this.#cwd, name)).mode & 0o777).toString(8);

  list(hidden: boolean): string {
    const names = readdirSync(this.#cwd).filter((name) => hidden || !name.startsWith('.'));
    return names
      .sort()
      .map((name) => `${name}\n`)
      .join('');
  }

  enter(folder: string): string {
    this.#cwd = resolve(this.#cwd, folder);
    return '';
  }

  /** Sets variables, or unsets those without a value. */
  set(variables: readonly (readonly string[])[]): string {
    for (const [name = '', value] of variables) this.#env[name] = value;
    return '';
  }

  async execute(text: string, input: readonly string[]): Promise<Transcript> {
    const { RESTAURANT_BASE_URL: service = '' } = this.#options.env?.() ?? {};
    const line = text
      .replaceAll('$SAVED', `.local/share/restaurant/saved-${fileNameOf(service)}.answers.ndjson`)
      .replaceAll('$SERVICE', service)
      .replaceAll('$HOST', service.replace('http://', ''))
      .replaceAll('$HOME', this.#home.replaceAll('\\', '/'));
    const command = COMMAND.exec(line)?.groups;
    if (command !== undefined) return this.#restaurant(command);
    const [name = '', ...words] = wordsOf(line);
    const printed = (stdout: string) => ({ exit: 0, stdout, stderr: '' });
    const own = this.#options.commands?.[name];
    if (own !== undefined) return printed(own(this.#cwd, ...words));
    if (name === 'cat' && words[0] === '>')
      return printed(this.write(words[1] ?? '', `${input.join('\n')}\n`));
    if (isBuiltIn(name, words)) return printed(BUILT_IN[name]?.(this, words) ?? '');
    return this.#shell(line);
  }

  #shell(line: string): Transcript {
    const { PATH, TMPDIR } = process.env;
    const options = { cwd: this.#cwd, env: { PATH, TMPDIR, HOME: this.#home }, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], options);
    return { exit: status ?? -1, stdout, stderr };
  }

  async #restaurant(line: Record<string, string>): Promise<Transcript> {
    const { source, variables = '', words = '', file, silent, pattern, sorted } = line;
    const own = Object.fromEntries(
      wordsOf(variables).map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1) ?? []),
    );
    const { COLUMNS, KEYS, ANSWERS, SECRETS, ...env } = { ...this.#env, ...own };
    const transcript = await runCli(wordsOf(words), {
      ...this.#options.run,
      cwd: this.#cwd,
      ...(source === undefined && file === undefined ? {} : { stdin: this.#stdin(source, file) }),
      ...(COLUMNS === undefined ? {} : terminal(Number(COLUMNS), KEYS, ANSWERS, SECRETS)),
      env: COLUMNS === undefined ? env : { NO_COLOR: '1', ...env },
    });
    if (silent !== undefined) return { ...transcript, stdout: '' };
    if (pattern === undefined && sorted === undefined) return transcript;
    const [text = ''] = wordsOf(pattern ?? '');
    const shown = transcript.stdout.split(/(?<=\n)/).filter((one) => one.includes(text));
    return { ...transcript, stdout: (sorted === undefined ? shown : shown.sort()).join('') };
  }

  #stdin(source: string | undefined, file: string | undefined): string {
    if (source === undefined) return this.read(file ?? '');
    const [name, ...words] = wordsOf(source);
    if (name === 'cat') return words.map(this.read).join('');
    const text = words.join(' ');
    return name === 'echo' ? `${text}\n` : unescaped(text);
  }

  /** Replaces what changes from run to run, and what Bun says in other words. */
  withoutChanging(text: string): string {
    const { RESTAURANT_BASE_URL: service } = this.#options.env?.() ?? {};
    const addresses = service === undefined ? [] : [new URL(service).host];
    return [...addresses, ...addresses.map(encodeURIComponent), ...addresses.map(fileNameOf)]
      .reduce(
        (rest, address) => rest.replaceAll(address, '<host>'),
        text.replaceAll(JSON.stringify(this.#home).slice(1, -1), '<home>').replaceAll(this.#home, '<home>'),
      )
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
        Math.abs(Date.parse(time) - Date.now()) < 2 * 86_400_000 ? '<time>' : time,
      )
      .replace(/\b(Sun|Mon|Tue|Wed|Thu|Fri|Sat) \d\d:\d\d\b/g, '<day hour>')
      .replace(/\b\d+(\.\d)? ms\b|"ms": ?\d+/g, '<ms>')
      .replaceAll(VERSION, '<version>')
      .replaceAll(': URI error', ': URI malformed')
      .replace(/\b(Node\.js|Bun) (of the tests|[\w.]+, \w+ \w+)/g, '<runtime>')
      .replace(/\b\d+s ago\b/g, '<time> ago')
      .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT/g, '<time>');
  }
}

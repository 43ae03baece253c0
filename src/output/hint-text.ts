import {
  type Advice,
  adviceOf,
  type Command,
  type Hint,
  type SameCommand,
  type TypedLine,
  type TypedOption,
  type Word,
} from '../hint.ts';
import { traitsOf } from '../util/platform.ts';
import { posixWord, windowsWord } from '../util/shell.ts';

export interface HintRun {
  /** Its command line; undefined if there is none, as in a library. */
  readonly typed?: TypedLine | undefined;
  readonly platform: NodeJS.Platform;
  /** Returns what a command needs to know of this run: options to repeat, and whether it needs a service. */
  readonly traitsOfCommand?: (command: string) => {
    readonly hintOptions?: readonly string[];
    readonly needsService?: true;
  };
  /** Whether no service is configured, so that a command that needs one gets `--demo`. */
  readonly needsDemo?: boolean;
}

const NO_RUN: HintRun = { platform: 'linux' };

const NO_DEMO = ['--demo', '--help', '--profile', '--base-url', '--endpoint', '--dry-run', '--curl'];

const SHORT: Readonly<Record<string, string>> = { '--output': '-o' };

/** Commands of POSIX systems, with their counterparts in cmd.exe and PowerShell. */
const ON_WINDOWS: Readonly<Record<string, string>> = {
  'mkdir -p': 'mkdir',
  'ls -l': 'dir',
  mv: 'move',
  rm: 'del',
};

/** Formats a hint as one line. Commands are completed from the run, and quoted for the shell of its platform. */
export function hintText(hint: Hint, run: HintRun = NO_RUN): string {
  return adviceOf(hint)
    .map((part) => adviceText(part, run))
    .reduce((line, part) => `${line}${line.endsWith('?') ? ' ' : '; '}${part}`);
}

function adviceText({ text, command }: Advice, run: HintRun): string {
  if (command === undefined) return text ?? '';
  const line = commandText(command, run);
  if (text === undefined) return line;
  return `${text}${text.endsWith('?') ? '' : ':'} ${line}`;
}

export function commandText(command: Command, run: HintRun): string {
  const { env = {}, stdin, stdout, pipe } = command;
  const isWindows = traitsOf(run.platform).shell === 'windows';
  const quoted = (word: Word): string => (isWindows ? inWindows(word) : inPosix(word));
  if ('fragment' in command) return command.fragment.map(quoted).join(' ');
  const program = 'program' in command ? command.program : 'restaurant';
  let line = [
    isWindows ? (ON_WINDOWS[program] ?? program) : program,
    ...wordsOf(command, run).map(quoted),
  ].join(' ');
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  if (stdin !== undefined) {
    line = isWindows ? `type ${quoted(stdin)} | ${line}` : `${line} < ${quoted(stdin)}`;
  }
  if (stdout !== undefined) line += ` > ${quoted(stdout)}`;
  if (pipe !== undefined) line += ` | ${commandText(pipe, run)}`;
  if (variables.length > 0) {
    line = isWindows ? `${line} (with ${variables.join(' ')})` : `${variables.join(' ')} ${line}`;
  }
  return line;
}

function wordsOf(command: Exclude<Command, { fragment: unknown }>, run: HintRun): Word[] {
  if ('program' in command) return [...command.operands];
  const { typed } = run;
  if ('words' in command) {
    const words = [...command.words, ...serviceOptions(command.words, run)];
    return [...words, ...demoOption(words, words, run)];
  }
  const { again, without = [], operands: others = typed?.operands ?? [{ slot: '…' }] } = command;
  const operands = others.map((word) => renameFile(word, command));
  const kept = (typed?.options ?? []).filter(
    ({ flag, rivals = [] }) => !without.includes(flag) && ![flag, ...rivals].some((each) => each in again),
  );
  const added = Object.entries(again).flatMap(([flag, value]): TypedOption[] =>
    value === true ? [{ flag }] : [value].flat().map((each) => ({ flag, value: each })),
  );
  const [first] = operands;
  const isOptionLike = operands.some(
    (word) => typeof word === 'string' && word.startsWith('-') && word !== '-',
  );
  const options = [...kept, ...added].flatMap(({ flag, value }) =>
    optionWords({ flag, value: value && renameFile(value, command) }),
  );
  options.push(...demoOption(typed?.command ?? [], options, run));
  const words =
    isOptionLike && first !== undefined ? [...options, '--', ...operands] : [...operands, ...options];
  return [...(typed?.command ?? []), ...words];
}

function renameFile(word: Word, { renamed }: Pick<SameCommand, 'renamed'>): Word {
  if (renamed === undefined || typeof word !== 'string') return word;
  const isNamed = word === renamed.from || word.endsWith(`@${renamed.from}`);
  return isNamed ? `${word.slice(0, word.length - renamed.from.length)}${renamed.to}` : word;
}

function demoOption(
  [name]: readonly Word[],
  words: readonly Word[],
  { needsDemo, traitsOfCommand }: HintRun,
): Word[] {
  const isNeeded =
    needsDemo === true && typeof name === 'string' && traitsOfCommand?.(name).needsService === true;
  const hasService = NO_DEMO.some((flag) => words.includes(flag));
  return isNeeded && !hasService ? ['--demo'] : [];
}

function optionWords({ flag, value }: TypedOption): Word[] {
  const name = SHORT[flag] ?? flag;
  if (value === undefined) return [name];
  return typeof value === 'string' && value.startsWith('-') && value !== '-'
    ? [`${flag}=${value}`]
    : [name, value];
}

function serviceOptions(words: readonly Word[], { typed, traitsOfCommand }: HintRun): Word[] {
  const [name] = words;
  if (typeof name !== 'string' || words.includes('--help')) return [];
  const flags = traitsOfCommand?.(name).hintOptions ?? [];
  return (typed?.options ?? [])
    .filter(({ flag, value }) => flags.includes(flag) && !words.includes(flag) && !isSecret(value))
    .flatMap(optionWords);
}

const isSecret = (value: Word | undefined): boolean => typeof value === 'object' && 'variable' in value;

function inPosix(word: Word): string {
  if (typeof word === 'string') return posixWord(word);
  if ('slot' in word) return `<${word.slot}>`;
  const [before, after] = [word.before, word.after].map((text) => text.replace(/["\\$`]/g, '\\$&'));
  return `"${before}\${${word.variable}}${after}"`;
}

/** A word that cannot be written for both shells is left to the user. */
function inWindows(word: Word): string {
  if (typeof word === 'string') return windowsWord(word) ?? '<…>';
  if ('slot' in word) return `<${word.slot}>`;
  const { before, variable, after } = word;
  if (before === '' && after === '') return `<${variable}>`;
  return windowsWord(`${before}<${variable}>${after}`) ?? '<…>';
}

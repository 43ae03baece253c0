import { CommanderError } from 'commander';
import { again, type Hint, restaurant, type TypedOption } from '../hint.ts';
import { EXTENSIONS, FORMATS } from '../output/formats.ts';
import type { GlobalOptions } from '../settings/catalog.ts';
import { oneOf } from '../settings/values.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { type CliCommand, invalidValue, LineError } from './command.ts';
import { accepts, overrideFor } from './options.ts';

type Check = (program: CliCommand) => LineError | undefined;

/** The words that may be options. */
export const beforeEnd = (words: readonly string[]): readonly string[] =>
  words.includes('--') ? words.slice(0, words.indexOf('--')) : words;

export const isOptionLike = (word: string): boolean => /^-./s.test(word) && !/^-[\d.]+$/.test(word);

/** Splits `--flag=value` and `-nvalue`. The value may be a secret. */
export function splitOption(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] = /^(--[^=]*|-.)(?:=?(.+))?$/su.exec(word) ?? [];
  return { flag, value };
}

/** No option takes a key, because other users can read the command line. */
export const isKeyOption = (word: string): boolean =>
  /^--?(?:(?:api|access|auth)[-_]?)?(?:key|token|secret|password)$/i.test(splitOption(word).flag);

/** Returns a long option that is typed as `-city`, or with a dash in place of the hyphens, as it should be. */
export function fixDash(word: string, { innermost }: CliCommand): string | undefined {
  const [, name = ''] = /^(?:-|[—–]+)([a-z][\w-]+)(?:=.*)?$/s.exec(word) ?? [];
  return innermost.findOption(`--${name}`) && word.replace(/^(?:-|[—–]+)/, '--');
}

function wrongDash(program: CliCommand): LineError | undefined {
  const word = beforeEnd(program.words).find((each) => fixDash(each, program) !== undefined);
  return word === undefined ? undefined : new LineError('dash', `unknown option '${word}'`, word);
}

/** Words after an option that are more likely its value, or a part of it. */
interface StrayWords {
  readonly group: readonly string[];
  /** Where they are in the line, and where the words before them end. */
  readonly at: number;
  readonly end: number;
  /** The option before them, and its value. */
  readonly flag: string;
  readonly value: string | undefined;
}

/** A list of columns or a jq filter, as in `--json name,grade`. */
const COLUMNS_OR_FILTER = /^(?:[a-z_]+(?:,[a-z_]+)+|[.[{].*)$/is;

/** Returns the option that takes the value which people type after one that takes none. */
export function valueTaker(flag: string, value: string): '--columns' | '--jq' | undefined {
  if (!COLUMNS_OR_FILTER.test(value) && !SUMMARY_COLUMNS.includes(value)) return undefined;
  if (flag === '--quiet' || (flag === '--json' && /^[.[{]/.test(value))) return '--jq';
  return flag === '--json' ? '--columns' : undefined;
}

/** Whether a word apart is a part of a text: of the name, or of a note, but not another ID. */
const isOfText = (word: string, argument: string, flag: string): boolean =>
  argument !== 'id' || (flag === '--note' && !/^[#\d]/.test(word));

/** Returns words that are apart from the others of a name, or after an option that takes no value but could. */
export function strayWords({ words, innermost, line }: CliCommand): StrayWords | undefined {
  const { path, args, registeredArguments } = innermost;
  const [argument = ''] = registeredArguments.map((each) => each.name());
  const isTogether = words.join('\n').includes([...path.split(' '), ...args].join('\n'));
  if (isTogether || !['name', 'words', 'id'].includes(argument)) return undefined;
  const typed = beforeEnd(words);
  const operands = args.slice(0, args.length - Math.max(0, words.length - typed.length - 1));
  let end = typed.indexOf(path) + 1;
  for (const [index, word] of operands.entries()) {
    const at = typed.indexOf(word, end);
    const before = typed[at - 1] ?? '';
    const option = line.options.find((each) => isValueIn(before, each));
    const { flag = longName(before, innermost), value } = option ?? {};
    const isApart = at > end && index > 0 && isOfText(word, argument, flag);
    if (isApart || (at > end && valueTaker(flag, word) !== undefined)) {
      const next = operands.slice(index).findIndex((each, offset) => typed[at + offset] !== each);
      const group = operands.slice(index, next === -1 ? undefined : index + next);
      return { group, at, end, flag, value: value && String(value) };
    }
    end = at + 1;
  }
  return undefined;
}

const isValueIn = (word: string, { flag, value }: TypedOption): boolean =>
  value !== undefined && [value, `${flag}=${value}`, `-c${value}`].includes(word);

/** The last one of `-qj`. */
const longName = (flag: string, command: CliCommand): string =>
  command.findOption(flag.startsWith('--') ? flag : `-${flag.at(-1)}`)?.long ?? flag;

function wordsApart(program: CliCommand): LineError | undefined {
  const stray = strayWords(program);
  if (stray === undefined) return undefined;
  const { group, flag, value } = stray;
  const [word = ''] = group;
  const message =
    valueTaker(flag, word) === undefined
      ? `unexpected '${group.join(' ')}' after ${value === undefined ? flag : `${flag} '${value}'`}`
      : `${flag} takes no value, got '${word}'`;
  return new LineError('stray', message, word);
}

/** `-o json` and `-o md`, where a format is in place of a file. */
function bareFormat(program: CliCommand): LineError | undefined {
  const files = [program.opts().output ?? []].flat();
  const format = files.find((file) => FORMATS.some((each) => each === (EXTENSIONS.get(file) ?? file)));
  return format === undefined ? undefined : new LineError('bareFormat', `${format} is a format`, format);
}

function foreignOption({ innermost: command, typed }: CliCommand): LineError | undefined {
  const { long } = typed.map(({ option }) => option).find((each) => !accepts(command, each.long)) ?? {};
  return long === undefined
    ? undefined
    : new LineError('foreign', `${command.path} does not accept ${long}`, long);
}

/** The values of settings are read when they are used. */
function invalidSetting({ innermost: command, typed }: CliCommand): LineError | undefined {
  for (const { option, text = '' } of typed) {
    // A format of another command has its own message.
    if (option.setting === undefined || FORMATS.some((format) => format === text)) continue;
    const { choices } = overrideFor(command, option.long);
    try {
      if (choices !== undefined) Object.assign(option, { read: oneOf(choices), argChoices: choices });
      option.parse(text);
    } catch (error) {
      return invalidValue(text, error, { option });
    }
  }
  return undefined;
}

function conflict(program: CliCommand): LineError | undefined {
  const all = [...program.innermost.typed, ...program.typed].map(({ option }) => option);
  const pairs = all.map(
    (one) => [one, all.find((each) => one.rivals.includes(each.attributeName()))] as const,
  );
  const [one, other] = pairs.find(([, rival]) => rival !== undefined) ?? [];
  if (one !== undefined && other !== undefined) return conflictOf(one.long, other.long);
  const { format, json, open } = program.opts<GlobalOptions>();
  if (format === undefined) return undefined;
  if (json === true && format !== 'json') return conflictOf('--json', '--format');
  return open === true && format !== 'html' ? conflictOf('--open', '--format') : undefined;
}

const conflictOf = (one: string, other: string): LineError =>
  new LineError('conflict', `${one} and ${other} cannot be used together`, other);

function otherFormat(program: CliCommand): LineError | undefined {
  const { innermost: command } = program;
  const { choices = FORMATS } = overrideFor(command, '--format');
  const wanted = FORMATS.find((each) => each === program.opts<GlobalOptions>().format);
  if (wanted === undefined || choices.includes(wanted)) return undefined;
  const message = `--format ${wanted}: ${command.path} prints ${choices.join(', ')}`;
  return new LineError('format', message, wanted, { hint: formatHint(wanted, command) });
}

function formatHint(wanted: string, command: CliCommand): Hint {
  if (wanted !== 'html') return command.ownHelp;
  const page =
    command.path === 'enrich'
      ? again({ '--output': 'out.html' }, { without: ['--format'] })
      : restaurant('last', '--open');
  return [command.ownHelp, { text: 'for a page', command: page }];
}

const CHECKS: readonly Check[] = [
  wrongDash,
  wordsApart,
  bareFormat,
  foreignOption,
  (program) => program.invalid,
  invalidSetting,
  conflict,
  otherFormat,
];

/** Checks what commander does not know. @throws {LineError} */
export function checkCommandLine(program: CliCommand): void {
  const { help, version } = program.opts();
  if (help === true || version === true) throw new CommanderError(0, 'commander.help', '');
  for (const check of CHECKS) {
    const error = check(program);
    if (error !== undefined) throw error;
  }
  if (program.isTrial) throw new CommanderError(0, 'commander.help', '');
}

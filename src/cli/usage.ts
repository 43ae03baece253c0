import type { CommanderError } from 'commander';
import type { App } from '../app/app.ts';
import { hintCity, needsDemo } from '../app/last-results.ts';
import { type AppError, usage } from '../errors.ts';
import { type Advice, type Command, restaurant } from '../hint.ts';
import { splitWords } from '../util/shell.ts';
import type { CliCommand } from './command.ts';
import {
  completed,
  correctCommand,
  correctLine,
  correctSetting,
  isOptionLike,
  reorderLine,
  splitOption,
} from './corrections.ts';
import { conflictIn, optionsOf } from './options.ts';
import { valueOption } from './synonyms.ts';

/** Hint for a key on the command line, where other users can read it. */
const KEY_HINT: Advice = {
  text: 'no option takes a key, because other users could read it',
  command: { ...restaurant('login', '--key-stdin'), stdin: 'key.txt' },
};

const unknownCommand = (parent: CliCommand, app: App): AppError =>
  unknownCommandError(parent.args[0] ?? '', parent, parent.args.slice(1), app);

/** The errors of commander, by code, as ours. The whole tree is defined. */
const ERRORS: Readonly<Record<string, (command: CliCommand, app: App) => AppError>> = {
  'commander.unknownCommand': unknownCommand,
  'commander.unknownOption': unknownOption,
  'commander.optionMissingArgument': missingValue,
  'commander.missingArgument': missingArgument,
  'commander.excessArguments': excessArgument,
  'commander.conflictingOption': (command) =>
    conflictIn(command) ?? usage('options conflict', command.ownHelp),
};

export function usageError(error: CommanderError, command: CliCommand, app: App): AppError {
  const { code, message } = error;
  return ERRORS[code]?.(command, app) ?? usage(message.replace(/^error: /, ''), command.ownHelp);
}

export function unknownCommandError(
  word: string,
  parent: CliCommand,
  rest: readonly string[],
  app: App,
): AppError {
  const all = { text: 'to list the commands', ...parent.ownHelp };
  const name = `${parent.path} ${word}`.trimStart();
  return usage(`unknown command '${name}'`, correctCommand(word, parent, rest, app) ?? all);
}

function unknownOption(command: CliCommand, app: App): AppError {
  const { root, path } = command;
  const word = command.args.find(isOptionLike) ?? '';
  const { flag, value = '' } = splitOption(word);
  if (/^--?(api-?)?(key|token|secret)$/i.test(flag)) return usage(`unknown option '${flag}'`, KEY_HINT);
  const options = [...command.options, ...optionsOf(command)];
  if (flag === '--help' || options.some(({ long }) => long === flag)) {
    const meant = valueOption(flag, value);
    const words = command.args.flatMap((each) => (each === word ? [flag, `${meant}=${value}`] : each));
    const corrected = meant && value !== '' ? correctLine(command, app, words) : undefined;
    return usage(`${flag} takes no value`, corrected ?? command.ownHelp);
  }
  const corrected = (path === '' ? reorderLine(root, flag) : undefined) ?? correctLine(command, app);
  if (corrected !== undefined) return usage(`unknown option '${flag}'`, corrected);
  const search = searchInstead(command, flag, app);
  if (search !== undefined) return usage(`unknown option '${flag}'`, search);
  const owner = root.tree.find((each) => each !== root && each.options.some(({ long }) => long === flag));
  const other = owner === undefined ? [] : [{ text: `${flag} is an option of ${owner.path}` }];
  return usage(`unknown option '${flag}'`, [...other, command.seeHelp]);
}

/** `lookup Nopa --city SF` */
function searchInstead(
  { path, args, typed }: CliCommand,
  flag: string,
  { secrets }: App,
): Advice | undefined {
  const isSearch = path === 'lookup' && /^(?:--city|-c)$/.test(flag) && typed.length === 0;
  if (!isSearch || args.some((word) => secrets.redact(word) !== word)) return undefined;
  return { text: 'did you mean', command: restaurant('find', ...args) };
}

const EXAMPLE_VALUES: Readonly<Record<string, string>> = {
  '--columns': 'name,grade',
  '--cuisine': 'italian',
  '--near': '37.77,-122.43',
  '--min-grade': 'B',
  '--limit': '10',
};

/** A header, or a URL, which may contain a secret. */
const PRIVATE = /^-H|^--header|:\/\//;

function missingValue(command: CliCommand, app: App): AppError {
  const { words } = command.root;
  // The program parses its own options, and leaves the rest to the command.
  const word = (command.words.length > 0 ? command.words : words).at(-1) ?? '';
  const option = command.findOption(word) ?? command.findOption(`-${word.at(-1)}`);
  const long = option?.long ?? '';
  const value = long === '--city' ? hintCity(app) : (EXAMPLE_VALUES[long] ?? option?.argChoices?.[0]);
  const isPrivate = words.some((each) => PRIVATE.test(each) || app.secrets.redact(each) !== each);
  const hint =
    value === undefined || isPrivate
      ? []
      : [
          {
            text: 'for example',
            command: restaurant(...words.flatMap((each) => (each === word ? [each, value] : [each]))),
          },
        ];
  return usage(`${long} needs a value: ${option?.flags}`, [...hint, command.seeHelp]);
}

function missingArgument(command: CliCommand, app: App): AppError {
  const { path, args, registeredArguments, exampleLines, typed } = command;
  const missing =
    registeredArguments
      .slice(args.length)
      .find(({ required }) => required)
      ?.name() ?? '';
  const isSecret = args.some((word) => app.secrets.redact(word) !== word);
  if (isSecret || (args.length === 0 && typed.length === 0)) {
    const example = exampleFor(exampleLines[0] ?? '', app);
    return usage(`${path} needs <${missing}>`, [{ text: 'for example', command: example }, command.seeHelp]);
  }
  const setting = path === 'config set' ? correctSetting(args[0] ?? '', args.slice(1)) : undefined;
  if (setting !== undefined && args[0]?.includes('='))
    return usage(`${path} needs <${missing}>`, [setting, command.seeHelp]);
  const line = completed(command, args, {}, app);
  const text = path === 'find' ? { text: 'a part of a name is enough' } : {};
  return usage(`${path} needs <${missing}>`, [{ ...text, command: line }, command.seeHelp]);
}

function exampleFor(line: string, app: App): Command {
  const [first = '', next] = line.split(' | ');
  const [, ...words] = splitWords(first) ?? [];
  const command = restaurant(...words.filter((word) => needsDemo(app) || word !== '--demo'));
  return next === undefined ? command : { ...command, pipe: exampleFor(next, app) };
}

function excessArgument(command: CliCommand, app: App): AppError {
  const { path, args, registeredArguments, children } = command;
  if (children.length > 0) return unknownCommand(command, app);
  const { length } = registeredArguments;
  const most = ['no arguments', 'one argument'][length] ?? `${length} arguments`;
  // An argument of login is most likely a key, so it is not printed.
  if (path === 'login') return usage(`login takes ${most}`, KEY_HINT);
  return usage(`${path} takes ${most}, got '${args[length]}' too`, command.ownHelp);
}

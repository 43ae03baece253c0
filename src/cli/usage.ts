import type { CommanderError } from 'commander';
import { citySearch } from '../app/city.ts';
import { needsDemo } from '../app/demo.ts';
import { hintOf } from '../app/hints.ts';
import { lastRestaurants } from '../app/last-results.ts';
import { exampleSearch } from '../app/seen-results.ts';
import { AppError, usage } from '../errors.ts';
import { type Advice, again, type Hint, restaurant } from '../hint.ts';
import { nearestOnes } from '../util/nearest.ts';
import type { CliCommand } from './command.ts';
import { conflictIn } from './options.ts';
import {
  fixFor,
  isKeyOption,
  isOptionLike,
  linesMeant,
  splitOption,
  type Trial,
  type Try,
  verbFor,
} from './slips.ts';

const KEY_HINT: readonly Advice[] = [
  { text: 'it asks for the key', command: restaurant('login') },
  { text: "the key is in your shell's history now, so remove it there" },
];

const MAX_WORDS = 20;

/** Returns the line in our words if it can run so. @throws {AppError} `usage` with the lines that were probably meant */
export async function acceptedLine(
  first: Trial,
  tryLine: Try,
): Promise<{ readonly words: readonly string[]; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  let trial = first;
  while (trial.error !== undefined) {
    const fix = fixFor(trial, false);
    if (fix === undefined || notes.length > MAX_WORDS) throw await usageError(trial, tryLine);
    notes.push(...fix.notes);
    trial = await tryLine(fix.words);
  }
  return { words: trial.words, notes };
}

/** Returns the error for a line that cannot run, with the lines that were probably meant. */
async function usageError(trial: Trial, tryLine: Try): Promise<AppError> {
  const { error, program, app, words } = trial;
  const command = program.innermost;
  const { message, hint } = error instanceof AppError ? described(error) : commanderError(error, command);
  const isInvalid = program.invalid !== undefined && error === program.invalid.error;
  // The line in our words, not the typed one.
  const formatted = (each: Hint) => usage(message, { text: hintOf(app, each) });
  if (hint !== undefined && !isInvalid) return formatted(hint);
  const isPrivate = words.some((word) => app.secrets.redact(word) !== word);
  const lines = isPrivate ? [] : await linesMeant(trial, tryLine);
  const meant = lines.map(({ line, text }) => ({ text: lineHint(line, text) }));
  return formatted(meant.length > 0 ? meant : (hint ?? exampleOf(trial) ?? command.ownHelp));
}

interface LineProblem {
  readonly message: string;
  readonly hint?: Hint | undefined;
}

const described = ({ message, details: { hint } }: AppError): LineProblem => ({ message, hint });

/** `did you mean: restaurant find nopa --city SF` */
function lineHint({ app, program }: Trial, text: string): string {
  const { innermost, typed } = program;
  const isFind = innermost.path === 'find' && !typed.some(({ option }) => option.long === '--help');
  const hasCity = innermost.typed.some(({ option }) => option.long === '--city');
  return hintOf(app, { text, command: isFind && !hasCity ? citySearch(app, innermost.args) : again() });
}

/** An example for a command without its arguments: a row of the last search, or a search in the sample data. */
function exampleOf({ app, program: { innermost } }: Trial): Hint | undefined {
  const { args, typed, path, registeredArguments } = innermost;
  if (args.length > 0 || typed.length > 0) return undefined;
  const example = { text: 'for example' };
  if (path === 'find' && needsDemo(app))
    return [{ ...example, command: exampleSearch(app) }, innermost.seeHelp];
  const takesRow = registeredArguments[0]?.name() === 'id' && lastRestaurants(app).length > 0;
  return takesRow ? [{ ...example, command: restaurant(path, '1') }, innermost.seeHelp] : undefined;
}

const PROBLEMS: Readonly<Record<string, (command: CliCommand, error: CommanderError) => LineProblem>> = {
  'commander.unknownCommand': unknownCommand,
  'commander.unknownOption': unknownOption,
  'commander.optionMissingArgument': (_command, { message }) => {
    const [, flags = ''] = /'(.*)'/s.exec(message) ?? [];
    return { message: `${/--[\w-]+/.exec(flags)?.[0]} needs a value: ${flags}` };
  },
  'commander.missingArgument': ({ path, args, registeredArguments }) => {
    const missing = registeredArguments.slice(args.length).find(({ required }) => required);
    return { message: `${path} needs <${missing?.name()}>` };
  },
  'commander.excessArguments': excessArgument,
  'commander.conflictingOption': (command) =>
    described(conflictIn(command) ?? usage('options conflict', command.ownHelp)),
};

function commanderError(error: unknown, command: CliCommand): LineProblem {
  const { code, message } = error as CommanderError;
  const problem = PROBLEMS[code]?.(command, error as CommanderError);
  return problem ?? { message: message.replace(/^error: /, '') };
}

const unknown = ({ path }: CliCommand, word: string): string =>
  `unknown command '${`${path} ${word}`.trimStart()}'`;

function unknownCommand(command: CliCommand): LineProblem {
  return { message: unknown(command, command.args[0] ?? '') };
}

function unknownOption(command: CliCommand): LineProblem {
  const { flag } = splitOption(command.args.find(isOptionLike) ?? '');
  if (isKeyOption(flag))
    return { message: `unknown option '${flag}': no option takes a key`, hint: KEY_HINT };
  const isOurs = flag === '--help' || command.findOption(flag) !== undefined;
  return { message: isOurs ? `${flag} takes no value` : `unknown option '${flag}'` };
}

function excessArgument(command: CliCommand): LineProblem {
  const { path, args, registeredArguments, children } = command;
  if (children.length > 0) return unknownCommand(command);
  const { length } = registeredArguments;
  const most = ['no arguments', 'one argument'][length] ?? `${length} arguments`;
  // An argument of login is most likely a key, so it is not printed.
  if (path === 'login') return { message: `login takes ${most}`, hint: KEY_HINT };
  return { message: `${path} takes ${most}, got '${args[length]}' too` };
}

/** Returns the command that words name, in ours or those of other tools. @throws {AppError} `usage` */
export function findCommand(program: CliCommand, words: readonly string[]): CliCommand {
  return words
    .flatMap((word) => word.split(' '))
    .reduce<CliCommand>((parent, word) => {
      const names = parent.children.map((child) => child.name());
      const [ours = ''] = (verbFor(word, parent) ?? '').split(' ');
      const child = parent.children.find((each) => each.name() === ours);
      if (child !== undefined) return child;
      const near = nearestOnes(word, names).map((name) => ({
        text: 'did you mean',
        command: restaurant(...parent.path.split(' ').filter(Boolean), name, '--help'),
      }));
      throw usage(unknown(parent, word), near.length > 0 ? near.slice(0, 3) : parent.ownHelp);
    }, program);
}

import { needsDemo } from '../app/address.ts';
import { hintLine } from '../app/hint-line.ts';
import { lastRestaurants } from '../app/last-results.ts';
import { exampleSearch } from '../app/seen-results.ts';
import { AppError, usage } from '../errors.ts';
import { type Advice, adviceOf, again, type Hint, restaurant } from '../hint.ts';
import { isKeyOption, isOptionLike, splitOption } from './check.ts';
import type { CliCommand } from './command.ts';
import type { TriedLine } from './slips/reading.ts';
import { commandFor, nearCommands } from './slips/verbs.ts';
import { linesMeant, rewritten, type Try, wrongWith } from './slips.ts';

const KEY_HINT: readonly Advice[] = [
  { text: 'it asks for the key', command: restaurant('login') },
  { text: "the key is in your shell's history now, so remove it there" },
];

/** Returns the line in our words if it can run so. @throws {AppError} `usage` with the lines that were probably meant */
export async function acceptedLine(
  first: TriedLine,
  tryLine: Try,
): Promise<{ readonly words: readonly string[]; readonly notes: readonly string[] }> {
  const { line, notes } = await rewritten(first, tryLine, false);
  if (line.error !== undefined) throw await usageError(line, tryLine);
  return { words: line.words, notes };
}

/** Returns the error for a line that cannot run, with the lines that were probably meant. */
async function usageError(line: TriedLine, tryLine: Try): Promise<AppError> {
  const { error, program, app, words } = line;
  const { message, hint } = problemOf(line);
  // The hint is about the line in our words, not the typed one.
  const withHint = (each: Hint) => usage(message, { text: hintLine(app, each) });
  const secrets = words.filter((word) => app.secrets.redact(word) !== word);
  const isKey = secrets.some((word) => !/[\s:=]/.test(word));
  const meant = secrets.length > 0 || hint !== undefined ? [] : await linesMeant(line, tryLine);
  // A word after our own name of the command may be an ID.
  const isGuess = wrongWith(line) === 'commander.unknownCommand';
  const offers = new Map<string, string>();
  for (const each of meant) {
    const advice = await adviceFor(each.line, isGuess);
    const text = offers.size === 0 ? each.text : 'or';
    const command = hintLine(each.line.app, advice.map(withoutText));
    if (!offers.has(command)) offers.set(command, hintLine(each.line.app, labeled(advice, text)));
  }
  if (offers.size > 0) return withHint([...offers.values()].map((text) => ({ text })));
  const ownHint = error instanceof AppError ? error.details.hint : undefined;
  return withHint(hint ?? (isKey ? KEY_HINT : ownHint) ?? exampleOf(line) ?? program.innermost.ownHelp);
}

/** How a line is suggested: itself, or what it needs first. */
async function adviceFor({ program }: TriedLine, isGuess: boolean): Promise<readonly Advice[]> {
  const { innermost, typed } = program;
  const isHelp = typed.some(({ option }) => option.long === '--help');
  return adviceOf((isHelp ? undefined : await innermost.suggest(isGuess)) ?? { command: again() });
}

const withoutText = ({ command }: Advice): Advice => (command === undefined ? {} : { command });

/** `did you mean: restaurant find nopa --city SF` */
const labeled = ([first = {}, ...rest]: readonly Advice[], text: string): readonly Advice[] => [
  { ...(text !== '' && { text }), ...first },
  ...rest,
];

/** An example for a command without its arguments: a row of the last search, or a search in the sample data. */
function exampleOf({ app, program: { innermost } }: TriedLine): Hint | undefined {
  const { args, typed, path, registeredArguments } = innermost;
  if (args.length > 0 || typed.length > 0) return undefined;
  const example = { text: 'for example' };
  if (path === 'find' && needsDemo(app))
    return [{ ...example, command: exampleSearch(app) }, innermost.seeHelp];
  const takesRow = registeredArguments[0]?.name() === 'id' && lastRestaurants(app).length > 0;
  return takesRow ? [{ ...example, command: restaurant(path, '1') }, innermost.seeHelp] : undefined;
}

interface LineProblem {
  readonly message: string;
  readonly hint?: Hint;
}

const PROBLEMS: Readonly<Record<string, (command: CliCommand, message: string) => LineProblem>> = {
  'commander.unknownCommand': (command) => ({ message: unknown(command, command.args[0] ?? '') }),
  'option first': unknownOption,
  'commander.unknownOption': unknownOption,
  'commander.optionMissingArgument': (_command, message) => {
    const [, flags = ''] = /'(.*)'/s.exec(message) ?? [];
    return { message: `${/--[\w-]+/.exec(flags)?.[0]} needs a value: ${flags}` };
  },
  'commander.missingArgument': ({ path, args, registeredArguments }) => {
    const missing = registeredArguments.slice(args.length).find(({ required }) => required);
    return { message: `${path} needs <${missing?.name()}>` };
  },
  'commander.excessArguments': excessArgument,
};

function problemOf(line: TriedLine): LineProblem {
  const { message } = line.error as Error;
  const problem = PROBLEMS[wrongWith(line)]?.(line.program.innermost, message);
  return problem ?? { message: message.replace(/^error: /, '') };
}

const unknown = ({ path }: CliCommand, word: string): string =>
  `unknown command '${`${path} ${word}`.trimStart()}'`;

function unknownOption(command: CliCommand): LineProblem {
  const { flag } = splitOption(command.args.find(isOptionLike) ?? '');
  if (isKeyOption(flag))
    return { message: `unknown option '${flag}': no option takes a key`, hint: KEY_HINT };
  const isOurs = flag === '--help' || command.findOption(flag) !== undefined;
  return { message: isOurs ? `${flag} takes no value` : `unknown option '${flag}'` };
}

function excessArgument({ path, args, registeredArguments: { length } }: CliCommand): LineProblem {
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
      const child = commandFor(word, parent);
      if (child !== undefined) return child;
      const near = nearCommands(word, parent).flatMap((name) => commandFor(name, parent)?.ownHelp ?? []);
      const meant = near.slice(0, 3).map((help) => ({ text: 'did you mean', ...help }));
      throw usage(unknown(parent, word), meant.length > 0 ? meant : parent.ownHelp);
    }, program);
}

import { needsDemo } from '../app/address.ts';
import { citySearch, searchBefore } from '../app/city.ts';
import { hintOf } from '../app/hints.ts';
import { lastRestaurants } from '../app/last-results.ts';
import { exampleSearch } from '../app/seen-results.ts';
import { AppError, usage } from '../errors.ts';
import { type Advice, again, type Hint, restaurant } from '../hint.ts';
import { nearestOnes } from '../util/nearest.ts';
import { isKeyOption, isOptionLike, splitOption } from './check.ts';
import type { CliCommand } from './command.ts';
import type { TriedLine } from './slips/reading.ts';
import { verbFor } from './slips/verbs.ts';
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
  const withHint = (each: Hint) => usage(message, { text: hintOf(app, each) });
  const secrets = words.filter((word) => app.secrets.redact(word) !== word);
  const isKey = secrets.some((word) => !/[\s:=]/.test(word));
  const meant = secrets.length > 0 || hint !== undefined ? [] : await linesMeant(line, tryLine);
  const wrong = wrongWith(line);
  const commands = meant.map((each) => lineHint(each.line, '', wrong));
  const offers = meant
    .filter((_, index) => commands.indexOf(commands[index] ?? '') === index)
    .map((each, index) => ({ text: lineHint(each.line, index === 0 ? each.text : 'or', wrong) }));
  if (offers.length > 0) return withHint(offers);
  const ownHint = error instanceof AppError ? error.details.hint : undefined;
  return withHint(hint ?? (isKey ? KEY_HINT : ownHint) ?? exampleOf(line) ?? program.innermost.ownHelp);
}

/** `did you mean: restaurant find nopa --city SF` */
function lineHint({ app, program }: TriedLine, text: string, wrong: string): string {
  const { innermost, typed } = program;
  const { path, args } = innermost;
  // A word after our own name of the command may be an ID.
  const areIds = wrong !== 'commander.unknownCommand' && !args.some((word) => /\s|^\p{Lu}|^#?\d/u.test(word));
  const takesIds = /^(?:lookup|save)$/.test(path);
  const search = takesIds && !areIds ? searchBefore(app, args) : undefined;
  if (search !== undefined) return hintOf(app, search);
  const isFind = innermost.path === 'find' && !typed.some(({ option }) => option.long === '--help');
  const hasCity = innermost.typed.some(({ option }) => option.long === '--city');
  const command = isFind && !hasCity ? citySearch(app, innermost.args) : again();
  return hintOf(app, text === '' ? { command } : { text, command });
}

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

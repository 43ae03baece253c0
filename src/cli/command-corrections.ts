import type { App } from '../app/app.ts';
import { hintCity, lastRestaurants, needsDemo, seenResults } from '../app/last-results.ts';
import { type Advice, restaurant, slot, type Word } from '../hint.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { isBeginning } from '../util/near-name.ts';
import { nearest } from '../util/nearest.ts';
import type { CliCommand } from './command.ts';
import { exampleOperands, isOptionLike, typedFlags } from './corrections.ts';
import { OTHER_GROUPS, OTHER_VERBS, ownWords } from './synonyms.ts';
import { readWish, wishWords } from './wish.ts';

/** The words after an unknown command: those before the first option, and the rest. */
interface Rest {
  readonly operands: readonly string[];
  readonly options: readonly string[];
}

/** Words between the names of restaurants. */
const LINKS = ['and', 'or', 'vs', 'vs.', 'versus', 'with', '&', '+'];

function splitRest(rest: readonly string[]): Rest {
  const start = rest.findIndex(isOptionLike);
  const end = start === -1 ? rest.length : start;
  return { operands: rest.slice(0, end), options: rest.slice(end) };
}

/** @param app undefined if only the help of a command is wanted */
export function correctCommand(
  word: string,
  parent: CliCommand,
  rest: readonly string[],
  app?: App,
): Advice | undefined {
  const { root } = parent;
  const { operands, options } = splitRest(rest);
  const grouped = OTHER_GROUPS.includes(word) ? ungrouped(operands, options, parent, app) : undefined;
  if (grouped !== undefined) return grouped;
  const meant = parent === root && ROW_NUMBERS.test(word) ? `lookup ${word}` : commandFor(word, parent);
  if (app === undefined || [...rest, ...typedFlags(root)].some((each) => HELP.includes(each))) {
    if (meant === '--help') return didMean([meant], root);
    return meant === undefined
      ? undefined
      : didMean([...parent.path.split(' '), ...meant.split(' '), ...rest], root);
  }
  if (meant !== undefined)
    return didMean(lineFor(meant, word, parent, { operands, options }, app), root, app);
  if (parent.path === 'config') return correctSetting(word, operands);
  const search = parent === root ? searchFor('find', word, { operands, options }, app) : undefined;
  return search && didMean([...search, ...options], root, app, 'to search for it');
}

function lineFor(meant: string, word: string, parent: CliCommand, rest: Rest, app: App): readonly Word[] {
  // A complete search.
  if (meant.startsWith('find ')) return meant.split(' ');
  const [name = '', ...added] = meant.split(/ (?=--)/);
  const path = [...parent.path.split(' '), ...name.split(' ')].filter((each) => each !== '');
  const verb = isSynonym(word, parent) ? word : '';
  const named = name === 'lookup' ? rest.operands.filter((each) => !LINKS.includes(each)) : rest.operands;
  const line = searchFor(name, verb, rest, app) ?? [...path, ...operandsFor(path, named, parent)];
  return [...line, ...rest.options, ...added.flatMap((each) => each.split(' '))];
}

/** `auth login` */
function ungrouped(
  [next = '', ...others]: readonly string[],
  options: readonly string[],
  parent: CliCommand,
  app: App | undefined,
): Advice | undefined {
  if (commandFor(next, parent) === undefined) return undefined;
  const isOurs = parent.children.some((each) => each.name() === next);
  const rest = [...others, ...options];
  return isOurs ? didMean([next, ...rest], parent.root, app) : correctCommand(next, parent, rest, app);
}

const HELP = ['-h', '--help'];

const synonymsOf = (word: string, { path }: CliCommand): string[] =>
  ownWords(OTHER_VERBS[path] ?? {}, word.toLowerCase());

const isSynonym = (word: string, parent: CliCommand): boolean => synonymsOf(word, parent).length > 0;

function commandFor(word: string, parent: CliCommand): string | undefined {
  const names = parent.children.map((child) => child.name());
  return names.includes(word) ? word : [...synonymsOf(word, parent), ...nearest(word, names, 1)][0];
}

function didMean(words: readonly Word[], program: CliCommand, app?: App, text = 'did you mean'): Advice {
  const line = [...words.filter((each) => each !== ''), ...typedFlags(program)];
  const isSearch = ['find', 'lookup', 'tools', 'call'].includes(String(line[0]));
  const isComplete = ['--demo', ...HELP].some((each) => line.includes(each));
  const demo = app !== undefined && isSearch && !isComplete && needsDemo(app) ? ['--demo'] : [];
  return { text, command: restaurant(...line, ...demo) };
}

/** Returns the search that words ask for; undefined for another command, and for details of rows of the last search. */
function searchFor(
  name: string,
  verb: string,
  { operands: words, options }: Rest,
  app: App,
): Word[] | undefined {
  const hasCity = options.some((each) => /^(?:-c|--city(?:=|$))/.test(each));
  const rows = lastRestaurants(app);
  const isRow = (word: string): boolean =>
    ROW_NUMBERS.test(word) || rows.some((row) => row.id === word || isBeginning(word, row.name));
  const hasRow = words.length === 0 ? rows.length > 0 : words.some(isRow);
  const isLookup = name === 'lookup' && !hasCity && hasRow;
  if (!['find', 'lookup'].includes(name) || isLookup) return undefined;
  const seen = seenResults(app);
  const wish = readWish(name === 'lookup' ? words : [verb, ...words], hasCity, seen);
  return ['find', ...wishWords(wish, hasCity ? undefined : hintCity(app, seen))];
}

/** Row numbers, or an id. */
const ROW_NUMBERS = /^#?\d+(?:[-,]#?\d+)*$|^(?=.*\d)[\w-]{16,}$/;

/** Returns the typed operands, or those of an example if some are missing. */
function operandsFor(
  path: readonly string[],
  operands: readonly string[],
  parent: CliCommand,
): readonly Word[] {
  const command = path.reduce<CliCommand | undefined>(
    (at, name) => at?.children.find((each) => each.name() === name),
    parent.root,
  );
  const required = command?.registeredArguments.filter((each) => each.required) ?? [];
  const { length } = command?.registeredArguments ?? [];
  const isVariadic = command?.registeredArguments.at(-1)?.variadic === true;
  if (operands.length >= required.length) return operands.slice(0, isVariadic ? undefined : length);
  return exampleOperands(command, operands) ?? [...operands, slot(required[operands.length]?.name() ?? '')];
}

/** `config city SF`, `config set city=SF` */
export function correctSetting(word: string, values: readonly string[]): Advice | undefined {
  const [name = '', ...value] = word.split('=');
  if (!SETTING_NAMES.some((each) => each === name)) return undefined;
  const words = [...(value.length > 0 ? [value.join('=')] : []), ...values];
  const verb = words.length === 0 ? 'get' : 'set';
  return { text: 'did you mean', command: restaurant('config', verb, name, ...words) };
}

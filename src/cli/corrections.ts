import type { App } from '../app/app.ts';
import { hintCity, lastRestaurants, needsDemo, seenResults } from '../app/last-results.ts';
import { type Advice, again, type Command, type Options, restaurant, slot, type Word } from '../hint.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { isBeginning } from '../util/fold.ts';
import { nearest } from '../util/nearest.ts';
import { splitWords } from '../util/shell.ts';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';
import { ANY_NAME, OTHER_ARGUMENTS, OTHER_GROUPS, OTHER_OPTIONS, OTHER_VERBS, ownWords } from './synonyms.ts';
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

export function correctCommand(
  word: string,
  parent: CliCommand,
  rest: readonly string[],
  app: App,
): Advice | undefined {
  const { root } = parent;
  const { operands, options } = splitRest(rest);
  const grouped = OTHER_GROUPS.includes(word) ? ungrouped(operands, options, parent, app) : undefined;
  if (grouped !== undefined) return grouped;
  const meant = parent === root && ROW_NUMBERS.test(word) ? `lookup ${word}` : commandFor(word, parent);
  if ([...rest, ...typedFlags(root)].some((each) => HELP.includes(each))) {
    if (meant === '--help') return didMean([meant], root, app);
    return meant === undefined
      ? undefined
      : didMean([...parent.path.split(' '), ...meant.split(' '), ...rest], root, app);
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
  const verb = synonymsOf(word, parent).length > 0 ? word : '';
  const named = name === 'lookup' ? rest.operands.filter((each) => !LINKS.includes(each)) : rest.operands;
  const line = searchFor(name, verb, rest, app) ?? [...path, ...operandsFor(path, named, parent)];
  return [...line, ...rest.options, ...added.flatMap((each) => each.split(' '))];
}

/** `auth login` */
function ungrouped(
  [next = '', ...others]: readonly string[],
  options: readonly string[],
  parent: CliCommand,
  app: App,
): Advice | undefined {
  if (commandFor(next, parent) === undefined) return undefined;
  const isOurs = parent.children.some((each) => each.name() === next);
  const rest = [...others, ...options];
  return isOurs ? didMean([next, ...rest], parent.root, app) : correctCommand(next, parent, rest, app);
}

const HELP = ['-h', '--help'];

const synonymsOf = (word: string, { path }: CliCommand): string[] =>
  ownWords(OTHER_VERBS[path] ?? {}, word.toLowerCase());

function commandFor(word: string, parent: CliCommand): string | undefined {
  const names = parent.children.map((child) => child.name());
  return names.includes(word) ? word : [...synonymsOf(word, parent), ...nearest(word, names, 1)][0];
}

function didMean(words: readonly Word[], program: CliCommand, app: App, text = 'did you mean'): Advice {
  const line = [...words.filter((each) => each !== ''), ...typedFlags(program)];
  const isSearch = ['find', 'lookup', 'tools', 'call'].includes(String(line[0]));
  const isComplete = ['--demo', ...HELP].some((each) => line.includes(each));
  const demo = isSearch && !isComplete && needsDemo(app) ? ['--demo'] : [];
  return { text, command: restaurant(...line, ...demo) };
}

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

export const isOptionLike = (word: string): boolean => /^-./s.test(word) && !/^-[\d.]+$/.test(word);

/** Splits `--flag=value` and `-nvalue`. The value may be a secret. */
export function splitOption(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] = /^(--[^=]*|-.)(?:=?(.+))?$/su.exec(word) ?? [];
  return { flag, value };
}

interface Meaning {
  readonly name: string;
  readonly takesValue: boolean;
  /** The value in place of the typed one. */
  readonly value?: Word | undefined;
  readonly slot: Word;
}

const slotOf = (text: string): Word => slot(text.replace(/^.*<|>.*$/gs, ''));

function meaningOf(flag: string, command: CliCommand, app: App): Meaning | undefined {
  const word = flag.replace(/^-+/, '');
  const names = [word, ...ownWords(OTHER_ARGUMENTS, word)];
  const argument = command.registeredArguments.find((each) => names.includes(each.name()));
  if (argument !== undefined) return { name: '', takesValue: true, slot: slot(argument.name()) };
  const options = [...command.options, ...optionsOf(command)];
  const longs = options.map(({ long }) => long.slice(2));
  const others = ownWords(OTHER_OPTIONS, word).filter((ours) => longs.includes(ours.split(/ |--/)[1] ?? ''));
  const near = flag.startsWith('--') ? nearest(word, longs, 1).map((name) => `--${name}`) : [];
  const [meant] = [...others, ...near];
  if (meant === undefined) return cuisineMeaning(word, command, app);
  const [name = '', value] = meant.split(' ');
  const option = options.find(({ long }) => long === name);
  const takesValue = value === undefined ? option?.required === true : value.startsWith('<');
  return {
    name,
    takesValue,
    value: value === '<city>' ? (hintCity(app) ?? slot('city')) : value?.replace(/^<|>$/g, ''),
    slot: slotOf(option?.flags ?? ''),
  };
}

/** `find --tacos` */
function cuisineMeaning(word: string, command: CliCommand, app: App): Meaning | undefined {
  const cuisine = [readWish([word], true, seenResults(app)).options['--cuisine'] ?? []].flat()[0];
  if (command.path !== 'find' || typeof cuisine !== 'string') return undefined;
  return { name: '--cuisine', takesValue: false, value: cuisine, slot: slot('cuisine') };
}

type Correction = readonly [name: string, value: true | Word];

function takeWord(words: string[], command: CliCommand, app: App): Correction | undefined {
  const word = words.shift() ?? '';
  if (!isOptionLike(word)) return ['', word];
  const { flag, value: typed } = splitOption(word);
  const meaning = meaningOf(flag, command, app);
  if (meaning === undefined) return undefined;
  const { name, takesValue, value, slot } = meaning;
  if (!takesValue) return typed === undefined ? [name, value ?? true] : undefined;
  const [following] = words;
  const hasNext = typed === undefined && following !== undefined && !isOptionLike(following);
  const text = hasNext ? words.shift() : typed;
  return [name, value ?? text ?? slot];
}

/**
 * Returns the command line with our options and arguments in place of unknown ones; undefined if one has no counterpart,
 * or if a word looks like a key.
 */
export function correctLine(
  command: CliCommand,
  app: App,
  args: readonly string[] = command.args,
): Advice | undefined {
  const { registeredArguments } = command;
  if (args.some((word) => app.secrets.redact(word) !== word)) return undefined;
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const words = args.slice(0, end);
  const corrections: Correction[] = [];
  while (words.length > 0) {
    const each = takeWord(words, command, app);
    if (each === undefined) return undefined;
    corrections.push(each);
  }
  const typed = corrections.flatMap(([name, value]) => (name === '' && value !== true ? [value] : []));
  const operands = [...typed, ...args.slice(end + 1)];
  const { length, [length - 1]: last } = registeredArguments;
  if (operands.length > length && last?.variadic !== true) return undefined;
  const options: Options = Object.fromEntries(corrections.filter(([name]) => name !== ''));
  return { text: 'did you mean', command: completed(command, operands, options, app) };
}

export function reorderLine(program: CliCommand, flag: string): Advice | undefined {
  const { args } = program;
  const hasOption = (child: CliCommand): boolean => child.findOption(flag) !== undefined;
  const child =
    program.children.find((each) => args.includes(each.name()) && hasOption(each)) ??
    program.children.find((each) => each.name() === 'find' && hasOption(each));
  if (child === undefined) return undefined;
  const words = [child.name(), ...args.filter((word) => word !== child.name())];
  return { text: 'did you mean', command: restaurant(...words, ...typedFlags(program)) };
}

/** Returns the command line of this run with other options, and with what `find` and other commands require. */
export function completed(
  command: CliCommand,
  operands: readonly Word[],
  options: Options,
  app: App,
): Command {
  const required = command.registeredArguments.filter((each) => each.required).length;
  const typed = operands.filter((each) => typeof each === 'string');
  if (command.path !== 'find' || typed.length < operands.length) {
    const isComplete = operands.length >= required || typed.length < operands.length;
    return again(options, {
      operands: (isComplete ? undefined : exampleOperands(command, typed)) ?? operands,
    });
  }
  const hasCity = '--city' in options || command.typed.some(({ option }) => option.long === '--city');
  const city = hasCity ? undefined : hintCity(app);
  const more = city === undefined ? options : { ...options, '--city': city };
  return again(more, { operands: operands.length === 0 ? [ANY_NAME] : operands });
}

const typedFlags = (program: CliCommand): string[] =>
  program.typed.flatMap(({ option: { long }, text }) => (text === undefined ? long : []));

function exampleOperands(
  command: CliCommand | undefined,
  typed: readonly string[],
): readonly string[] | undefined {
  const { path = '', exampleLines = [], registeredArguments = [] } = command ?? {};
  const length = path.split(' ').length + 1;
  return exampleLines
    .map((line) => (splitWords(line) ?? []).slice(length, length + registeredArguments.length))
    .find((words) => words.length > typed.length && typed.every((word, index) => words[index] === word));
}

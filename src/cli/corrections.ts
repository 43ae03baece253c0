import type { App } from '../app/app.ts';
import { hintCity, seenResults } from '../app/last-results.ts';
import { type Advice, again, type Command, type Options, restaurant, slot, type Word } from '../hint.ts';
import { nearest } from '../util/nearest.ts';
import { splitWords } from '../util/shell.ts';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';
import { ANY_NAME, OTHER_ARGUMENTS, OTHER_OPTIONS, ownWords } from './synonyms.ts';
import { readWish } from './wish.ts';

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
  const longs = options.flatMap(({ long }) => long?.slice(2) ?? []);
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

/** Returns the command with an option that was typed before it; undefined if the words do not name one that has it. */
export function reorderLine(program: CliCommand, flag: string): Advice | undefined {
  const { args } = program;
  const child = program.children.find((each) => args.includes(each.name()) && each.findOption(flag));
  const find = program.children.find((each) => each.name() === 'find' && each.findOption(flag));
  if (child === undefined && find !== undefined)
    return { text: 'did you mean', command: restaurant('find', ...args, ...typedFlags(program)) };
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

export const typedFlags = (program: CliCommand): string[] =>
  program.typed.flatMap(({ option: { long }, text }) => (text === undefined ? (long ?? []) : []));

/** Returns the arguments of the first example that begins with the typed ones. */
export function exampleOperands(
  command: CliCommand | undefined,
  typed: readonly string[],
): readonly string[] | undefined {
  const { path = '', exampleLines = [], registeredArguments = [] } = command ?? {};
  const length = path.split(' ').length + 1;
  return exampleLines
    .map((line) => (splitWords(line) ?? []).slice(length, length + registeredArguments.length))
    .find((words) => words.length > typed.length && typed.every((word, index) => words[index] === word));
}

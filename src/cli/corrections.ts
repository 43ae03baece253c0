import type { App } from '../app/app.ts';
import { type Advice, again, restaurant, slot, type Word } from '../hint.ts';
import { nearest } from '../util/nearest.ts';
import type { CliCommand } from './command.ts';
import { optionsOf } from './options.ts';
import { OTHER_ARGUMENTS, OTHER_OPTIONS, OTHER_VERBS, ownWords } from './synonyms.ts';

export const isOptionLike = (word: string): boolean => /^-./s.test(word) && !/^-[\d.]+$/.test(word);

/** Splits `--flag=value` and `-nvalue`. The value may be a secret. */
export function splitOption(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] = /^(--[^=]*|-.)(?:=?(.+))?$/su.exec(word) ?? [];
  return { flag, value };
}

interface Meaning {
  /** Our long name; empty for an argument. */
  readonly name: string;
  readonly takesValue: boolean;
  /** The value in place of the typed one. */
  readonly value?: Word | undefined;
  readonly slot: Word;
}

const slotOf = (text: string): Word => slot(text.replace(/^.*<|>.*$/gs, ''));

function meaningOf(flag: string, command: CliCommand): Meaning | undefined {
  const word = flag.replace(/^-+/, '');
  const [argumentName = word] = ownWords(OTHER_ARGUMENTS, word);
  if (command.registeredArguments.some((each) => each.name() === argumentName)) {
    return { name: '', takesValue: true, slot: slot(argumentName) };
  }
  const options = [...command.options, ...optionsOf(command)];
  const longs = options.flatMap(({ long }) => long?.slice(2) ?? []);
  const others = ownWords(OTHER_OPTIONS, word).filter((ours) => longs.includes(ours.split(/ |--/)[1] ?? ''));
  const near = flag.startsWith('--') ? nearest(word, longs, 1).map((name) => `--${name}`) : [];
  const [meant] = [...others, ...near];
  if (meant === undefined) return undefined;
  const [name = '', value] = meant.split(' ');
  const option = options.find(({ long }) => long === name);
  const takesValue = value === undefined ? option?.required === true : value.startsWith('<');
  return {
    name,
    takesValue,
    value: takesValue && value ? slotOf(value) : value,
    slot: slotOf(option?.flags ?? ''),
  };
}

type Correction = readonly [name: string, value: true | Word];

function takeWord(words: string[], command: CliCommand): Correction | undefined {
  const word = words.shift() ?? '';
  if (!isOptionLike(word)) return ['', word];
  const { flag, value: typed } = splitOption(word);
  const meaning = meaningOf(flag, command);
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
    const each = takeWord(words, command);
    if (each === undefined) return undefined;
    corrections.push(each);
  }
  const typed = corrections.flatMap(([name, value]) => (name === '' && value !== true ? [value] : []));
  const operands = [...typed, ...args.slice(end + 1)];
  const { length, [length - 1]: last } = registeredArguments;
  if (operands.length > length && last?.variadic !== true) return undefined;
  const options = Object.fromEntries(corrections.filter(([name]) => name !== ''));
  return { text: 'did you mean', command: again(options, { operands }) };
}

/** Returns the command with an option that was typed before it; undefined if the words do not name one that has it. */
export function reorderLine(program: CliCommand, flag: string): Advice | undefined {
  const { args } = program;
  const child = program.children.find((each) => args.includes(each.name()) && each.findOption(flag));
  if (child === undefined) return undefined;
  const words = [child.name(), ...args.filter((word) => word !== child.name())];
  return { text: 'did you mean', command: restaurant(...words, ...typedFlags(program)) };
}

const typedFlags = (program: CliCommand): string[] =>
  program.typed.flatMap(({ option: { long }, text }) => (text === undefined ? (long ?? []) : []));

export function correctCommand(
  word: string,
  parent: CliCommand,
  rest: readonly string[],
): Advice | undefined {
  const names = parent.children.map((child) => child.name());
  const others = ownWords(OTHER_VERBS[parent.path] ?? {}, word.toLowerCase());
  const [meant] = [...others, ...nearest(word, names, 1)];
  if (meant === undefined) return undefined;
  const [name = '', option] = meant.split(/ (?=--)/);
  const typed = [...parent.path.split(' '), ...name.split(' '), ...rest].filter((each) => each !== '');
  const { command, words } = descend(parent.root, typed);
  const added = [option ?? [], ...typedFlags(parent.root)].flat();
  const slots = added.includes('--help') ? [] : missing(command, words);
  return { text: 'did you mean', command: restaurant(...typed, ...slots, ...added) };
}

function descend(command: CliCommand, words: string[]): { command: CliCommand; words: string[] } {
  const child = command.children.find((each) => each.name() === words[0]);
  return child === undefined ? { command, words } : descend(child, words.slice(1));
}

function missing(command: CliCommand, words: string[]): Word[] {
  let operands: readonly string[] = [];
  try {
    ({ operands } = command.parseOptions(words));
  } catch {
    // A value is missing or invalid, too.
  }
  const argument = command.registeredArguments.slice(operands.length).find(({ required }) => required);
  return argument === undefined ? [] : [slot(argument.name())];
}

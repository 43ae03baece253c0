import { Option } from 'commander';
import { oneOf, parseValue, wholeNumber } from '../settings/values.ts';

export type { Option } from 'commander';

/** An option, with what commander does not keep of it. */
export class CliOption extends Option {
  /** The value is a whole number. */
  isInteger = false;
  /** The default for a command that uses a setting differently. */
  commandDefault: string | undefined;
}

/** What the value of an option can be, and what it is where the option is left out. */
export interface ValueFacts {
  readonly choices?: readonly string[];
  /** The value is a whole number from the first to the second. */
  readonly range?: readonly [min: number, max: number];
  /** Reads any other value. @throws {Error} saying what is expected. Default: any text. */
  readonly read?: (text: string) => unknown;
  readonly default?: unknown;
  /** The default as help shows it. Default: the value itself. */
  readonly defaultText?: string;
}

/** The description of an option, with what it can be and what it is when left out. */
export function describeOption(about: string, choices?: readonly string[], fallback?: string): string {
  const notes = [choices?.join(', ') ?? '', fallback === undefined ? '' : `default: ${fallback}`];
  const shown = notes.filter((note) => note !== '');
  return shown.length === 0 ? about : `${about} (${shown.join('; ')})`;
}

/** Creates an option that takes a value. */
export function valueOption(flags: string, about: string, facts: ValueFacts = {}): CliOption {
  const { choices, range, default: value, defaultText = value } = facts;
  const shown = defaultText === undefined ? undefined : String(defaultText);
  const option = new CliOption(flags, describeOption(about, choices, shown));
  option.isInteger = range !== undefined;
  if (choices !== undefined) option.argChoices = [...choices];
  const read = choices ? oneOf(choices) : range ? wholeNumber(...range) : facts.read;
  if (read !== undefined) option.argParser(flagValue(option.long ?? flags, read));
  return value === undefined ? option : option.default(value);
}

/**
 * Creates an option that may be repeated; its values add up.
 * @param read parses each value. @throws {Error} saying what is expected
 */
export function listOption(flags: string, about: string, read = (text: string): string => text): CliOption {
  const collect = (value: string, earlier: string[]): string[] => [
    ...earlier,
    flagValue(/--[\w-]+/.exec(flags)?.[0] ?? flags, read)(value),
  ];
  return new CliOption(flags, about).argParser(collect).default([]);
}

/** Makes a reader of an option's value for commander. @throws {AppError} `usage` naming the flag */
const flagValue =
  <T>(flag: string, read: (text: string) => T) =>
  (text: string): T =>
    parseValue(read, text, { name: flag, flag: true });

import { Option } from 'commander';
import { parseValue } from '../settings/values.ts';

export type { Option } from 'commander';

/** An option, with what commander does not keep of it. */
export class CliOption extends Option {
  /** The value is a whole number. */
  isInteger = false;
  /** The default for a command that uses a setting differently. */
  commandDefault: string | undefined;
}

interface ValueOptions<T> {
  /** Reads the value. @throws {Error} saying what is expected. Default: any text. */
  readonly read?: (text: string) => T;
  readonly choices?: readonly string[];
  /** The value where the option is left out. */
  readonly default?: T;
  /** The default as help shows it. Default: the value itself. */
  readonly defaultText?: string;
  readonly integer?: true;
}

/** The description of an option, with what it can be and what it is when left out. */
export function describeOption(about: string, choices?: readonly string[], fallback?: string): string {
  const notes = [choices?.join(', ') ?? '', fallback === undefined ? '' : `default: ${fallback}`];
  const shown = notes.filter((note) => note !== '');
  return shown.length === 0 ? about : `${about} (${shown.join('; ')})`;
}

/** An option of one command that takes a value; given twice, the last one counts. */
export function valueOption<T = string>(
  flags: string,
  about: string,
  facts: ValueOptions<T> = {},
): CliOption {
  const { read, choices, default: value, defaultText, integer } = facts;
  const shown = defaultText ?? (value === undefined ? undefined : String(value));
  const option = new CliOption(flags, describeOption(about, choices, shown));
  option.isInteger = integer === true;
  if (choices !== undefined) option.argChoices = [...choices];
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

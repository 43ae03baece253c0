import type { App } from '../../app/app.ts';
import { beforeEnd } from '../check.ts';
import type { CliCommand, CliOption } from '../command.ts';

/** A command line as it was parsed, without running it. */
export interface TriedLine {
  readonly words: readonly string[];
  readonly app: App;
  readonly program: CliCommand;
  /** Undefined if it can run. */
  readonly error: unknown;
}

export interface Reading {
  readonly words: readonly string[];
  /** The words that were typed, and those that they mean. */
  readonly note?: string;
  /** How it is offered; undefined if the typed words have exactly one meaning here, so that it runs. */
  readonly offer?: string | undefined;
}

type Readings = readonly (Reading | undefined)[];

/** Returns what a word that is wrong may mean, the likeliest first. */
export type SlipRule = (word: string, line: TriedLine) => Readings;

/** By what is wrong with a line. */
export type SlipRules = Readonly<
  Record<string, (...typed: Parameters<SlipRule>) => Readings | Promise<Readings>>
>;

export const MEANT = 'did you mean';
export const WITHOUT = 'without it';
export const EXAMPLE = 'for example';

export const simple = (word: string): string => word.toLowerCase().replaceAll('_', '-');

export const when = (applies: unknown, reading: Reading | undefined): Reading | undefined =>
  applies ? reading : undefined;

/** Replaces words before `--`. */
export function replace(
  { words }: TriedLine,
  theirs: readonly string[],
  ours: readonly string[],
  offer?: string,
): Reading | undefined {
  const line = beforeEnd(words);
  const at = line.findIndex((_, start) => theirs.every((word, index) => line[start + index] === word));
  const note = `${theirs.join(' ')}: ${ours.join(' ')}`;
  return at === -1 ? undefined : { words: words.toSpliced(at, theirs.length, ...ours), note, offer };
}

/** Replaces an option of a line that was parsed to its end. @param text its value; default: any */
export function replaceOption(
  { program: { innermost, typed } }: TriedLine,
  long: string,
  text: string | undefined,
  ours: readonly string[],
  offer?: string,
): Reading {
  const options = [...typed, ...innermost.typed].flatMap(({ option, text: value }) => {
    const isIt = option.long === long && (text === undefined || text === value);
    return isIt ? ours : [value === undefined ? option.long : `${option.long}=${value}`];
  });
  const words = [...innermost.path.split(' '), ...options, '--', ...innermost.args];
  return { words, note: `${[long, text ?? []].flat().join(' ')}: ${ours.join(' ')}`, offer };
}

/** The values that an option or an argument can have, as far as they are known. */
export function valuesFor(command: CliCommand, option?: CliOption, argument = ''): readonly string[] {
  const offered = command.completers.get(option?.long ?? argument);
  return option?.argChoices ?? (Array.isArray(offered) ? offered : []);
}

import { shellWord } from '../../util/shell.ts';

/** Builds the command line of this run with other words at its end, such as `--resume`. */
export type ResumeCommand = (...words: string[]) => string;

/** A command with the options it was given. */
export interface GivenCommand {
  readonly options: readonly GivenOption[];
  getOptionValue(key: string): unknown;
  getOptionValueSource(key: string): string | undefined;
}

interface GivenOption {
  readonly long?: string | null | undefined;
  readonly negate: boolean;
  attributeName(): string;
}

/** Options that the next command does not repeat. */
const NOT_REPEATED: readonly string[] = ['--resume', '--retry-errors', '--force', '--dry-run'];
const LONG_AND_SHORT: Readonly<Record<string, string>> = { '--output': '-o' };

/**
 * Builds the command line of this run with other words at its end.
 * @param commands `enrich` and the program
 */
export function resumeCommand(
  file: string,
  commands: readonly GivenCommand[],
  words: readonly string[],
): string {
  const given = commands.flatMap((command) => command.options.flatMap((option) => wordsOf(command, option)));
  const all = [
    'restaurant',
    'enrich',
    file.startsWith('-') && file !== '-' ? `./${file}` : file,
    ...given,
    ...words,
  ];
  return all.map(shellWord).join(' ');
}

function wordsOf(command: GivenCommand, option: GivenOption): string[] {
  const { long } = option;
  const key = option.attributeName();
  if (long === undefined || long === null || NOT_REPEATED.includes(long)) return [];
  if (command.getOptionValueSource(key) !== 'cli') return [];
  const value = command.getOptionValue(key);
  const flag = LONG_AND_SHORT[long] ?? long;
  if (typeof value === 'boolean') return value !== option.negate ? [flag] : [];
  return (Array.isArray(value) ? value : [value]).flatMap((each) => [flag, String(each)]);
}

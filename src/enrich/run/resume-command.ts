import { shellWord } from '../../util/shell.ts';

/** Makes the command that goes on with this run, asks its failed rows again too, or begins anew. */
export type ResumeCommand = (how: 'resume' | 'retry' | 'anew') => string;

const OPTIONS: Readonly<Record<Parameters<ResumeCommand>[0], readonly string[]>> = {
  resume: ['--resume'],
  retry: ['--resume', '--retry-errors'],
  anew: ['--force'],
};

/** The part of a command of the tree that a command line can be made from again. */
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

/** Options of this run alone: they are not part of what goes on. */
const OF_THIS_RUN: readonly string[] = ['--resume', '--retry-errors', '--force', '--dry-run'];
const LONG_AND_SHORT: Readonly<Record<string, string>> = { '--output': '-o' };

/**
 * The exact command that goes on with a run.
 * @param commands `enrich` and the program, with their options as they were given
 */
export function resumeCommand(
  file: string,
  commands: readonly GivenCommand[],
  how: Parameters<ResumeCommand>[0],
): string {
  const given = commands.flatMap((command) => command.options.flatMap((option) => wordsOf(command, option)));
  const words = [
    'restaurant',
    'enrich',
    file.startsWith('-') && file !== '-' ? `./${file}` : file,
    ...given,
    ...OPTIONS[how],
  ];
  return words.map(shellWord).join(' ');
}

function wordsOf(command: GivenCommand, option: GivenOption): string[] {
  const { long } = option;
  const key = option.attributeName();
  if (long === undefined || long === null || OF_THIS_RUN.includes(long)) return [];
  if (command.getOptionValueSource(key) !== 'cli') return [];
  const value = command.getOptionValue(key);
  const flag = LONG_AND_SHORT[long] ?? long;
  if (typeof value === 'boolean') return value !== option.negate ? [flag] : [];
  return (Array.isArray(value) ? value : [value]).flatMap((each) => [flag, String(each)]);
}

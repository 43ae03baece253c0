import type { Option } from 'commander';
import type { CliCommand } from './command.ts';

/** The command that a command line names, found without validating its options. */
export interface Route {
  /** The deepest command that the words name. */
  readonly command: CliCommand;
  /** A word in the place of a command that names none. */
  readonly unknownCommand?: string;
  /** An option before any command that is none of the program's own. */
  readonly unknownOption?: string;
  readonly help: boolean;
  /** Whether the line selects JSON, also when the rest of it is wrong; undefined when it names no format. */
  readonly json: boolean | undefined;
}

export interface OptionToken {
  /** Long names of its options; an unknown short one as typed. */
  readonly flags: readonly string[];
  readonly value?: string | undefined;
  /** The value is the next word. */
  readonly takesNext: boolean;
  readonly known: boolean;
}

/** Returns the option that a flag, short or long, names in any of the commands. */
export const findOption = (commands: readonly CliCommand[], flag: string): Option | undefined =>
  commands
    .flatMap((command) => command.options)
    .find((option) => option.long === flag || option.short === flag);

/** Parses `--flag=value`, `-n5` and `-qj` (POSIX.1, utility syntax guidelines 5 to 7). */
export function readToken(token: string, commands: readonly CliCommand[]): OptionToken {
  if (token.startsWith('--')) {
    const [flag = token, ...rest] = token.split('=');
    const option = findOption(commands, flag);
    const value = token.includes('=') ? rest.join('=') : undefined;
    return {
      flags: [flag],
      value,
      takesNext: value === undefined && option?.required === true,
      known: option !== undefined,
    };
  }
  const flags: string[] = [];
  for (const [at, letter] of [...token].entries()) {
    if (at === 0) continue;
    const option = findOption(commands, `-${letter}`);
    flags.push(option?.long ?? `-${letter}`);
    if (option === undefined) return { flags, takesNext: false, known: letter === 'h' };
    if (option.required) {
      const value = token.slice(at + 1) || undefined;
      return { flags, value, takesNext: value === undefined, known: true };
    }
  }
  return { flags, takesNext: false, known: true };
}

/** Returns the first word of a command line that is neither a global option nor the value of one. */
export function commandName(argv: readonly string[], program: CliCommand): string | undefined {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-') || word === '-') return word;
    if (readToken(word, [program]).takesNext) index += 1;
  }
  return undefined;
}

/**
 * Follows the words of a command line down the command tree. It skips options with their values, so that `-h` is found
 * before anything is refused. `-h` is never taken for a value.
 */
export function parseRoute(argv: readonly string[], program: CliCommand): Route {
  const path: CliCommand[] = [program];
  let unknownCommand: string | undefined;
  let unknownOption: string | undefined;
  let json: boolean | undefined;
  let help = false;
  const isHelp = (word: string | undefined): boolean => word === '-h' || word === '--help';
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    const command = path.at(-1) ?? program;
    if (word.startsWith('-') && word !== '-') {
      const token = readToken(word, path);
      const next = argv[at + 1];
      help ||= isHelp(word) || token.flags.includes('-h');
      if (token.flags.includes('--json')) json = true;
      if (token.flags.includes('--format')) json ||= (token.value ?? next) === 'json';
      // Who reads progress as JSON reads errors as JSON.
      if (token.flags.includes('--progress') && (token.value ?? next) === 'json') json = true;
      if (!token.known && !isHelp(word) && command === program && unknownCommand === undefined)
        unknownOption ??= word;
      if (token.takesNext && !isHelp(next)) at += 1;
    } else if (command.children.length > 0 && unknownCommand === undefined) {
      const child = command.children.find((each) => each.name() === word);
      if (child === undefined) unknownCommand = word;
      else path.push(child);
    }
  }
  return { command: path.at(-1) ?? program, unknownCommand, unknownOption, help, json };
}

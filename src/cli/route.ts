import type { Option } from 'commander';
import type { CliCommand } from './command.ts';

/** A command line, read without validating it. */
export interface Route {
  /** The program and the commands that the words name, down to the deepest. */
  readonly path: readonly CliCommand[];
  /** The deepest command. */
  readonly command: CliCommand;
  /** The words after it that are neither options nor their values. */
  readonly operands: readonly string[];
  /** A word in the place of a command that names none. */
  readonly unknownCommand: string | undefined;
  /** An unknown option before any command that acts. */
  readonly unknownOption: string | undefined;
  /** Long names of the options; unknown short ones as typed. */
  readonly given: ReadonlySet<string>;
  /** The option at the end whose value is missing. */
  readonly open: Option | undefined;
  readonly afterDoubleDash: boolean;
  readonly help: boolean;
  /** Whether the line selects JSON, also when the rest of it is wrong; undefined when it names no format. */
  readonly json: boolean | undefined;
}

interface OptionToken {
  /** Long names of its options; an unknown short one as typed. */
  readonly flags: readonly string[];
  value?: string | undefined;
  /** The option whose value is the next word. */
  readonly open?: Option | undefined;
  readonly known: boolean;
}

/** Returns the option that a flag, short or long, names in any of the commands. */
export const findOption = (commands: readonly CliCommand[], flag: string): Option | undefined =>
  commands
    .flatMap((command) => command.options)
    .find((option) => option.long === flag || option.short === flag);

/** Parses `--flag=value`, `-n5` and `-qj` (POSIX.1, utility syntax guidelines 5 to 7). */
function readToken(token: string, commands: readonly CliCommand[]): OptionToken {
  if (token.startsWith('--')) {
    const [flag = token, value] = token.split(/=(.*)/s);
    const option = findOption(commands, flag);
    const open = value === undefined && option?.required ? option : undefined;
    return { flags: [flag], value, open, known: option !== undefined || flag === '--help' };
  }
  const flags: string[] = [];
  for (const [at, letter] of [...token].entries()) {
    if (at === 0) continue;
    const option = findOption(commands, `-${letter}`);
    flags.push(option?.long ?? `-${letter}`);
    if (option === undefined) return { flags, known: letter === 'h' };
    if (option.required) {
      const value = token.slice(at + 1) || undefined;
      return { flags, value, open: value === undefined ? option : undefined, known: true };
    }
  }
  return { flags, known: true };
}

const isHelp = (word: string): boolean => word === '-h' || word === '--help';

/**
 * Follows the words of a command line down the command tree. It skips options with their values, so that `-h` is found
 * before anything is refused. `-h` is never taken for a value.
 */
export function parseRoute(argv: readonly string[], program: CliCommand): Route {
  const path = [program];
  const operands: string[] = [];
  const tokens: OptionToken[] = [];
  let unknownOption: string | undefined;
  let afterDoubleDash = false;
  /** The option whose value is the next word. */
  let last: OptionToken | undefined;
  for (const word of argv) {
    const command = path.at(-1) ?? program;
    if (last?.open !== undefined && !isHelp(word)) {
      last.value = word;
      last = undefined;
    } else if (!afterDoubleDash && word === '--') afterDoubleDash = true;
    else if (!afterDoubleDash && word.startsWith('-') && word !== '-') {
      last = readToken(word, path);
      tokens.push(last);
      if (!last.known && command.isGroup && operands.length === 0) unknownOption ??= word;
    } else {
      const child = command.children.find((each) => each.name() === word);
      if (child === undefined || operands.length > 0 || afterDoubleDash) operands.push(word);
      else path.push(child);
    }
  }
  const command = path.at(-1) ?? program;
  const given = new Set(tokens.flatMap(({ flags }) => flags));
  // Who reads progress as JSON reads errors as JSON.
  const formats = tokens.flatMap(({ flags: [flag = ''], value = '' }) =>
    flag === '--format' || (flag === '--progress' && value === 'json') ? [value] : [],
  );
  if (given.has('--json')) formats.push('json');
  return {
    path,
    command,
    operands,
    unknownCommand: command.children.length > 0 ? operands[0] : undefined,
    unknownOption,
    given,
    open: last?.open,
    afterDoubleDash,
    help: given.has('-h') || given.has('--help'),
    json: formats.length === 0 ? undefined : formats.includes('json'),
  };
}

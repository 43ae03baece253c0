import type { Option } from 'commander';
import type { CliCommand } from './command.ts';

/** A parsed command line, before any option or argument is checked. */
export interface Route {
  /** The program and the commands that the words name, from the outermost to the innermost. */
  readonly path: readonly CliCommand[];
  /** The innermost command. */
  readonly command: CliCommand;
  /** The words after it that are neither options nor their values. */
  readonly operands: readonly string[];
  /** The words in order, each option with its value. */
  readonly parts: readonly Part[];
  /** `--` and the words after it. */
  readonly rest: readonly string[];
  /** Long names of the options; unknown short ones as typed. */
  readonly given: ReadonlySet<string>;
  /** The last option, if its value is missing. */
  readonly open: Option | undefined;
  readonly help: boolean;
  /** Whether the command line selects JSON, even if the rest of it is invalid; undefined if it does not name a format. */
  readonly json: boolean | undefined;
  /** The first unknown option, unless an unknown command precedes it, and the word that follows. */
  readonly unknownOption: { readonly word: string; readonly next: string | undefined } | undefined;
}

/** A word, or an option with its value. */
export interface Part {
  /** As typed. */
  readonly words: string[];
  /** Long names of its options; an unknown short one as typed. */
  readonly flags: readonly string[];
  value?: string | undefined;
  /** The option whose value is the next word. */
  open?: Option | undefined;
  readonly known: boolean;
}

/** Returns the option of any of the commands that has the flag, short or long. */
export const findOption = (commands: readonly CliCommand[], flag: string): Option | undefined =>
  commands
    .flatMap((command) => command.options)
    .find((option) => option.long === flag || option.short === flag);

/** Parses `--flag=value`, `-n5` and `-qj` (POSIX.1, utility syntax guidelines 5 to 7). */
function readOption(word: string, commands: readonly CliCommand[]): Part {
  const words = [word];
  if (word.startsWith('--')) {
    const [flag = word, value] = word.split(/=(.*)/s);
    const option = findOption(commands, flag);
    const open = value === undefined && option?.required ? option : undefined;
    const known = (option !== undefined || flag === '--help') && (value === undefined || option?.required);
    return { words, flags: [flag], value, open, known: known === true };
  }
  const flags: string[] = [];
  for (const [at, letter] of [...word].entries()) {
    if (at === 0) continue;
    const option = findOption(commands, `-${letter}`);
    flags.push(option?.long ?? `-${letter}`);
    if (option === undefined) return { words, flags, known: letter === 'h' };
    if (option.required) {
      const value = word.slice(at + 1) || undefined;
      return { words, flags, value, open: value === undefined ? option : undefined, known: true };
    }
  }
  return { words, flags, known: true };
}

const isHelp = (word: string): boolean => word === '-h' || word === '--help';

/** Returns whether a word looks like an option. A negative number is an argument. */
const isOptionLike = (word: string): boolean =>
  /^-./s.test(word) && !/^-(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/.test(word);

/**
 * Returns whether a word is the value of an option. `-h` is never a value. Commander parses `--` and the program's own
 * options first, so they cannot be values of a command's option.
 */
const isValueOf = (option: Option, word: string, program: CliCommand): boolean =>
  !isHelp(word) &&
  (program.options.includes(option) ||
    (word !== '--' && (!isOptionLike(word) || !readOption(word, [program]).known)));

/** Returns the option whose value is the next word. */
const openPart = (parts: readonly Part[]): Part | undefined =>
  parts.findLast(({ open }) => open !== undefined);

/**
 * Follows the words of a command line down the command tree, skipping options and their values, so that `-h` is found
 * before any error is reported.
 */
export function parseRoute(argv: readonly string[], program: CliCommand): Route {
  const path = [program];
  const operands: string[] = [];
  const parts: Part[] = [];
  let unknownOption: Route['unknownOption'];
  let rest: readonly string[] = [];
  for (const [index, word] of argv.entries()) {
    const command = path.at(-1) ?? program;
    const last = openPart(parts);
    if (last?.open !== undefined && isValueOf(last.open, word, program)) {
      last.words.push(word);
      last.value = word;
      last.open = undefined;
    } else if (word === '--') {
      rest = argv.slice(index);
      break;
    } else if (isOptionLike(word)) {
      const option = readOption(word, path);
      parts.push(option);
      const isFirst = command.children.length === 0 || operands.length === 0;
      // The letter of a group of short options is its own option.
      if (!option.known && isFirst) {
        const typed = word.startsWith('--') ? word : (option.flags.at(-1) ?? word);
        unknownOption ??= { word: typed, next: argv[index + 1] };
      }
    } else {
      parts.push({ words: [word], flags: [], known: true });
      const child = command.children.find((each) => each.name() === word);
      if (child === undefined || operands.length > 0) operands.push(word);
      else path.push(child);
    }
  }
  operands.push(...rest.slice(1));
  const command = path.at(-1) ?? program;
  const given = new Set(parts.flatMap(({ flags }) => flags));
  const help = parts.some(({ known, flags }) => known && (flags.includes('-h') || flags.includes('--help')));
  // With JSON progress, errors are JSON, too.
  const formats = parts.flatMap(({ flags: [flag = ''], value = '' }) =>
    flag === '--format' || (flag === '--progress' && value === 'json') ? [value] : [],
  );
  if (given.has('--json')) formats.push('json');
  return {
    path,
    command,
    operands,
    parts,
    rest,
    given,
    open: openPart(parts)?.open,
    help,
    json: formats.length === 0 ? undefined : formats.includes('json'),
    unknownOption,
  };
}

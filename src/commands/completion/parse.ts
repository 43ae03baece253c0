import type { CliCommand, Option } from '../../cli/command.ts';
import { findOption, readToken } from '../../cli/route.ts';

/** The quote that is open at the end of a line. */
export type Quote = '' | "'" | '"';

/** A command line of bash up to the cursor. */
export interface BashLine {
  /** The words before the cursor's, without quotes and redirections. */
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes. */
  readonly current: string;
  /** The same word as typed. */
  readonly raw: string;
  readonly quote: Quote;
  /** Whether the word is the file of a redirection. */
  readonly isRedirection: boolean;
}

/** Splits a line as bash does (POSIX.1, shell command language, 2.2), without expanding anything. */
export function parseBashLine(line: string): BashLine {
  const words: string[] = [];
  let current = '';
  let raw = '';
  let quote: Quote = '';
  let isRedirection = false;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (quote === '' && /[\s<>]/.test(char)) {
      const isOperator = /[<>]/.test(char);
      // The number or the & before > belongs to it.
      if (raw !== '' && !isRedirection && !(isOperator && /^(\d+|&)$/.test(raw))) words.push(current);
      if (raw !== '' || isOperator) isRedirection = isOperator;
      current = raw = '';
      continue;
    }
    raw += char;
    if (char === '\\' && quote !== "'" && (quote === '' || /["\\$`]/.test(next))) {
      current += next;
      raw += next;
      at += 1;
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else current += char;
  }
  return { words, current, raw, quote, isRedirection };
}

/** Quotes text so that bash reads it back inside the open quote. */
export function quoteForBash(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[\s"'\\`$&|;<>()[\]{}*?!#~^]/g, '\\$&');
}

/** The position of the cursor in the command line. */
export interface CursorContext {
  readonly command: CliCommand;
  /** The option whose value is typed. */
  readonly option?: Option;
  /** The part of the word before that value: `--format=`. */
  readonly prefix: string;
  /** The part of the word that is completed, up to the cursor. */
  readonly text: string;
  /** The command's words that are not options. */
  readonly operands: readonly string[];
  /** Long names of the options before the cursor. */
  readonly given: ReadonlySet<string>;
  /** Options are not recognized after `--`. */
  readonly afterDoubleDash: boolean;
}

/**
 * Finds what is typed.
 * @param words the words before the cursor's, without the program's name
 * @param current the word at the cursor, up to the cursor
 */
export function parseCursor(words: readonly string[], current: string, program: CliCommand): CursorContext {
  const path: CliCommand[] = [program];
  const operands: string[] = [];
  const given = new Set<string>();
  let afterDoubleDash = false;
  let option: Option | undefined;
  for (const word of words) {
    const command = path.at(-1) ?? program;
    if (option !== undefined) option = undefined;
    else if (!afterDoubleDash && word === '--') afterDoubleDash = true;
    else if (!afterDoubleDash && word.startsWith('-') && word !== '-') {
      const token = readToken(word, path);
      for (const flag of token.flags) given.add(flag);
      if (token.takesNext) option = findOption(path, token.flags.at(-1) ?? '');
    } else {
      const child = operands.length > 0 ? undefined : command.children.find((each) => each.name() === word);
      if (child === undefined) operands.push(word);
      else path.push(child);
    }
  }
  const context = { command: path.at(-1) ?? program, operands, given, afterDoubleDash };
  if (option !== undefined) return { ...context, option, prefix: '', text: current };
  const joined = afterDoubleDash ? undefined : joinedValue(current, path);
  return { ...context, prefix: '', text: current, ...joined };
}

/** The value in `--flag=value` and `-ofile`. */
function joinedValue(
  word: string,
  path: readonly CliCommand[],
): Pick<CursorContext, 'option' | 'prefix' | 'text'> | undefined {
  const [prefix] = /^--[^=]*=/.exec(word) ?? /^-[^-](?=.)/.exec(word) ?? [];
  if (prefix === undefined) return undefined;
  const option = findOption(path, prefix.replace('=', ''));
  return option?.required === true ? { option, prefix, text: word.slice(prefix.length) } : undefined;
}

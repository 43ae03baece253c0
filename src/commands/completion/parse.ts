import type { CliCommand, Option } from '../../cli/command.ts';

/** The quote that is open at the end of a line. */
export type Quote = '' | "'" | '"';

/** A command line of bash up to the cursor. */
export interface BashLine {
  /** The words before the cursor's, without quotes and redirections. */
  readonly words: readonly string[];
  /** The word at the cursor, without quotes. */
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
      // The number or the & before > belongs to the redirection.
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

/** Quotes text so that bash parses it back to the same text inside the open quote. */
export function quoteForBash(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[\s"'\\`$&|;<>()[\]{}*?!#~^]/g, '\\$&');
}

/** The command line up to the cursor. */
export interface CursorContext {
  readonly command: CliCommand;
  readonly operands: readonly string[];
  /** The option whose value is typed. */
  readonly option: Option | undefined;
  /** The part of the word before that value: `--format=`. */
  readonly prefix: string;
  /** The part of the word that is completed, up to the cursor. */
  readonly text: string;
  /** Whether a `--` precedes the cursor. */
  readonly afterDoubleDash: boolean;
  /** Long names of the options before the cursor. */
  readonly typed: ReadonlySet<string>;
}

/** Marks the end of the word at the cursor, so that it can be found in what commander parsed. */
const CURSOR = '\0';

/**
 * Determines what the user is typing.
 * @param words the words before the cursor's, without the program's name
 * @param current the word at the cursor, up to the cursor
 */
export async function parseCursor(
  words: readonly string[],
  current: string,
  program: CliCommand,
): Promise<CursorContext> {
  await program.loadTree();
  for (const option of program.tree.flatMap(({ options }) => options)) option.argParser((text) => text);
  // No action runs.
  program.setOptionValue('help', true);
  await program.parseAsync([...words, current + CURSOR], { from: 'user' }).catch(() => {});
  const command = program.innermost;
  const all = [...program.typed, ...(command === program ? [] : command.typed)];
  const open = all.find(({ text }) => text?.endsWith(CURSOR));
  const value = open?.text?.slice(0, -1);
  return {
    command,
    operands: command.args.filter((word) => !word.endsWith(CURSOR)),
    option: open?.option,
    prefix: value === undefined ? '' : current.slice(0, current.length - value.length),
    text: value ?? current,
    afterDoubleDash: words.includes('--'),
    typed: new Set(all.map(({ option }) => option.long ?? option.flags)),
  };
}

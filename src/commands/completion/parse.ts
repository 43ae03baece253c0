import type { CliCommand, Option } from '../../cli/command.ts';

type Quote = '' | "'" | '"';

interface BashLine {
  readonly words: readonly string[];
  readonly current: string;
  readonly raw: string;
  readonly quote: Quote;
  readonly isRedirection: boolean;
}

/** A blank or redirection, an escaped character, quoted text with its end, or other text. */
const BASH_TOKEN = /([\s<>])|\\([\s\S]?)|'([^']*)('?)|"((?:\\[\s\S]?|[^"\\])*)("?)|[^\s<>'"\\]+/g;

const START: BashLine = { words: [], current: '', raw: '', quote: '', isRedirection: false };

/** Splits a line as bash does (POSIX.1, shell command language, 2.2), without expanding anything. */
export const parseBashLine = (line: string): BashLine =>
  [...line.matchAll(BASH_TOKEN)].reduce(
    (before, [token, space, ...text]) =>
      space === undefined ? withText(before, token, text) : afterWord(before, space),
    START,
  );

function afterWord({ words, current, raw, isRedirection }: BashLine, space: string): BashLine {
  const isOperator = /[<>]/.test(space);
  // The number or the & before > belongs to the redirection.
  const isWord = isOperator ? !/^(\d+|&)?$/.test(raw) : raw !== '';
  return {
    ...START,
    words: isWord && !isRedirection ? [...words, current] : words,
    isRedirection: raw !== '' || isOperator ? isOperator : isRedirection,
  };
}

function withText(before: BashLine, token: string, text: readonly (string | undefined)[]): BashLine {
  const [escaped, single, endSingle, double, endDouble] = text;
  const unquoted = escaped ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? token;
  const isOpen = endSingle === '' || endDouble === '';
  const quote = token.startsWith('"') ? '"' : "'";
  return {
    ...before,
    raw: before.raw + token,
    current: before.current + unquoted,
    quote: isOpen ? quote : '',
  };
}

export function quoteForBash(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[\s"'\\`$&|;<>()[\]{}*?!#~^]/g, '\\$&');
}

export interface CursorContext {
  readonly command: CliCommand;
  readonly operands: readonly string[];
  readonly option: Option | undefined;
  readonly prefix: string;
  readonly text: string;
  readonly afterDoubleDash: boolean;
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

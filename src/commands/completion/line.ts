/** The quote that is open at the end of a line. */
export type Quote = '' | "'" | '"';

/** A command line of bash up to the cursor, taken apart. */
export interface TypedLine {
  /** The words before the one at the cursor, without their quotes; redirections are no words. */
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes, and as it was typed. */
  readonly current: string;
  readonly raw: string;
  readonly quote: Quote;
  /** What is typed is the file of a redirection. */
  readonly redirection: boolean;
}

/**
 * Takes a line apart as bash would (POSIX.1, shell command language, 2.2), up to an open quote. Nothing is expanded.
 */
export function readLine(line: string): TypedLine {
  const words: string[] = [];
  let current = '';
  let raw = '';
  let quote: Quote = '';
  let redirection = false;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (quote === '' && /[\s<>]/.test(char)) {
      const isRedirection = /[<>]/.test(char);
      // The number or the & before > belong to it.
      if (raw !== '' && !redirection && !(isRedirection && /^(\d+|&)$/.test(raw))) words.push(current);
      if (raw !== '' || isRedirection) redirection = isRedirection;
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
  return { words, current, raw, quote, redirection };
}

/** The text as it is typed inside the quote so that bash reads it back. */
export function typed(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[\s"'\\`$&|;<>()[\]{}*?!#~^]/g, '\\$&');
}

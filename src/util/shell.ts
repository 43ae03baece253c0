/** Quotes text as one word of a POSIX shell, if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Splits a command line into words like a POSIX shell, but only with quotes and backslashes, without expansions.
 * @returns the words; undefined if a quote is not closed
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === '\\' && quote === '"' && /["\\]/.test(line[at + 1] ?? '')) word += line[++at] ?? '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + (char === '\\' ? (line[++at] ?? '') : char);
    }
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}

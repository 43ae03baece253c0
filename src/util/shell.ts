/** Quotes text as one word of a POSIX shell, if necessary. */
export function posixWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
export { posixWord as shellWord };

/** Text that PowerShell replaces in double quotes, that cmd.exe replaces (`%NAME%`), or that no line can contain. */
const EXPANDED = /[`\u201c-\u201e\p{Cc}]|\$[\w({:?^$]|%[^%]+%/u;

/**
 * Quotes text as one word that cmd.exe, PowerShell, and the C runtime read alike, if necessary.
 * @returns undefined if no such word exists
 */
export function windowsWord(text: string): string | undefined {
  if (EXPANDED.test(text)) return undefined;
  // PowerShell splits `-a.b` and `-a:b`.
  if (/^[\w+/\\][\w+=:./\\-]*$|^--?[\w=/\\-]*$/.test(text) && text !== '') return text;
  // The C runtime reads backslashes before a quote as pairs.
  return `"${text.replace(/(\\*)("|$)/g, (_all, slashes: string, quote: string) => slashes + slashes + quote + quote)}"`;
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

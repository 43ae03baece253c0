import { traitsOf } from './platform.ts';

export const posixQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const posixWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : posixQuote(text));

/** Quotes text as one word that cmd.exe, PowerShell, and the C runtime read alike; undefined if there is none. */
export function windowsWord(text: string): string | undefined {
  // PowerShell replaces the first and second in double quotes, cmd.exe the third, and no line can contain a control character.
  if (/[`\u201c-\u201e\p{Cc}]|\$[\w({:?^$]|%[^%]+%/u.test(text)) return undefined;
  // PowerShell splits `-a.b` and `-a:b`.
  if (/^[\w+/\\][\w+=:./\\-]*$|^--?[\w=/\\-]*$/.test(text) && text !== '') return text;
  // The C runtime reads backslashes before a quote as pairs.
  return `"${text.replace(/(?<!\\)(\\*)("|$)/g, (_all, slashes: string, quote: string) => slashes + slashes + quote + quote)}"`;
}

interface Startable {
  readonly file: string;
  readonly args: string[];
  /** Whether the arguments are one line of cmd.exe. */
  readonly isQuoted: boolean;
}

/** How to start a program without a shell of the user's: cmd.exe starts scripts. @returns undefined if it would change a word */
export function startable(
  words: readonly [string, ...string[]],
  { env, platform }: { readonly env: Readonly<NodeJS.ProcessEnv>; readonly platform: NodeJS.Platform },
): Startable | undefined {
  const [file, ...args] = words;
  const isProgram = traitsOf(platform).shell === 'posix' || /\.(?:exe|com)$/i.test(file);
  if (isProgram) return { file, args, isQuoted: false };
  const quoted = words.map(windowsWord);
  if (quoted.includes(undefined)) return undefined;
  return { file: env.ComSpec ?? 'cmd', args: ['/d', '/s', '/c', `"${quoted.join(' ')}"`], isQuoted: true };
}

export const powerShellWord = (text: string): string =>
  windowsWord(text) ?? `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

/** White space, quoted text, an escaped character, or plain text. */
const PART = /(\s+)|'([^']*)'|"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|\\(.|$)|[^\s'"\\]+/gsy;

/** Splits a command line into words like a POSIX shell, without expansions; undefined if a quote is not closed. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let length = 0;
  for (const [part, space, single, double, escaped] of line.matchAll(PART)) {
    length += part.length;
    if (space === undefined) {
      word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? part);
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (length < line.length) return undefined;
  return word === undefined ? words : [...words, word];
}

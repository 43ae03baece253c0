import type { App } from '../../app/app.ts';
import type { CliCommand } from '../../cli/command.ts';
import { escapeUnit, tryParseJson } from '../../util/json.ts';
import { powerShellWord } from '../../util/shell.ts';
import { type Completion, type Completions, listCompletions, parseCursor } from './candidates.ts';

/** The values of COMP_TYPE with which bash lists candidates (bash(1), programmable completion). */
const LISTING = ['33', '63', '64'];

/**
 * Formats the completions for the script of a shell: one candidate per line, in the shell's format. If files can be
 * completed, a last line contains the number of characters before the path: `<tab>files<tab><n>` for zsh,
 * `<tab>files<tab><n><tab><open quote><tab><path so far>` for bash, and `<tab>files<tab><those characters><tab><path so
 * far>` for fish. For PowerShell, every line is JSON in ASCII: `{"text", "name", "description"}`, or for files `{"before",
 * "path"}`.
 * @param args for bash the line up to the cursor, the part that bash replaces, and COMP_TYPE; else the words, the last
 * of which is typed (for PowerShell, a JSON array in Base64)
 */
export async function answer(
  shell: string | undefined,
  args: readonly string[],
  program: CliCommand,
  app: App,
): Promise<string> {
  const completionsAt = async (words: readonly string[], current: string): Promise<Completions> =>
    listCompletions(await parseCursor(words, current, program), program, app);
  if (shell === 'bash') return answerBash(args, completionsAt);
  if (shell === 'powershell') return answerPowerShell(args, completionsAt);
  // fish passes the last word as typed, and completes paths itself.
  const typed = args.at(-1) ?? '';
  const current = shell === 'fish' ? parseBashLine(typed).current : typed;
  const { candidates, path } = await completionsAt(args.slice(0, -1), current);
  const before = beforePath(current, path);
  if (shell === 'fish') {
    const texts = candidates.map(({ value, description }) => `${value}\t${description}`);
    return lines(texts, path === undefined ? undefined : `${before}\t${path}`);
  }
  // The form of _describe (zshcompsys).
  const texts = candidates.map(
    ({ value, description }) => `${value.replace(/[\\:]/g, '\\$&')}:${description.replaceAll('\\', '\\\\')}`,
  );
  return lines(texts, path === undefined ? undefined : `${[...before].length}`);
}

async function answerBash(
  [line = '', replaced = '', type = '']: readonly string[],
  completionsAt: (words: readonly string[], current: string) => Promise<Completions>,
): Promise<string> {
  const { words, current, raw, quote, isRedirection } = parseBashLine(line);
  const { candidates, path }: Completions = isRedirection
    ? { candidates: [], path: current }
    : await completionsAt(words.slice(1), current);
  // bash replaces only the part after the last = or : of a word.
  const start = raw.endsWith(replaced)
    ? parseBashLine(raw.slice(0, raw.length - replaced.length)).current
    : '';
  const matching = candidates.filter(({ value }) => value.startsWith(current));
  const texts = matching.map(({ value }) => quoteForBash(value.slice(start.length), quote));
  const isListed = LISTING.includes(type) && matching.length > 1;
  if (path === undefined) return lines(isListed ? withNames(texts, matching) : texts);
  const count = [...beforePath(current, path)].length - [...start].length;
  return lines(texts, `${Math.max(0, count)}\t${quote}\t${path}`);
}

async function answerPowerShell(
  [typed = '']: readonly string[],
  completionsAt: (words: readonly string[], current: string) => Promise<Completions>,
): Promise<string> {
  const words = tryParseJson(Buffer.from(typed, 'base64').toString('utf8'));
  if (!Array.isArray(words) || words.some((word) => typeof word !== 'string')) return '';
  const current: string = words.at(-1) ?? '';
  const { candidates, path } = await completionsAt(words.slice(0, -1), current);
  const replies = candidates
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, description }) => ({
      text: powerShellWord(value),
      name: value,
      // An empty one is an error in PowerShell.
      description: description === '' ? value : description,
    }));
  const files = path === undefined ? [] : [{ before: beforePath(current, path), path }];
  return lines([...replies, ...files].map((reply) => asciiJson(reply)));
}

const asciiJson = (value: unknown): string => JSON.stringify(value).replace(/[^\x20-\x7e]/g, escapeUnit);

const beforePath = (word: string, path = ''): string => word.slice(0, word.length - path.length);

function withNames(texts: readonly string[], candidates: readonly Completion[]): string[] {
  const width = Math.max(...texts.map((text) => text.length));
  return texts.map((text, index) => {
    const description = candidates[index]?.description ?? '';
    return /^\d+$/.test(text) && description !== '' ? `${text.padEnd(width)}  (${description})` : text;
  });
}

const lines = (texts: readonly string[], files?: string): string =>
  [...texts, ...(files === undefined ? [] : [`\tfiles\t${files}`])].map((text) => `${text}\n`).join('');

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
const parseBashLine = (line: string): BashLine =>
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

function quoteForBash(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, '\\$&');
  return text.replace(/[\s"'\\`$&|;<>()[\]{}*?!#~^]/g, '\\$&');
}

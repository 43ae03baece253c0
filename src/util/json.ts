import { AppError } from '../errors.ts';

/** Maximum number of levels of a value that is shown or printed. */
const MAX_DEPTH = 200;

/** A variation selector after a character that has variations: an emoji, a keycap, an ideograph, or a math sign. */
const USED_SELECTOR = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)|(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=\p{Sm})\ufe00`;

/** Source of a pattern for invisible variation selectors and joining marks, which can hide text. */
export const STRAY_MARK = String.raw`(?!${USED_SELECTOR})[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;

/**
 * DEL, C1, and all characters without a glyph (zero-width, bidi, tags, line separators). JSON.stringify escapes the
 * other control characters.
 */
const UNSAFE = String.raw`(?!\p{M})[\x7f-\x9f\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]|${STRAY_MARK}`;

/**
 * Returns a value as JSON (RFC 8259) without a final line break, indented by two spaces if `pretty`. Control and
 * invisible characters are escaped as `\uXXXX`.
 * @throws {AppError} `bad_response` if the value nests deeper than 200 levels.
 */
export function toJson(value: unknown, pretty: boolean): string {
  checkDepth(value);
  return escapeJson(JSON.stringify(value, null, pretty ? 2 : undefined) ?? 'null');
}

/**
 * Formats JSON text as {@link toJson} does, but keeps its numbers as written: a parser would round long ones.
 * @param json valid JSON
 */
export function formatJson(json: string, pretty: boolean): string {
  const parts: string[] = [];
  const layout = pretty ? prettyLayout() : compactLayout;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const start = quote === -1 ? json.length : quote;
    parts.push(layout(json.slice(at, start)));
    at = quote === -1 ? json.length : closingQuote(json, quote) + 1;
    const string = json.slice(start, at);
    parts.push(string.includes('\\') ? JSON.stringify(JSON.parse(string)) : string);
  }
  return escapeJson(parts.join(''));
}

const compactLayout = (between: string): string => between.replace(/\s+/g, '');

/** Creates a function that formats the text between strings, one part after the other. */
function prettyLayout(): (between: string) => string {
  let line = '\n';
  const layOut = (token: string): string => {
    if (token === ':') return ': ';
    if (token === ',') return `,${line}`;
    if (token === '{' || token === '[') {
      line += '  ';
      return token + line;
    }
    if (token !== '}' && token !== ']') return compactLayout(token);
    line = line.slice(0, -2);
    return line + token;
  };
  return (between) => between.replace(/[[{]\s*[\]}]|[[\]{},:]|\s+/g, layOut);
}

/** Returns the offset of the quote that closes the string opened at `start`, or -1. */
export function closingQuote(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  return -1;
}

/** Returns the text of a member of an object, the last one of that name. @param json valid JSON */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined;
  let key = '';
  let start: number | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    const isAtTop = depth === 1;
    if (char === '"') {
      const end = closingQuote(json, at);
      if (isAtTop && start === undefined) key = json.slice(at, end + 1);
      at = end;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    if (!isAtTop) continue;
    if (char === ':' && JSON.parse(key) === name) start = at + 1;
    if (start === undefined || (char !== ',' && char !== '}')) continue;
    found = json.slice(start, at);
    start = undefined;
  }
  return found;
}

/** Parses JSON; undefined for other text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Escapes control and invisible characters in JSON text as `\uXXXX`. */
export function escapeJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  // Compiled only here, because it takes milliseconds and most text does not need it.
  return json.replace(new RegExp(UNSAFE, 'gu'), (character) => character.split('').map(escapeUnit).join(''));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Checks the depth of a value. @throws {AppError} `bad_response` if it nests deeper than 200 levels. */
export function checkDepth(value: unknown, depth = 0): void {
  if (!isContainer(value)) return;
  if (depth >= MAX_DEPTH)
    throw new AppError('bad_response', `the data nests deeper than ${MAX_DEPTH} levels`);
  for (const member of Object.values(value)) if (isContainer(member)) checkDepth(member, depth + 1);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Changes every string in a JSON value, except keys. Unchanged parts are shared with the original. */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part);
    if (!isContainer(part)) return part;
    let copy: Record<string, unknown> | undefined;
    for (const [key, inner] of Object.entries(part)) {
      const mapped = walk(inner);
      if (mapped === inner) continue;
      copy ??= (Array.isArray(part) ? Object.assign([], part) : { ...part }) as Record<string, unknown>;
      copy[key] = mapped;
    }
    return copy ?? part;
  };
  return walk(value) as T;
}

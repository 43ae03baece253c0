import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { AppError, attempt } from '../errors.ts';
import { STRAY_MARK } from './stray-mark.ts';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export const mapValues = <T, R>(
  record: Readonly<Record<string, T>>,
  change: (value: T, key: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

/** Maximum nesting. Deeper nesting would overflow the stack when it is printed. */
const MAX_DEPTH = 200;

/** DEL, C1, and characters without a glyph (zero-width, bidi, tags). JSON.stringify escapes other control characters. */
const UNSAFE = String.raw`(?!\p{M})[\x7f-\x9f\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]|${STRAY_MARK}`;

/** Escapes control and invisible characters. @throws {AppError} `bad_response` for more than 200 levels */
export function toJson(value: unknown, pretty: boolean): string {
  checkDepth(value);
  return escapeJson(JSON.stringify(value, null, pretty ? 2 : undefined) ?? 'null');
}

/** Formats valid JSON text as {@link toJson} does, but keeps its numbers as written: a parser would round long ones. */
export function formatJson(json: string, pretty: boolean): string {
  const layout = pretty ? new PrettyLayout() : undefined;
  const unescaped = (string: string): string =>
    string.includes('\\') ? JSON.stringify(JSON.parse(string)) : string;
  return escapeJson(mapTokens(json, (between) => layout?.format(between) ?? compact(between), unescaped));
}

/** Changes the text between the strings of valid JSON, and the strings. */
export function mapTokens(
  json: string,
  changeBetween: (between: string) => string,
  changeString: (string: string) => string = (string) => string,
): string {
  const parts: string[] = [];
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const start = quote === -1 ? json.length : quote;
    parts.push(changeBetween(json.slice(at, start)));
    at = quote === -1 ? json.length : closingQuote(json, quote) + 1;
    parts.push(changeString(json.slice(start, at)));
  }
  return parts.join('');
}

// Most responses are compact, and `replace` takes long.
const compact = (between: string): string => (/\s/.test(between) ? between.replace(/\s+/g, '') : between);

class PrettyLayout {
  #line = '\n';

  format(between: string): string {
    return between.replace(/[[{]\s*[\]}]|[[\]{},:]|\s+/g, (token) => this.#layOut(token));
  }

  #layOut(token: string): string {
    if (token === ':') return ': ';
    if (token === ',') return `,${this.#line}`;
    if (token === '{' || token === '[') {
      this.#line += '  ';
      return token + this.#line;
    }
    if (token !== '}' && token !== ']') return compact(token);
    this.#line = this.#line.slice(0, -2);
    return this.#line + token;
  }
}

export function closingQuote(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote;
}

function isEscaped(json: string, quote: number): boolean {
  let first = quote;
  while (json.charCodeAt(first - 1) === 0x5c) first -= 1;
  return (quote - first) % 2 === 1;
}

/** Finds a member of an object in valid JSON text, the last one of that name. */
export function memberText(json: string, name: string): string | undefined {
  const range = memberRange(json, name);
  return range === undefined ? undefined : json.slice(range.start, range.end);
}

/** The positions of a member in the text of an object: of its key, and of its value. */
interface MemberRange {
  readonly key: number;
  readonly start: number;
  readonly end: number;
}

export function memberRange(json: string, name: string): MemberRange | undefined {
  if (!/^\s*\{/.test(json)) return undefined;
  let range: MemberRange | undefined;
  for (let at = json.indexOf('"'); at !== -1; ) {
    const end = closingQuote(json, at);
    const start = json.indexOf(':', end) + 1;
    const next = valueEnd(json, start);
    if (JSON.parse(json.slice(at, end + 1)) === name) range = { key: at, start, end: next };
    at = json.indexOf('"', next);
  }
  return range;
}

function valueEnd(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const char = json[at];
    if (char === '"') at = closingQuote(json, at);
    else if (char === '{' || char === '[') depth += 1;
    else if (depth > 0 && (char === '}' || char === ']')) depth -= 1;
    else if (depth === 0 && (char === ',' || char === '}')) return at;
  }
  return json.length;
}

/** Without the limits of {@link readJson}. */
export const tryParseJson = (text: string): unknown => attempt(() => JSON.parse(text));

export const decodeUtf8 = (bytes: Uint8Array): string | undefined =>
  attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));

export function escapeJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  // Compiled here, because it takes milliseconds and most text does not need it.
  return json.replace(new RegExp(UNSAFE, 'gu'), (character) => character.split('').map(escapeUnit).join(''));
}

export function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function checkDepth(value: unknown, depth = 0): void {
  if (!isContainer(value)) return;
  if (depth >= MAX_DEPTH)
    throw new AppError('bad_response', `the data is nested deeper than ${MAX_DEPTH} levels`);
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

/** Equal texts for values that differ only in the order of keys. @throws {RangeError} if the value is nested too deeply */
export const canonicalJson = (value: unknown): string =>
  encode(value, (members) => members.sort(([a], [b]) => (a < b ? -1 : 1)));

/** As `JSON.stringify`, which refuses a BigInt: it is an integer with all its digits. */
export const exactJson = (value: unknown): string => encode(value, (members) => members);

/** Such as a Date. Data may have a member of that name. */
const hasOwnForm = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function';

type Members = [name: string, value: unknown][];

function encode(value: unknown, arrange: (members: Members) => Members): string {
  if (typeof value === 'bigint') return String(value);
  if (!isContainer(value) || hasOwnForm(value)) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((each) => encode(each, arrange)).join(',')}]`;
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${arrange(members)
    .map(([name, inner]) => `${JSON.stringify(name)}:${encode(inner, arrange)}`)
    .join(',')}}`;
}

/** Maximum number of values. More would take minutes and gigabytes to process. */
const MAX_VALUES = 2_000_000;

/** A parsed text, or what is wrong with it, as the end of a sentence: "is not valid JSON (offset 3)". */
interface JsonText {
  readonly value?: unknown;
  readonly fault?: string;
  /** The text ends too early. */
  readonly isCut?: boolean;
}

/** A byte order mark is ignored. */
export function readJson(text: string): JsonText {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const excess = excessOf(json);
  if (excess !== undefined) return { fault: excess };
  try {
    return { value: JSON.parse(json) };
  } catch {
    const { offset, isCut } = firstJsonError(json);
    return isCut || CUT_TOKEN.test(json.slice(offset, offset + 10).trimEnd())
      ? { fault: `is incomplete: its JSON ends early, at offset ${json.length}`, isCut: true }
      : { fault: `is not valid JSON (offset ${offset})` };
  }
}

export const parseJsonOrNone = (text: string): unknown => readJson(text).value;

/** The invalid rest of a truncated text: nothing, or the start of a literal, number, or escape. */
const CUT_TOKEN = /^(?:|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\.|[eE][+-]?|\\(?:u[0-9a-fA-F]{0,3})?)$/;

/** Counts levels and values in one pass. @returns which of them are too many */
function excessOf(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = closingQuote(text, at);
        if (at === -1) return undefined;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
    }
    if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels (offset ${at})`;
    if (values > MAX_VALUES)
      return `has more than ${MAX_VALUES.toLocaleString('en-US')} values (offset ${at})`;
  }
  return undefined;
}

/** Locates the first error. `JSON.parse` only reports the position in its message, and not in every version of Node. */
export function firstJsonError(text: string): {
  readonly offset: number;
  readonly isCut: boolean;
} {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { allowTrailingComma: false, disallowComments: true });
  } catch (error) {
    // Thousands of open brackets exceed the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  const [first] = errors;
  if (first === undefined) return { offset: text.length, isCut: false };
  const { offset, length, error } = first;
  const isOpen = printParseErrorCode(error).startsWith('UnexpectedEndOf');
  return { offset, isCut: isOpen && offset + length >= text.length };
}

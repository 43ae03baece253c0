import { isSafeNumber, LosslessNumber, stringify } from 'lossless-json';
import { AppError } from '../errors.ts';

/**
 * Key for the texts of inexact numbers, which have another value after JavaScript parses and prints them (integers
 * beyond 2^53, more than 17 digits, 1e400), by their keys in an object or array. The values themselves are the nearest
 * numbers. `{...spread}` copies the symbol, too.
 */
const RAW_NUMBERS = Symbol('raw numbers');

/** Maximum number of levels of a value that is shown or printed. */
export const MAX_DEPTH = 200;

type Container = { [RAW_NUMBERS]?: ReadonlyMap<string, string> } & Record<string, unknown>;

/**
 * Finds every number of a JSON text that may be inexact in JavaScript: at least 15 digits with the decimal point, or an
 * exponent. It may also find one in a string, but not in a string that is a UUID.
 */
const MAY_BE_INEXACT = /(?<=^|[\s,:[])-?\d(?:[\d.]{14,}|[\d.]*[eE])[\d.eE+-]*/g;

/** Parses JSON like `JSON.parse`, but keeps the texts of inexact numbers. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Searching is faster than reading each character.
  const quoted = text.match(MAY_BE_INEXACT)?.some(isInexact) ? quoteInexact(text) : text;
  if (quoted !== text) keepRawNumbers(value, JSON.parse(quoted));
  return value;
}

/** Like {@link parseExact}; undefined if the text is not JSON. */
export function parseExactOrNone(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a number has another value after JavaScript parses and prints it. */
export function isInexact(number: string): boolean {
  // Up to 15 digits are exact. Checked first, because V8 would cache the text of each converted number for a long time.
  if (/^[-.\d]{1,15}$/.test(number)) return false;
  return String(Number(number)) !== number && !isSafeNumber(number);
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

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Converts inexact numbers in JSON text to strings. @param json valid JSON */
function quoteInexact(json: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === 0x22) at = closingQuote(json, at);
    else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(json) ?? [];
      if (isInexact(number)) {
        parts.push(json.slice(start, at), `"${number}"`);
        start = at + number.length;
      }
      at += number.length - 1;
    }
  }
  return parts.join('') + json.slice(start);
}

/** Stores the texts of inexact numbers in a value. @param quoted the same value, with those numbers as strings */
function keepRawNumbers(value: unknown, quoted: unknown): void {
  const open: [value: unknown, quoted: unknown][] = [[{ root: value }, { root: quoted }]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [container, texts] = next as [Container, Record<string, unknown>];
    const raw = new Map<string, string>();
    for (const key of Object.keys(container)) {
      const member = container[key];
      const text = texts[key];
      if (typeof member === 'number' && typeof text === 'string') raw.set(key, text);
      else if (isContainer(member)) open.push([member, text]);
    }
    if (raw.size > 0) container[RAW_NUMBERS] = raw;
  }
}

/** Returns the text of the number at `key`, if it is inexact. */
export function rawNumber(container: object, key: string | number): string | undefined {
  const { [RAW_NUMBERS]: raw, [key]: value } = container as Container;
  const text = raw?.get(String(key));
  // The value may have been replaced.
  return text !== undefined && Object.is(Number(text), value) ? text : undefined;
}

export function setRawNumber(container: object, key: string, text: string): void {
  const { [RAW_NUMBERS]: raw } = container as Container;
  // A new map, because an object created with spread syntax shares the old one.
  (container as Container)[RAW_NUMBERS] = new Map([...(raw ?? []), [key, text]]);
}

/** Copies the texts of numbers that were copied from one container to another under the same keys. */
export function copyRawNumbers(from: object, to: object): void {
  const { [RAW_NUMBERS]: raw } = from as Container;
  if (raw !== undefined) (to as Container)[RAW_NUMBERS] = raw;
}

/** Merges two objects; members of the second one take precedence. Keeps the texts of inexact numbers. */
export function mergeExact(first: object, second: object): Record<string, unknown> {
  const texts = [first, second].flatMap((each) => [...((each as Container)[RAW_NUMBERS] ?? [])]);
  return { ...first, ...second, ...(texts.length > 0 && { [RAW_NUMBERS]: new Map(texts) }) };
}

/**
 * Formats JSON like `JSON.stringify`, but with the texts of inexact numbers. Undefined if the value is not JSON.
 * @throws {AppError} `bad_response` if the value nests deeper than `maxDepth` levels
 */
export function stringifyExact(value: unknown, indent?: number, maxDepth?: number): string | undefined {
  return hasRawNumbers(value, maxDepth)
    ? stringify(value, replaceNumber, indent)
    : JSON.stringify(value, null, indent);
}

function replaceNumber(this: unknown, key: string, value: unknown): unknown {
  const text = typeof value === 'number' && isContainer(this) ? rawNumber(this, key) : undefined;
  return text === undefined ? value : new LosslessNumber(text);
}

/**
 * Whether a value contains inexact numbers, which have their own texts.
 * @throws {AppError} `bad_response` if the value nests deeper than `maxDepth` levels
 */
export function hasRawNumbers(value: unknown, maxDepth = Number.POSITIVE_INFINITY, depth = 0): boolean {
  if (!isContainer(value)) return false;
  if (depth >= maxDepth) throw new AppError('bad_response', `the data nests deeper than ${maxDepth} levels`);
  let found = (value as Container)[RAW_NUMBERS] !== undefined;
  for (const member of Object.values(value)) {
    if (isContainer(member) && hasRawNumbers(member, maxDepth, depth + 1)) found = true;
  }
  return found;
}

/**
 * Returns the value with inexact numbers as strings, for text output; the same value if it has none.
 * @throws {AppError} `bad_response` if the value nests deeper than 200 levels
 */
export function stringifyRawNumbers<T>(value: T): T {
  return hasRawNumbers(value, MAX_DEPTH) ? (textsOf(value) as T) : value;
}

function textsOf(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, rawNumber(value, key) ?? textsOf(member)] as const,
  );
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

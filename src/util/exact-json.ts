import { isSafeNumber, LosslessNumber, stringify } from 'lossless-json';

/**
 * JSON whose numbers stay as they were written, also those that a JavaScript number cannot hold (integers beyond 2^53,
 * more digits than 17, 1e400). In the data they are plain numbers, the nearest there are; how they were written is kept
 * beside them, under a symbol that `{...spread}` copies and that no other code sees.
 */
const WRITTEN = Symbol('numbers as written');

/** Members of one container by their key. */
type Written = ReadonlyMap<string, string>;
type Container = { [WRITTEN]?: Written } & Record<string, unknown>;

/** Candidates for a long number, outside of strings or inside: many digits, or an exponent. */
const CANDIDATE = /(?<=^|[[,:\s])-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d+)/g;

/** A part of every text with such a number and of hardly any other: fast to find. */
const HINT = /[\d.]{16}|[\d.][eE]/;

/** Parses JSON as `JSON.parse` does, and keeps how numbers were written that it would change. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return holdsInexact(text) ? readExact(text, value) : value;
}

/** Like {@link parseExact}; undefined if the text is not JSON. */
export function parseExactOrNone(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function holdsInexact(text: string): boolean {
  if (!HINT.test(text)) return false;
  for (const [number] of text.matchAll(CANDIDATE)) if (isInexact(number)) return true;
  return false;
}

/** Would a JavaScript number have another value than was written? */
export function isInexact(number: string): boolean {
  return String(Number(number)) !== number && !isSafeNumber(number);
}

/** Returns the offset of the quote that closes the string which opens at `start`, or -1. */
export function closingQuote(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  return -1;
}

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Writes the numbers that JavaScript would change as strings. @param json text that parses */
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

/** Parses the text twice: as it is, and with the numbers to keep as strings. Far faster than a parser in JavaScript. */
function readExact(text: string, value: unknown): unknown {
  const quoted = quoteInexact(text);
  const open: [value: unknown, texts: unknown][] = [[{ root: value }, { root: JSON.parse(quoted) }]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [container, texts] = next as [Container, Record<string, unknown>];
    const written = new Map<string, string>();
    const visit = (key: string | number): void => {
      const member = container[key as string];
      const text = texts[key as string];
      if (typeof member === 'number' && typeof text === 'string') written.set(String(key), text);
      else if (isContainer(member)) open.push([member, text]);
    };
    if (Array.isArray(container)) for (let index = 0; index < container.length; index++) visit(index);
    else for (const key of Object.keys(container)) visit(key);
    if (written.size > 0) container[WRITTEN] = written;
  }
  return value;
}

/** Sets an own member, also one called `__proto__`. */
function setMember(container: object, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

/** How the number under `key` was written, where that is not how JavaScript would write it. */
export function rawNumber(container: object, key: string | number): string | undefined {
  const { [WRITTEN]: written, [key]: value } = container as Container;
  const text = written?.get(String(key));
  // Another value may have taken its place.
  return text !== undefined && Object.is(Number(text), value) ? text : undefined;
}

/** Keeps how the number under `key` was written. */
export function setRawNumber(container: object, key: string, text: string): void {
  const { [WRITTEN]: written } = container as Container;
  // A copy: a container that was spread shares the old one.
  (container as Container)[WRITTEN] = new Map([...(written ?? []), [key, text]]);
}

/** Takes along how the numbers were written that were copied from one container to another under the same keys. */
export function copyRawNumbers(from: object, to: object): void {
  const { [WRITTEN]: written } = from as Container;
  if (written !== undefined) (to as Container)[WRITTEN] = written;
}

/** Formats JSON as `JSON.stringify` does, with its numbers as they were written. Undefined if it is not JSON. */
export function stringifyExact(value: unknown, indent?: number): string | undefined {
  return isContainer(value) && somewhereWritten(value)
    ? stringify(value, asWritten, indent)
    : JSON.stringify(value, null, indent);
}

function asWritten(this: unknown, key: string, value: unknown): unknown {
  if (typeof value !== 'number' || !isContainer(this)) return value;
  const text = rawNumber(this, key);
  return text === undefined ? value : new LosslessNumber(text);
}

function somewhereWritten(value: object): boolean {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ((next as Container)[WRITTEN] !== undefined) return true;
    for (const member of Object.values(next)) if (isContainer(member)) open.push(member);
  }
  return false;
}

/** The same value with such numbers as texts, for places that show text alone; itself where it holds none. */
export function stringifyRawNumbers<T>(value: T): T {
  return isContainer(value) && somewhereWritten(value) ? (textsOf(value) as T) : value;
}

function textsOf(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const copy: object = Array.isArray(value) ? [] : {};
  for (const [key, member] of Object.entries(value))
    setMember(copy, key, rawNumber(value, key) ?? textsOf(member));
  return copy;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

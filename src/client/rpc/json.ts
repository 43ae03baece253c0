import { AppError } from '../../errors.ts';
import { parseExact } from '../../util/exact-json.ts';
import { ExchangeError } from '../http/network-error.ts';

/** Deeper nesting than this is refused: printing it again would overflow the stack. */
const MAX_DEPTH = 200;

/**
 * Parses JSON text from the service (RFC 8259), one byte order mark in front allowed; how numbers were written is kept.
 * @throws {AppError} `bad_response` with the offset of the fault; an `ExchangeError` `incomplete` when the text ends
 * too early. The text itself is not in the message.
 */
export function parseJson(text: string): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const deep = tooDeepAt(json);
  if (deep !== undefined) {
    throw new AppError(
      'bad_response',
      `the answer is nested deeper than ${MAX_DEPTH} levels (offset ${deep})`,
    );
  }
  try {
    return parseExact(json);
  } catch {
    const offset = faultOffset(json);
    if (CUT_TOKEN.test(json.slice(offset, offset + 10).trimEnd())) {
      throw new ExchangeError(
        'bad_response',
        'incomplete',
        `the answer is not complete: its JSON ends too early, at offset ${json.length}`,
      );
    }
    throw new AppError('bad_response', `the answer is not valid JSON (offset ${offset})`);
  }
}

/** What is left of a text that was cut: nothing, or the start of a literal, number or escape. */
const CUT_TOKEN = /^(?:|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\.|[eE][+-]?|\\(?:u[0-9a-fA-F]{0,3})?)$/;

/** One pass over the brackets: where the nesting gets too deep. */
function tooDeepAt(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = closingQuote(text, at);
      if (at === -1) return undefined;
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return at;
    } else if (char === 0x7d || char === 0x5d) {
      depth--;
    }
  }
  return undefined;
}

/** Offset of the quote that closes the string which opens at `start`, or -1. */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  return -1;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Where text that is no JSON stops being JSON. V8 tells it for some faults only. */
function faultOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let expect: 'value' | 'key' | 'colon' | 'next' = 'value';
  let mayClose = false;
  for (;;) {
    at = match(SPACE, text, at) ?? at;
    const char = text[at];
    if (char === undefined) return at;
    const top = open.at(-1);
    if (mayClose && ((char === '}' && top === '{') || (char === ']' && top === '['))) {
      open.pop();
      at++;
      expect = 'next';
      mayClose = open.length > 0;
    } else if (expect === 'next') {
      if (char !== ',' || top === undefined) return at;
      at++;
      expect = top === '{' ? 'key' : 'value';
      mayClose = false;
    } else if (expect === 'colon') {
      if (char !== ':') return at;
      at++;
      expect = 'value';
    } else if (expect === 'value' && (char === '{' || char === '[')) {
      open.push(char);
      at++;
      expect = char === '{' ? 'key' : 'value';
      mayClose = true;
    } else {
      const end =
        char === '"' ? stringEnd(text, at) : expect === 'value' ? match(SCALAR, text, at) : undefined;
      if (end === undefined) return at;
      if (end < 0) return -end;
      at = end;
      mayClose = expect === 'value' && open.length > 0;
      expect = expect === 'key' ? 'colon' : 'next';
    }
  }
}

/** Offset behind a string, or minus the offset of the fault inside it. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const char = text.charCodeAt(at);
    if (char === 0x22) return at + 1;
    if (char < 0x20) return -at;
    if (char !== 0x5c) at++;
    else {
      const end = match(ESCAPE, text, at);
      if (end === undefined) return -at;
      at = end;
    }
  }
  return -text.length;
}

function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/**
 * The first key that stands twice in an object of JSON text (RFC 8259, section 4, leaves open what that means;
 * `JSON.parse` takes the last).
 * @param json text that parses
 */
export function duplicateKey(json: string): string | undefined {
  /** The keys of each object that is open; none for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.endsWith(':')) {
      const key = String(JSON.parse(token.slice(0, -1)));
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

/** Brackets, and strings with the colon that makes them keys. */
const TOKENS = /[{}[\]]|"(?:[^"\\]|\\.)*"(?:\s*:)?/gs;

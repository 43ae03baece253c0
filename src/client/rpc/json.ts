import { AppError } from '../../errors.ts';
import { closingQuote, parseExact } from '../../util/exact-json.ts';
import { ExchangeError } from '../http/network-error.ts';

/** Deeper nesting is rejected: printing it would overflow the stack. */
const MAX_DEPTH = 200;
/** More values are rejected: they take minutes and gigabytes to process. */
const MAX_VALUES = 2_000_000;

/**
 * Parses JSON text from the service (RFC 8259), with or without a byte order mark. Numbers keep their digits.
 * @throws {AppError} `bad_response` with the offset of the error; an `ExchangeError` `incomplete` when the text ends
 * too early. The text itself is not in the message.
 */
export function parseJson(text: string): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  checkSize(json);
  try {
    return parseExact(json);
  } catch {
    const offset = errorOffset(json);
    if (CUT_TOKEN.test(json.slice(offset, offset + 10).trimEnd())) {
      throw new ExchangeError(
        'bad_response',
        'incomplete',
        `the response is incomplete: its JSON ends early, at offset ${json.length}`,
      );
    }
    throw new AppError('bad_response', `the response is not valid JSON (offset ${offset})`);
  }
}

/** The rest of a text that was cut: nothing, or the start of a literal, number or escape. */
const CUT_TOKEN = /^(?:|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|\.|[eE][+-]?|\\(?:u[0-9a-fA-F]{0,3})?)$/;

/** Counts levels and values in one pass. @throws {AppError} `bad_response` for too many */
function checkSize(text: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = closingQuote(text, at);
      if (at === -1) return;
    } else if (char === 0x7b || char === 0x5b) {
      values += 1;
      if (++depth > MAX_DEPTH) {
        throw new AppError(
          'bad_response',
          `the response is nested deeper than ${MAX_DEPTH} levels (offset ${at})`,
        );
      }
    } else if (char === 0x7d || char === 0x5d) {
      depth--;
    } else if (char === 0x2c && ++values > MAX_VALUES) {
      throw new AppError(
        'bad_response',
        `the response has more than ${MAX_VALUES.toLocaleString('en-US')} values (offset ${at})`,
      );
    }
  }
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Returns where invalid JSON stops being valid. V8 reports it for some errors only. */
function errorOffset(text: string): number {
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

/** Offset after a string, or minus the offset of the error inside it. */
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
 * Returns the first key that an object of JSON text repeats (RFC 8259, section 4, leaves the meaning open;
 * `JSON.parse` uses the last).
 * @param json text that parses
 */
export function duplicateKey(json: string): string | undefined {
  /** The keys of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === '{') open.push(new Set());
    else if (char === '[') open.push(undefined);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"') {
      const end = closingQuote(json, at);
      const next = match(SPACE, json, end + 1) ?? json.length;
      if (json[next] === ':') {
        const key = String(JSON.parse(json.slice(at, end + 1)));
        const keys = open.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
      }
      at = end;
    }
  }
  return undefined;
}

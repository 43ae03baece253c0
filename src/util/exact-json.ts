import { randomUUID } from 'node:crypto';
import { mapTokens, parseJsonOrNone } from './json.ts';

/** Not an exponent, nor the digits after a point. Longer ones are beyond every identifier. */
const LONG_INTEGER = /(?<![\d.eE+-])-?[1-9]\d{15,999}(?![\d.eE])/g;

/** As `parseJsonOrNone`, but an integer that a number would round becomes a BigInt, which `exactJson` writes. */
export function parseExactJson(text: string): unknown {
  const value = parseJsonOrNone(text);
  if (value === undefined || !/\d{16}/.test(text)) return value;
  const mark = randomUUID();
  const quoted = (integer: string): string =>
    Number.isSafeInteger(Number(integer)) ? integer : `"${mark}${integer}"`;
  const marked = mapTokens(text.replace(/^\uFEFF/, ''), (between) => between.replace(LONG_INTEGER, quoted));
  return JSON.parse(marked, (_, part: unknown) =>
    typeof part === 'string' && part.startsWith(mark) ? BigInt(part.slice(mark.length)) : part,
  );
}

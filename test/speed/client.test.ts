import { describe, expect, it } from 'vitest';
import { SseDecoder } from '../../src/client/http/body.ts';
import { keyMasker, redactor } from '../../src/client/key.ts';
import { formatJson, memberText, parseJson } from '../../src/util/json.ts';
import { KEY } from '../helpers/client.ts';
import { expectLinearTime } from '../helpers/linear-time.ts';

const LONG = '12345678901234567890';

const decode = (chunk: string) => (count: number) => {
  const decoder = new SseDecoder(100_000_000, () => {});
  for (let at = 0; at < count; at += 1) decoder.feed(chunk);
  decoder.end();
};
const mask = keyMasker(KEY);
const redact = redactor(KEY);

/** Functions that process input of `size`, for sizes that take a millisecond or more. */
const CASES: [string, (size: number) => unknown, number][] = [
  ['keys', (size) => parseJson(`{${Array.from({ length: size }, (_, at) => `"k${at}":1`).join()}}`), 5000],
  ['an array with one long number', (size) => parseJson(`[${LONG}${',0'.repeat(size)}]`), 30_000],
  ['long numbers', (size) => parseJson(`[0${`,${LONG}`.repeat(size)}]`), 5000],
  ['a string next to a long number', (size) => parseJson(`["${'\\n'.repeat(size)}",${LONG}]`), 50_000],
  ['a long number', (size) => parseJson(`[${'9'.repeat(size)}]`), 5000],
  ['printing numbers', (size) => formatJson(`[${LONG}${' ,0'.repeat(size)}]`, true), 5000],
  ['printing strings', (size) => formatJson(`[""${' ,"a\\n"'.repeat(size)}]`, false), 5000],
  ['finding a member', (size) => memberText(`{"a":[""${',"a\\n"'.repeat(size)}]}`, 'b'), 5000],
  ['events', decode('data: {"a":1}\n\n'), 5000],
  ['one event in many pieces', decode('data: x'), 10_000],
  ['data lines', decode('data: x\n'), 5000],
  ['comments', decode(': ping\n\n'), 10_000],
  ['text without the key', (size) => mask('x y '.repeat(size)), 30_000],
  ['the key', (size) => mask(`${KEY} `.repeat(size)), 1000],
  ['starts of the key', (size) => redact('sk_service_'.repeat(size)), 5000],
  ['escapes', (size) => redact('\\u0073'.repeat(size)), 5000],
  ['blanks after Bearer', (size) => redact(`Bearer${' '.repeat(size)}`), 50_000],
];

describe('linear time is enough for', () => {
  it.each(CASES)('%s', (_name, run, size) => {
    expectLinearTime(run, size);
  });
});

describe('limits', () => {
  it('rejects a response with more than 2,000,000 values before it is parsed', () => {
    expect(() => parseJson(`[${LONG}${',0'.repeat(2_100_000)}]`)).toThrow('more than 2,000,000 values');
  });
});

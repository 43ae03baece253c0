import { expect, it } from 'vitest';
import { SseDecoder } from '../../src/client/http/body.ts';
import { keyMasker, redactor } from '../../src/client/key.ts';
import { separationOf } from '../../src/lists/earlier-results.ts';
import { isKnownHeader } from '../../src/lists/match/headers.ts';
import { isOneLetterOff, nameSimilarity, simplifyCity, simplifyName } from '../../src/lists/match/names.ts';
import { isSameAddress, placeOfRow } from '../../src/lists/match/place.ts';
import { searchesFor } from '../../src/lists/match/searches.ts';
import { detectDelimiter, hasHeader } from '../../src/lists/read/table.ts';
import { numberFormat } from '../../src/lists/read/xlsx/formats.ts';
import { RowsReader } from '../../src/lists/read/xlsx/rows.ts';
import type { ObjectRow } from '../../src/lists/row.ts';
import { rowKeyOf } from '../../src/lists/row-key.ts';
import { guardFormula } from '../../src/output/csv.ts';
import { flatten } from '../../src/output/records.ts';
import { renderTool, renderTools } from '../../src/output/render/tools.ts';
import { colorJson, palette } from '../../src/output/style.ts';
import { CsvReader } from '../../src/util/csv.ts';
import { formatJson, type JsonObject, memberText, readJson } from '../../src/util/json.ts';
import { clean, cleanLine, truncate, width, wrap } from '../../src/util/text.ts';
import { KEY } from '../helpers/client.ts';
import { viewOf } from '../helpers/hostile.ts';

const MAX_ATTEMPTS = 20;
/** Shorter times, in milliseconds, depend on the clock and the garbage collector. */
const MIN_MS = 5;

function measure(work: (size: number) => unknown, size: number): number {
  const start = performance.now();
  work(size);
  return performance.now() - start;
}

/**
 * Expects work to take at most three times as long for each doubling of its input. The input grows eightfold, where
 * quadratic time would be 64 times as long. The fastest attempts count, because a busy machine only slows down.
 * @param size a size that takes a millisecond or more
 */
function expectLinearTime(work: (size: number) => unknown, size: number): void {
  let small = Number.POSITIVE_INFINITY;
  let large = Number.POSITIVE_INFINITY;
  const ratio = (): number => large / Math.max(small, MIN_MS);
  for (let attempt = 0; attempt < MAX_ATTEMPTS && !(ratio() < 27); attempt += 1) {
    for (let run = 0; run < 3; run += 1) {
      small = Math.min(small, measure(work, size));
      large = Math.min(large, measure(work, size * 8));
    }
  }
  expect(ratio()).toBeLessThan(27);
}

type Case = [what: string, work: (size: number) => unknown, size: number];

const LONG = '12345678901234567890';

const decode = (chunk: string) => (count: number) => {
  const decoder = new SseDecoder(100_000_000, () => {});
  for (let at = 0; at < count; at += 1) decoder.feed(chunk);
  decoder.end();
};
/** A record whose leaves, a power of two, all have the path `a.a.….a`, which has that many keys. */
const alike = (keys: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: keys }, (_, index) => [
      `a${'.a'.repeat(index)}`,
      index === keys - 1 ? 1 : alike(keys - index - 1),
    ]),
  );
const mask = keyMasker(KEY);
const maskEscapes = keyMasker(`${KEY}\\\\\\"\\/"/\\\\x`);
const redact = redactor();

function readCsv(text: string): void {
  const reader = new CsvReader(',');
  for (let at = 0; at < text.length; at += 65_536) for (const _ of reader.push(text.slice(at, at + 65_536)));
  for (const _ of reader.end());
}

function layOut(text: string): void {
  for (const shown of [clean(text), cleanLine(text)]) {
    truncate(shown, 80);
    wrap(shown, 80);
    width(shown);
  }
}

function showTool(description: string): void {
  const properties = { a: { type: 'string', description }, b: { description, enum: [description] } };
  const tool = { name: 'tool', description, inputSchema: { type: 'object', properties } };
  renderTool(tool, viewOf(80));
  renderTools([tool], viewOf(80));
}

function showArguments(count: number): void {
  const names = Array.from({ length: count }, (_each, index) => `argument${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }]));
  renderTool({ name: 'tool', inputSchema: { type: 'object', properties, required: names } }, viewOf(80));
}

const TEXTS = ['a', 'é', '鮨', ' ', '🍜\u200d', '\u0301', '\ufe0f', '\u200b', '\ud800', '\u001b[', 'क्', '🇫'];
const DESCRIPTIONS = ['word ', 'x', '🍜', '\u001b[31m', '\n'];
const FORMULAS = [';', '; ', ';=', '\u200b', ' ', '=', ' ='];
const ESCAPES = ['\\', '%25', 's%20', KEY, `${KEY}\\`, '\\u0073'];

/** Sizes that take a millisecond or more. */
const CASES: readonly Case[] = [
  ['flattening keys that read alike', (size) => flatten(alike(Math.log2(size) + 1)), 512],
  ['keys', (size) => readJson(`{${Array.from({ length: size }, (_, at) => `"k${at}":1`).join()}}`), 5000],
  ['an array with one long number', (size) => readJson(`[${LONG}${',0'.repeat(size)}]`), 30_000],
  ['long numbers', (size) => readJson(`[0${`,${LONG}`.repeat(size)}]`), 5000],
  ['a string next to a long number', (size) => readJson(`["${'\\n'.repeat(size)}",${LONG}]`), 50_000],
  ['a long number', (size) => readJson(`[${'9'.repeat(size)}]`), 5000],
  ['printing numbers', (size) => formatJson(`[${LONG}${' ,0'.repeat(size)}]`, true), 5000],
  ['printing strings', (size) => formatJson(`[""${' ,"a\\n"'.repeat(size)}]`, false), 5000],
  ['coloring a string without an end', (size) => colorJson(`"${'a'.repeat(size)}`, palette(1)), 50_000],
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
  ...ESCAPES.map(
    (part): Case => [`escapes of the key: ${part}`, (size) => maskEscapes(KEY + part.repeat(size)), 2000],
  ),
  ['a CSV header of many columns', (size) => readCsv(`${'column,'.repeat(size)}\n`), 10_000],
  ['blank lines of a CSV', (size) => readCsv('\n'.repeat(size)), 80_000],
  ['one long line of a CSV', (size) => readCsv('a'.repeat(size)), 80_000],
  ['one long quoted cell', (size) => readCsv(`"${'a""\n'.repeat(size)}"`), 20_000],
  ...FORMULAS.map(
    (part): Case => [`guarding ${part}`, (size) => guardFormula(`;${part.repeat(size)}x`), 20_000],
  ),
  ...TEXTS.map((part): Case => [`text of ${part}`, (size) => layOut(part.repeat(size)), 2000]),
  ...DESCRIPTIONS.map(
    (part): Case => [`a tool described as ${part}`, (size) => showTool(part.repeat(size)), 200],
  ),
  ['the arguments of a tool', showArguments, 100],
  ['similar names', (size) => nameSimilarity('x'.repeat(size), 'y'.repeat(size)), 20_000],
];

/** Parts of texts that cells of a list may repeat. */
const PARTS = [
  'a',
  ' ',
  '(',
  ')',
  '( ',
  ' - ',
  ', ',
  'GmbH ',
  '& ',
  '[',
  '"',
  '""',
  '\\',
  '0',
  '0 ',
  ',',
  '\n',
  '\r',
  ';\n',
  '{',
  '{"a":',
  '[1,',
  '\u0301',
  'ü',
  'ue',
  "'",
  '_x0041_',
  '_x',
  'yyyy',
  '[h',
  '{"features":[',
  'sep=',
  '\x1e',
  '1.',
  '-',
];
/** The functions that texts of cells go through. */
const readers: readonly ((text: string) => unknown)[] = [
  simplifyName,
  simplifyCity,
  (text) => searchesFor({ name: text, city: text }),
  (text) => searchesFor({ name: text.slice(0, 200), city: text.slice(0, 200) }),
  (text) => isOneLetterOff(text, `${text}x`, true),
  (text) => nameSimilarity(text, `x${text}`),
  (text) => isSameAddress(`${text} 1`, text),
  (text) => placeOfRow(rowKeyOf({ lat: text, lng: text, address: text })),
  isKnownHeader,
  hasHeader,
  detectDelimiter,
  (text) => numberFormat(164, text, false)(text),
  (text) => numberFormat(164, text.slice(0, 255), false)('1'),
  (text) => {
    const reader = new RowsReader({ texts: [], formats: [] });
    for (const name of ['sheetData', 'row']) reader.open(name, () => ({}));
    reader.open('c', () => ({ t: 'str' }));
    for (const name of ['v', 'c', 'row']) reader.close(name, text.slice(0, 32_767));
  },
];

it.each(PARTS)('linear time is enough to read and match cells of %j', (part) => {
  const work = (size: number) => {
    const text = part.repeat(Math.ceil(size / part.length));
    for (const read of readers) read(text);
  };
  expectLinearTime(work, 10_000);
});

it('linear time is enough to take an earlier result out of a row with many quotes', () => {
  const work = (size: number) => {
    const note = '"'.repeat(size);
    const restaurant = { status: 'matched', id: 'r-1' };
    const row: ObjectRow = {
      kind: 'object',
      line: 1,
      text: JSON.stringify({ note, restaurant }),
      value: { note, restaurant },
    };
    const list = { format: 'ndjson', header: ['note'], headerText: '', delimiter: undefined } as const;
    const { separate } = separationOf(list, [row], { prefix: 'restaurant_', added: [] });
    expect(separate?.(row)).toMatchObject({ text: JSON.stringify({ note }) });
  };
  expectLinearTime(work, 100_000);
});

it.each(CASES)('linear time is enough for %j', (_name, work, size) => {
  expectLinearTime(work, size);
});

it('rejects a response with more than 2,000,000 values before it is parsed', () => {
  expect(readJson(`[${LONG}${',0'.repeat(2_100_000)}]`).fault).toContain('more than 2,000,000 values');
});

import { describe, expect, it } from 'vitest';
import { openUtf8 } from '../../../src/enrich/read/decode-utf8.ts';
import { readNdjson } from '../../../src/enrich/read/read-ndjson.ts';
import { gather, inPieces } from './text.ts';

const read = (text: string | Uint8Array, piece?: number) =>
  gather(async (onProblem) =>
    readNdjson((await openUtf8(inPieces(text, piece), onProblem)).chunks, onProblem),
  );

const decode = async (bytes: Uint8Array, piece?: number) => {
  let bom = false;
  const { items, problems } = await gather(async (onProblem) => {
    const text = await openUtf8(inPieces(bytes, piece), onProblem);
    bom = text.bom;
    return text.chunks;
  });
  return { text: Buffer.concat(items).toString('utf8'), bom, problems };
};

describe('readNdjson', () => {
  it('gives each object with its line and its text as it stood', async () => {
    const { items, problems } = await read('{"a": 1e2}\n\n  {"b":12345678901234567890} \r\n{"__proto__":1}');
    expect(items.map(({ line, text }) => [line, text])).toEqual([
      [1, '{"a": 1e2}'],
      [3, '{"b":12345678901234567890}'],
      [4, '{"__proto__":1}'],
    ]);
    expect(Object.keys(items[2]?.value ?? {})).toEqual(['__proto__']);
    expect(problems).toEqual([]);
  });

  it('tells every line that is no object', async () => {
    const { items, problems } = await read('[{"a":1}]\n{"a":1}\n{"a":\nnull\n3\n"x"\n{}x\n');
    expect(items).toHaveLength(1);
    expect(problems.map(({ line }) => line)).toEqual([1, 3, 4, 5, 6, 7]);
    expect(problems[0]?.what).toContain('one object a line');
  });

  it('does not hold a line without end', async () => {
    const { items, problems } = await read(`{"a":"${'x'.repeat(17 * 1024 * 1024)}"}\n{"b":1}`);
    expect(problems).toEqual([{ line: 1, what: 'is longer than 16 MiB' }]);
    expect(items.map(({ line }) => line)).toEqual([2]);
  });
});

describe('openUtf8', () => {
  it('takes a byte order mark off, and cuts at any place', async () => {
    const bytes = Buffer.from('\ufeffnäme\n☕🍕');
    for (let piece = 1; piece <= bytes.length; piece += 1) {
      expect(await decode(bytes, piece)).toEqual({ text: 'näme\n☕🍕', bom: true, problems: [] });
    }
  });

  it.each([
    ['Latin-1', Buffer.from('name\nNopa\nCaf\xe9\nx', 'latin1'), 3],
    ['a cut character at the end', Buffer.from('name\nCaf\u00e9').subarray(0, -1), 2],
    ['an overlong form', Buffer.from([0x61, 0x0a, 0xc0, 0xaf]), 2],
    ['a lone surrogate', Buffer.from([0xed, 0xa0, 0x80, 0x0a]), 1],
  ])('names the line of %s', async (_name, bytes, line) => {
    for (const piece of [1, 2, 3, 100]) {
      expect((await decode(bytes, piece)).problems).toEqual([{ line, what: 'is not UTF-8' }]);
    }
  });

  it.each([
    ['little-endian with a mark', Buffer.from('\ufeffname,city\n', 'utf16le')],
    ['little-endian without', Buffer.from('name,city\n', 'utf16le')],
    ['big-endian with a mark', Buffer.from('\ufeffname', 'utf16le').swap16()],
  ])('knows UTF-16, %s', async (_name, bytes) => {
    expect((await decode(bytes)).problems).toEqual([{ line: 1, what: 'is UTF-16, not UTF-8' }]);
  });

  it('lets NUL pass, which is UTF-8', async () => {
    expect(await decode(Buffer.from('name\nA\0B'))).toMatchObject({ text: 'name\nA\0B', problems: [] });
  });
});

import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeCell, encodeRecord, RecordEnds } from '../../../src/util/csv.ts';

const cell = fc.string({
  unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\t', ' ', "'", 'é', '🍕', '=', '\0'),
  maxLength: 8,
});
const delimiters = fc.constantFrom(',', ';', '\t');
const cells = fc.array(cell, { minLength: 2, maxLength: 5 });

describe('encodeRecord', () => {
  it('quotes only where it must', () => {
    expect(
      ['a b', 'x,y', 'x;y', 'say "hi"', 'a\rb', 'a\nb', ' ', ''].map((text) => encodeCell(text, ',')),
    ).toEqual(['a b', '"x,y"', 'x;y', '"say ""hi"""', '"a\rb"', '"a\nb"', ' ', '']);
  });

  it('is read back, by us and by a library', () => {
    fc.assert(
      fc.property(cells, delimiters, (record, delimiter) => {
        const text = encodeRecord(record, delimiter);
        expect(decodeRecord(text, delimiter)).toEqual(record);
        expect(decodeRecord(`${text}\n`, delimiter)).toEqual(record);
        expect(parse(`${text}\n`, { delimiter, record_delimiter: ['\r\n', '\n', '\r'] })).toEqual([record]);
      }),
    );
  });
});

describe('RecordEnds', () => {
  const endsOf = (bytes: Uint8Array, piece: number): number[] => {
    const ends = new RecordEnds(true);
    const found: number[] = [];
    for (let at = 0; at < bytes.length; at += piece) {
      for (const end of ends.in(bytes.subarray(at, at + piece))) found.push(at + end);
    }
    return found;
  };

  it('finds the end of every record, wherever the bytes are cut and however many are missing', () => {
    fc.assert(
      fc.property(
        fc.array(cells, { maxLength: 4 }),
        delimiters,
        fc.integer({ min: 1, max: 9 }),
        (records, delimiter, piece) => {
          const texts = records.map((record) => Buffer.from(`${encodeRecord(record, delimiter)}\n`));
          const ends = texts.map((_text, place) => Buffer.concat(texts.slice(0, place + 1)).length);
          const bytes = Buffer.concat(texts);
          expect(endsOf(bytes, piece)).toEqual(ends);
          for (let length = 0; length < bytes.length; length += 1) {
            expect(endsOf(bytes.subarray(0, length), piece)).toEqual(ends.filter((end) => end <= length));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('takes quotes for letters in NDJSON', () => {
    expect([...new RecordEnds(false).in(Buffer.from('{"a":"\\""}\n{}\n'))]).toEqual([11, 14]);
  });
});

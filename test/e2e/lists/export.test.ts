import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { useLists } from '../../helpers/enrich.ts';
import { HAS_PYTHON, parquetRows, workbookRows } from '../../helpers/table-files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { textRow, workbookParts, zip } from '../../helpers/workbook.ts';

const { service, path, read, write, enrich } = useLists();
beforeEach(() => {
  write(
    'in.csv',
    'Nr;Name;City;Zip;Zip;Sales\n1;Place 3;Testville;04109;x;12.50\n2;=1+1;Testville;10115;;719.5\n3;nothing;Testville;;;\n',
  );
});

/** The cells of these columns, with their types. */
const cells = (rows: readonly Record<string, unknown>[], ...columns: string[]) =>
  rows.map((row) => columns.map((column) => row[column]));

describe('enrich --export', () => {
  it.skipIf(!HAS_PYTHON)(
    'writes the finished list as a workbook, with numbers, and formulas as text',
    async () => {
      const { exit, stdout } = await enrich('in.csv -o out.csv --export out.xlsx --json');
      expect([exit, JSON.parse(stdout)]).toMatchObject([0, { output: 'out.csv', exports: ['out.xlsx'] }]);
      const rows = workbookRows(path('out.xlsx'));
      expect(cells(rows, 'A', 'B', 'D', 'E', 'F', 'G', 'K', 'O', 'P')).toEqual([
        'Nr Name Zip Zip_2 Sales restaurant_status restaurant_name restaurant_lat restaurant_lng'.split(' '),
        [1, 'Place 3', '04109', 'x', 12.5, 'matched', 'Place 3.', 1.5, -3],
        [2, '=1+1', '10115', undefined, 719.5, 'matched', '=1+1', undefined, undefined],
        [3, 'nothing', undefined, undefined, undefined, 'not_found', undefined, undefined, undefined],
      ]);
    },
  );

  it.each([
    ['in.csv -o new.csv --export x.xlsx --export sub.xlsx', '--export x.xlsx --export'],
    ['in.csv -o sub.xlsx', '-o'],
    ['in.csv -o new.csv --report sub.html', '--report'],
    ['out.csv --refresh --changes sub.csv', '--changes'],
  ])('names the option again whose file is a folder: %s', async (words, option) => {
    if (words.startsWith('out.csv')) await enrich('in.csv -o out.csv');
    const name = words.split(' ').at(-1) ?? '';
    mkdirSync(path(name), { recursive: true });
    const { exit, stderr } = await enrich(words);
    expect(exit).toBe(9);
    expect(stderr).toContain(`hint: name a file in it: restaurant enrich ${words.split(' ')[0]}`);
    expect(stderr).toContain(` ${option} ${path(name)}/`);
  });

  it('reads the rows in the format in which they were written, whatever their file is called', async () => {
    write('few.csv', 'name,city\nPlace 3,Testville\nnothing,Testville\n');
    const { exit, stderr } = await enrich('few.csv -o rows.csv --format ndjson --export rows.geojson');
    expect([exit, stderr]).toEqual([0, expect.stringContaining('exported: rows.geojson')]);
    expect(JSON.parse(read('rows.geojson')).features).toHaveLength(2);
  });

  it('writes a finished list again without a request, in several formats', async () => {
    await enrich('in.csv -o done.csv');
    service.sent();
    const done = await enrich('done.csv --export done.parquet --export done.geojson');
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
    expect(await enrich('done.csv --export done.parquet')).toMatchObject({
      exit: 2,
      stderr:
        'error: done.parquet exists\nhint: name another file; or replace it: restaurant enrich done.csv --export done.parquet --force\n',
    });
    expect((await enrich('done.csv --export done.parquet --force')).exit).toBe(0);
    expect((await enrich('in.csv --export new.xlsx')).stderr).toContain(
      'in.csv has no column restaurant_status',
    );
    expect((await enrich('in.csv -o x.csv --export new.doc')).stderr).toContain(
      'use the extension .xlsx, .parquet, .geojson',
    );
    expect(service.sent()).toBe(0);
  });

  it('reads and writes workbooks: -o out.xlsx keeps the rows beside it, and resumes', async () => {
    const rows = textRow('Name', 'City') + textRow('Place 4', 'Testville') + textRow('Place 5', 'Testville');
    write('in.xlsx', zip(workbookParts({ One: rows })));
    const first = await enrich('in.xlsx -o book.xlsx --first 1');
    expect([first.exit, first.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 row in book\.xlsx\.csv: 1 matched.*\nexported: book\.xlsx\n/m),
    ]);
    expect((await enrich('in.xlsx -o book.xlsx')).stderr).toContain(
      'hint: resume the run: restaurant enrich in.xlsx -o book.xlsx --resume;',
    );
    expect((await enrich('in.xlsx -o book.xlsx --resume')).exit).toBe(0);
    const dry = await enrich('book.xlsx --dry-run --prefix again_ --json');
    write('other.xlsx', 'another program');
    renameSync(path('other.xlsx'), path('book.xlsx'));
    expect((await enrich('in.xlsx -o book.xlsx --resume')).stderr).toBe(
      'error: book.xlsx exists\nhint: name another file; or continue without --export: ' +
        'restaurant enrich in.xlsx --resume -o book.xlsx.csv\n',
    );
    expect(read('book.xlsx')).toBe('another program');
    expect(JSON.parse(dry.stdout)).toMatchObject({ rows: 2 });
    expect(await enrich('in.xlsx -o in.xlsx')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('error: in.xlsx exists\nhint: name another file\n'),
    });
  });

  it('replaces files after a stop, too, if the first run had --force', async () => {
    for (const name of ['old.xlsx', 'old.html']) write(name, 'older');
    const env = { HOME: tempFolder() };
    const words = 'in.csv -o stopped.csv --export old.xlsx --report old.html';
    expect((await enrich(`${words} --force --per-day 1`, { env })).exit).toBe(5);
    expect(read('old.xlsx')).toBe('older');
    const elsewhere = { HOME: tempFolder() };
    expect((await enrich(`${words} --resume`, { env: elsewhere })).stderr).toMatch(
      /^error: old\.html exists\nhint: .*; or continue without it: restaurant enrich in\.csv -o stopped\.csv --export old\.xlsx --resume\n$/,
    );
    expect(await enrich(`${words} --resume`, { env })).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('exported: old.xlsx\n'),
    });
    expect(read('old.html').includes('Place 3')).toBe(true);
  });

  it('keeps the geometry and the properties of GeoJSON', async () => {
    const geometry = JSON.parse('{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}');
    const feature = {
      type: 'Feature',
      properties: { name: 'Place 6', 'addr:city': 'Testville', x: { y: 1 } },
      geometry,
    };
    write('in.geojson', JSON.stringify({ type: 'FeatureCollection', features: [feature] }));
    expect((await enrich('in.geojson -o out.geojson --export nested.xlsx')).exit).toBe(0);
    const { features } = JSON.parse(read('out.geojson'));
    expect(features).toMatchObject([
      { geometry, properties: { ...feature.properties, restaurant_name: 'Place 6.', restaurant_lat: 1.5 } },
    ]);
    expect(read('out.geojson.ndjson')).toMatch(/^\{"type":"Feature","properties":.*,"restaurant":\{/);
    const flat = await enrich('in.geojson --format csv');
    expect(flat.stdout).toMatch(/^name,addr:city,x\.y,restaurant_status,.*\nPlace 6,Testville,1,matched,/);
    expect(existsSync(path('nested.xlsx'))).toBe(true);
  });

  it('needs a file of rows', async () => {
    expect((await enrich('in.csv -o out.json')).stderr).toContain('rows are written as csv, tsv, ndjson');
    expect((await enrich('in.csv --export a.xlsx --dry-run')).stderr).toContain(
      '--export needs a file of rows',
    );
  });
});

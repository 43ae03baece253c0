import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { present, type RecordFormat } from '../../../src/output/formats.ts';
import { missingColumns } from '../../../src/output/plain-formats.ts';
import type { Presentation, PresentOptions } from '../../../src/output/presentation.ts';
import { viewOf } from '../../helpers/hostile.ts';

const RECORDS = [
  { id: 'a', name: '=Nopa', tags: ['x', 'y'], at: { lat: 1.5 } },
  { id: 'b', name: 'Chez\tNous\u001b', more: null },
];
const DATA: Presentation = {
  records: RECORDS,
  selectColumns: (columns) => ({ results: columns }),
  table: (_, columns) => `table ${columns?.join() ?? 'of all'}`,
};

function shown(
  data: Presentation,
  format: RecordFormat,
  options: Partial<PresentOptions> = {},
): Promise<string> {
  return present(data, format, { prettyJson: false, guardFormulas: true, view: viewOf(80), ...options });
}

describe('present', () => {
  it('joins the parts of a table, and stops between two parts when it is interrupted', async () => {
    const stop = new AbortController();
    let drawn = 0;
    function* table() {
      for (drawn = 1; drawn <= 2; drawn += 1) yield `part ${drawn}`;
    }
    expect(await shown({ ...DATA, table }, 'table')).toBe('part 1\npart 2\n');
    stop.abort(new Error('interrupted'));
    await expect(shown({ ...DATA, table }, 'table', { signal: stop.signal })).rejects.toThrow('interrupted');
    expect(drawn).toBe(1);
  });

  it('writes NDJSON, one record per line', async () => {
    expect(await shown(DATA, 'ndjson', { columns: ['name', 'at.lat'] })).toBe(
      '{"name":"=Nopa","at":{"lat":1.5}}\n{"name":"Chez\\tNous\\u001b"}\n',
    );
  });

  it('writes CSV with all keys in order of appearance, guarded and cleaned', async () => {
    const csv = await shown(DATA, 'csv');
    expect(csv).toBe(`id,name,tags,at.lat,more\na,'=Nopa,"x; y",1.5,\nb,"Chez\tNous^[",,,\n`);
    expect(parse(csv)).toHaveLength(3);
    expect(await shown(DATA, 'csv', { columns: ['name'], guardFormulas: false })).toBe(
      'name\n=Nopa\n"Chez\tNous^["\n',
    );
  });

  it('writes TSV without a header, guarded in files', async () => {
    const data = { ...DATA, columns: ['name', 'id'] };
    expect(await shown(data, 'tsv', { guardFormulas: false })).toBe('=Nopa\ta\nChez Nous^[\tb\n');
    expect(await shown(data, 'tsv')).toBe("'=Nopa\ta\nChez Nous^[\tb\n");
  });

  it('writes TSV of single records as key and value, with the same keys for each', async () => {
    expect(await shown({ ...DATA, keyValue: true }, 'tsv', { guardFormulas: false })).toBe(
      'id\ta\nname\t=Nopa\ntags\tx; y\nat.lat\t1.5\nmore\t\n\nid\tb\nname\tChez Nous^[\ntags\t\nat.lat\t\nmore\t\n',
    );
    const columns = ['id', 'name'];
    expect(await shown({ ...DATA, keyValue: true }, 'tsv', { columns, guardFormulas: false })).toBe(
      'a\t=Nopa\nb\tChez Nous^[\n',
    );
  });

  it('writes a GitHub table and escapes all Markdown syntax', async () => {
    const records = [
      { name: 'A|B <b>*x*</b>', tags: ['x', 'y'], distance: 1.5 },
      { name: '[link](https://evil.example)\n\u001b[31m', distance: 2 },
    ];
    expect(await shown({ ...DATA, records }, 'markdown')).toBe(
      [
        '| Name | Tags | Distance |',
        '| --- | --- | ---: |',
        '| A\\|B \\<b\\>\\*x\\*\\</b\\> | x; y | 1.5 |',
        '| \\[link\\](https://evil.example) ^\\[\\[31m |  | 2 |',
        '',
      ].join('\n'),
    );
  });

  it('writes KML placemarks with the fields as data', async () => {
    const records = [
      { service_id: 'a', name: 'Fish & <Chips>', address: '1 Quay', coordinates: { lat: 1.5, lng: -2 } },
      { service_id: 'b', name: 'Nowhere\u0000' },
    ];
    const kml = await shown({ ...DATA, records, columns: ['service_id', 'name'] }, 'kml');
    expect(kml).toContain('<name>Fish &#38; &#60;Chips&#62;</name>\n<address>1 Quay</address>');
    expect(kml).toContain('<Point><coordinates>-2,1.5</coordinates></Point>');
    expect(kml).toContain(
      '<Data name="service_id"><displayName>Service ID</displayName><value>a</value></Data>',
    );
    expect(kml).toContain('<name>Nowhere^@</name>');
    expect(kml.match(/<Placemark>/g)).toHaveLength(2);
    expect(kml.match(/<Point>/g)).toHaveLength(1);
  });

  it('writes empty results in every format', async () => {
    const none = { ...DATA, records: [], columns: ['id', 'name'], table: () => '' };
    const formats = ['table', 'ndjson', 'csv', 'tsv', 'geojson'] as const;
    const texts = await Promise.all(formats.map((format) => shown(none, format)));
    expect(texts).toEqual(['', '', 'id,name\n', '', '{"type":"FeatureCollection","features":[]}\n']);
  });

  it('leaves a column empty that no record has', async () => {
    expect(await shown(DATA, 'tsv', { columns: ['nam'] })).toBe('\n\n');
    expect(await shown(DATA, 'tsv', { columns: ['at'] })).toBe('{"lat":1.5}\n\n');
  });

  it('keeps a line for elements that are not records', async () => {
    expect(
      await shown({ ...DATA, records: [null, RECORDS[0]], columns: ['id', 'name'] }, 'tsv', {
        guardFormulas: false,
      }),
    ).toBe('\t\na\t=Nopa\n');
  });
});

it('flattens keys with dots in time that grows with their length', async () => {
  const keys = Array.from({ length: 800 }, (_, index) =>
    Array(index + 1)
      .fill('a')
      .join('.'),
  );
  const record = Object.fromEntries(keys.map((key) => [key, 1]));
  for (const format of ['csv', 'tsv', 'markdown', 'kml'] as const) {
    const start = performance.now();
    await shown({ ...DATA, records: [record, {}] }, format);
    expect(performance.now() - start).toBeLessThan(30_000);
  }
});

describe('missingColumns', () => {
  const valid = ['service_id', 'name', 'grade', 'neighborhood'];
  const data = { ...DATA, records: [{}], columns: valid };

  it('accepts columns that some record has', () => {
    expect(missingColumns(data, ['name', 'grade'])).toBeUndefined();
    expect(missingColumns({ ...data, records: [] }, ['zzz'])).toBeUndefined();
  });

  it('names the missing columns and the nearest', () => {
    expect(missingColumns(data, ['name', 'neighbourhood', 'zzz'])).toBe(
      "no result has 'neighbourhood', 'zzz': did you mean neighborhood? these have service_id, name, grade, neighborhood",
    );
  });
});

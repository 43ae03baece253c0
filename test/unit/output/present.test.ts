import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import {
  type Presentation,
  type PresentOptions,
  present,
  type RecordFormat,
} from '../../../src/output/present.ts';
import { viewOf } from '../../helpers/hostile.ts';

const RECORDS = [
  { id: 'a', name: '=Nopa', tags: ['x', 'y'], at: { lat: 1.5 } },
  { id: 'b', name: 'Chez\tNous\u001b', more: null },
];
const DATA: Presentation = {
  json: { results: RECORDS },
  records: RECORDS,
  selectColumns: (columns) => ({ results: columns }),
  table: (_, columns) => `table ${columns?.join() ?? 'of all'}`,
};

function shown(data: Presentation, format: RecordFormat, options: Partial<PresentOptions> = {}): string {
  return present(data, format, { prettyJson: false, guardCsv: true, view: viewOf(80), ...options });
}

describe('present', () => {
  it('writes the document as JSON, pretty where asked for', () => {
    expect(shown(DATA, 'json')).toBe(`${JSON.stringify(DATA.json)}\n`);
    expect(shown(DATA, 'json', { prettyJson: true })).toMatch(/^\{\n {2}"results": \[/);
    expect(shown(DATA, 'json', { columns: ['id'] })).toBe('{"results":["id"]}\n');
  });

  it('cuts each record where the data does not say how to trim', () => {
    const { selectColumns: _, ...plain } = DATA;
    expect(shown({ ...plain, json: RECORDS }, 'json', { columns: ['id'] })).toBe('[{"id":"a"},{"id":"b"}]\n');
    expect(shown({ ...plain, records: RECORDS.slice(0, 1) }, 'json', { columns: ['id'] })).toBe(
      '{"id":"a"}\n',
    );
  });

  it('writes NDJSON, one record a line', () => {
    expect(shown(DATA, 'ndjson', { columns: ['name', 'at.lat'] })).toBe(
      '{"name":"=Nopa","at":{"lat":1.5}}\n{"name":"Chez\\tNous\\u001b"}\n',
    );
  });

  it('writes CSV with all keys as they come first, guarded and cleaned', () => {
    const csv = shown(DATA, 'csv');
    expect(csv).toBe("id,name,tags,at.lat,more\na,'=Nopa,x; y,1.5,\nb,Chez\tNous^[,,,\n");
    expect(parse(csv)).toHaveLength(3);
    expect(shown(DATA, 'csv', { columns: ['name'], guardCsv: false })).toBe('name\n=Nopa\nChez\tNous^[\n');
  });

  it('writes TSV without a header', () => {
    expect(shown({ ...DATA, columns: ['name', 'id'] }, 'tsv')).toBe('=Nopa\ta\nChez Nous^[\tb\n');
  });

  it('writes the table', () => {
    expect(shown(DATA, 'table', { columns: ['id', 'name'] })).toBe('table id,name\n');
  });

  it('writes GeoJSON also of what has no place', () => {
    expect(JSON.parse(shown(DATA, 'geojson')).features[0]).toEqual({
      type: 'Feature',
      geometry: null,
      properties: RECORDS[0],
    });
  });

  it('has a form for nothing found', () => {
    const none: Presentation = {
      json: { results: [] },
      records: [],
      columns: ['id', 'name'],
      table: () => '',
    };
    const texts = (['table', 'json', 'ndjson', 'csv', 'tsv', 'geojson'] as const).map((format) =>
      shown(none, format),
    );
    expect(texts).toEqual([
      '',
      '{"results":[]}\n',
      '',
      'id,name\n',
      '',
      '{"type":"FeatureCollection","features":[]}\n',
    ]);
  });

  it('refuses a column that no record has', () => {
    expect(() => shown(DATA, 'tsv', { columns: ['nam'] })).toThrow(
      /no column 'nam'; valid: id, name, tags, at.lat, more, at$/,
    );
    expect(shown(DATA, 'tsv', { columns: ['at'] })).toBe('{"lat":1.5}\n\n');
  });

  it('keeps a line for what is no record', () => {
    expect(shown({ ...DATA, records: [null, RECORDS[0]], columns: ['id', 'name'] }, 'tsv')).toBe(
      '\t\na\t=Nopa\n',
    );
  });
});

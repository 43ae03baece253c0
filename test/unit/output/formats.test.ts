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
const MARKUP = [
  { name: 'A|B <b>*x*</b>', tags: ['x', 'y'], distance: 1.5 },
  { name: '[link](https://evil.example)\n\u001b[31m', distance: 2 },
];
const LINKS = [
  'https://example.com/my_menu?a=1&b=2~*|x',
  'https://x.example/a><b>[c](d)',
  'see https://x.example/a_b',
  'javascript:alert(1)',
].map((website) => ({ website }));

/** Presents the records above, with differences. */
const shown = (
  format: RecordFormat,
  more: Partial<Presentation> = {},
  options: Partial<PresentOptions> = {},
) =>
  present({ ...DATA, ...more }, format, {
    prettyJson: false,
    guardFormulas: true,
    view: viewOf(80),
    ...options,
  });
const asTyped = { guardFormulas: false };

describe('present', () => {
  it('joins the parts of a table, and stops between two parts when it is interrupted', async () => {
    const stop = new AbortController();
    let drawn = 0;
    function* table() {
      for (drawn = 1; drawn <= 2; drawn += 1) yield `part ${drawn}`;
    }
    expect(await shown('table', { table })).toBe('part 1\npart 2\n');
    stop.abort(new Error('interrupted'));
    await expect(shown('table', { table }, { signal: stop.signal })).rejects.toThrow('interrupted');
    expect(drawn).toBe(1);
  });

  it.each<[string, Parameters<typeof shown>, string]>([
    [
      'one record per line of NDJSON',
      ['ndjson', {}, { columns: ['name', 'at.lat'] }],
      '{"name":"=Nopa","at":{"lat":1.5}}\n{"name":"Chez\\tNous\\u001b"}\n',
    ],
    [
      'all keys of a CSV in order of appearance, guarded and cleaned',
      ['csv'],
      `id,name,tags,at.lat,more\na,'=Nopa,"x; y",1.5,\nb,"Chez\tNous^[",,,\n`,
    ],
    [
      'single records as key and value, with the same keys for each',
      ['tsv', { keyValue: true }, asTyped],
      'id\ta\nname\t=Nopa\ntags\tx; y\nat.lat\t1.5\nmore\t\n\nid\tb\nname\tChez Nous^[\ntags\t\nat.lat\t\nmore\t\n',
    ],
    ['an empty column that no record has', ['tsv', {}, { columns: ['nam'] }], '\n\n'],
    ['an object as JSON', ['tsv', {}, { columns: ['at'] }], '{"lat":1.5}\n\n'],
    [
      'a line for what is not a record',
      ['tsv', { records: [null, RECORDS[0]], columns: ['id', 'name'] }, asTyped],
      '\t\na\t=Nopa\n',
    ],
    [
      'a GitHub table with all Markdown syntax escaped',
      ['markdown', { records: MARKUP }],
      '| Name | Tags | Distance |\n' +
        '| --- | --- | ---: |\n' +
        '| A\\|B \\<b\\>\\*x\\*\\</b\\> | x; y | 1.5 |\n' +
        '| \\[link\\](https://evil.example) ^\\[\\[31m |  | 2 |\n',
    ],
    [
      'addresses in a GitHub table as links, and what is not only an address as text',
      ['markdown', { records: LINKS }],
      '| Website |\n| --- |\n' +
        '| <https://example.com/my_menu?a=1&b=2~*%7Cx> |\n' +
        '| https://x.example/a\\>\\<b\\>\\[c\\](d) |\n' +
        '| see https://x.example/a\\_b |\n' +
        '| javascript:alert(1) |\n',
    ],
  ])('writes %s', async (_what, args, text) => {
    expect(await shown(...args)).toBe(text);
  });

  it('writes empty results in every format', async () => {
    const none = { records: [], columns: ['id', 'name'], table: () => '' };
    const formats = ['table', 'ndjson', 'csv', 'tsv', 'geojson'] as const;
    const texts = await Promise.all(formats.map((format) => shown(format, none)));
    expect(texts).toEqual(['', '', 'id,name\n', '', '{"type":"FeatureCollection","features":[]}\n']);
  });
});

it('missingColumns names the columns that no record has, and the nearest', () => {
  const data = { ...DATA, records: [{}], columns: ['service_id', 'name', 'grade', 'neighborhood'] };
  expect(missingColumns(data, ['name', 'grade'])).toBeUndefined();
  expect(missingColumns({ ...data, records: [] }, ['zzz'])).toBeUndefined();
  expect(missingColumns(data, ['name', 'neighbourhood', 'zzz'])).toEqual({
    message: "no result has 'neighbourhood', 'zzz'",
    hint: 'did you mean neighborhood? these have service_id, name, grade, neighborhood',
  });
});

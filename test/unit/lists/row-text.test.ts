import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { AppError } from '../../../src/errors.ts';
import { withFailure } from '../../../src/lists/list-state.ts';
import type { RowResult } from '../../../src/lists/match/match.ts';
import type { Plan } from '../../../src/lists/plan.ts';
import { ResultColumns, type ResultOptions } from '../../../src/lists/result.ts';
import type { InputRow } from '../../../src/lists/row.ts';
import { contentOf } from '../../../src/lists/views/all.ts';
import type { ViewSource } from '../../../src/lists/views/source.ts';
import { openRowText, type TextOptions } from '../../../src/lists/views/text.ts';

type Options = Partial<TextOptions & ResultOptions>;

/** The text of a CSV of names and cities, with differences. */
const open = ({ prefix = 'restaurant_', added = [], hasDetails = true, ...more }: Options = {}) =>
  openRowText({
    ...{ format: 'csv', delimiter: ',', bom: false, lineEnd: '\n', guard: true, isDelimited: true },
    ...{ columns: ['name', 'city'], headerText: 'name,city' },
    result: new ResultColumns({ prefix, added, hasDetails }),
    ...more,
  });
const nested = (more: Options = {}) => open({ format: 'ndjson', ...more });
const object = (text: string): InputRow => ({ kind: 'object', line: 4, text, value: JSON.parse(text) });
const cells = (text: string, end = '\n'): InputRow => ({
  ...{ kind: 'cells', line: 2, cells: text.split(','), text, end },
});
const ROW = cells('a,b');
const NOTHING: RowResult = { status: 'pending' };
const TEL = { name: 'tel', path: 'phone' };

const found: RowResult = {
  status: 'matched',
  match: 'exact',
  similarity: 1,
  candidates: 2,
  restaurant: {
    service_id: 'a-1',
    name: '=HYPERLINK("x")',
    address: '+1 Street',
    coordinates: { lat: 37.7, lng: -122.4 },
    city: 'San\u001b[31m Francisco\u202e',
    cuisine_tags: ['thai', 'bar'],
    grade: 'A',
  },
  details: { phone: '+1 415-555-0100', open: { monday: '-9' }, tags: ['=a'] },
};

describe('a CSV', () => {
  it('guards text of the service, except numbers and telephone numbers, and keeps input cells', () => {
    const text = open({ added: [TEL, { name: 'mon', path: 'open.monday' }, { name: 'tag', path: 'tags' }] });
    expect(text.row(cells('=Nopa,-SF', '\r\n'), found)).toBe(
      `=Nopa,-SF,matched,exact,2,a-1,"'=HYPERLINK(""x"")",'+1 Street,San^[[31m Francisco,,37.7,-122.4,"thai; bar",A,,` +
        `"{""phone"":""+1 415-555-0100"",""open"":{""monday"":""-9""},""tags"":[""\\u003da""]}",,1,,` +
        `+1 415-555-0100,-9,'=a\r\n`,
    );
    expect(open({ guard: false }).row(ROW, found)).toContain(',"=HYPERLINK(""x"")",+1 Street,');
    expect(open({ guard: false }).row(ROW, found)).toContain('""tags"":[""=a""]');
  });

  it('has a failure with its code on one line, and no line breaks in a TSV', () => {
    const failed = withFailure(NOTHING, new AppError('timeout', 'no answer\nin 30s'));
    expect(open().row(ROW, failed)).toBe('a,b,error,,,,,,,,,,,,,,timeout: no answer in 30s,,\n');
    const tsv = open({ format: 'tsv', delimiter: '\t' });
    expect(tsv.row(ROW, { status: 'matched', restaurant: { name: 'a\tb\nc' } })).toContain('\ta b c\t');
  });

  it('has objects by the columns of its header, guarded', () => {
    const text = open({ columns: ['name', 'at.city', 'tags'], headerText: undefined, isDelimited: false });
    expect(text.header).toMatch(/^name,at.city,tags,restaurant_status,/);
    expect(text.row(object('{"tags":["a","b"],"at":{"city":"=SF, CA"},"name":null}'), NOTHING)).toMatch(
      /^,"'=SF, CA","?a; b"?,pending,/,
    );
    expect(() => text.row(object('{"name":"x","other":1}'), NOTHING)).toThrow(/line 4 has a key 'other'/);
  });

  it('has details only on request', () => {
    for (const hasDetails of [true, false]) {
      const text = open({ hasDetails });
      expect(/details/.test(text.header)).toBe(hasDetails);
      expect(text.row(ROW, found).includes('415')).toBe(hasDetails);
    }
  });
});

it.each<[Options, RegExp]>([
  [{ columns: ['name', 'restaurant_id'] }, /already has a column 'restaurant_id'/],
  [{ columns: ['tel'], added: [TEL] }, /already has a column 'tel'/],
  [{ added: [{ name: 'restaurant_id', path: 'x' }] }, /'restaurant_id' would be added twice/],
  [{ format: 'ndjson', columns: ['restaurant'] }, /already has a column 'restaurant'/],
  [{ format: 'ndjson', columns: ['a', 'a'] }, /two columns 'a'/],
  [{ format: 'ndjson', prefix: '_' }, /--prefix '_'/],
])('rejects columns that clash: %j', (options, message) => {
  expect(() => open(options)).toThrow(message);
  expect(() => open({ columns: ['name', 'restaurant_id'], prefix: 'found_' })).not.toThrow();
});

describe('NDJSON', () => {
  it('keeps the text of the object, and escapes what a terminal interprets', () => {
    const line = nested().row(object('{ "n": 12345678901234567890, "__proto__": 1 }'), found);
    expect(line.startsWith('{ "n": 12345678901234567890, "__proto__": 1,')).toBe(true);
    expect(line).not.toMatch(/[\u001b\u202e]/);
    expect(JSON.parse(line).restaurant).toMatchObject({
      id: 'a-1',
      city: 'San\u001b[31m Francisco\u202e',
      details: found.details,
    });
    expect(nested().row(object('{}'), found)).toMatch(/^\{"restaurant":/);
  });

  it('has an added column of any name, also of the input', () => {
    expect(nested({ added: [{ ...TEL, name: '__proto__' }] }).row(ROW, found)).toMatch(
      /,"__proto__":"\+1 415-555-0100"\}\}\n$/,
    );
    expect(nested({ columns: ['name', '__proto__'] }).row(ROW, found)).toMatch(
      /^\{"name":"a","__proto__":"b",/,
    );
  });

  it('has a key of the prefix without its underscore', () => {
    expect(nested({ prefix: 'found_' }).row(ROW, found)).toContain(',"found":{"status":"matched"');
    expect(() => nested().row(object('{"restaurant":1}'), found)).toThrow(
      /line 4 already has a key 'restaurant'/,
    );
  });
});

it.each(['csv', 'ndjson', 'geojson', 'xlsx', 'parquet'] as const)(
  'signals are heard while %s is made of many rows',
  async (format) => {
    const rows = Array.from({ length: 2000 }, () => ROW);
    const list = { format: 'csv', delimiter: ',', header: ['name', 'city'], headerText: 'name,city' };
    const layout = { ...list, bom: false, lineEnd: '\n', tableColumns: () => list.header };
    const result = new ResultColumns({ prefix: 'restaurant_', added: [], hasDetails: false });
    const plan = { flags: {}, list: layout, result } as unknown as Plan;
    const source = { plan, rows, resultOf: () => NOTHING, guard: true } as unknown as ViewSource;
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    });
    for await (const _ of contentOf({} as App, { format }, source));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  },
);

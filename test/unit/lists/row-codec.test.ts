import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { NOT_FOUND, type RowResult } from '../../../src/lists/match/match.ts';
import { fromError } from '../../../src/lists/match/query.ts';
import type { InputRow } from '../../../src/lists/row.ts';
import { openRowCodec, type RowCodecOptions } from '../../../src/lists/write/row-codec.ts';

/** The codec of a CSV of names and cities, with differences. */
const open = (more: Partial<RowCodecOptions> = {}) =>
  openRowCodec({
    format: 'csv',
    delimiter: ',',
    bom: false,
    lineEnd: '\n',
    columns: ['name', 'city'],
    prefix: 'restaurant_',
    details: true,
    added: [],
    guard: true,
    ...more,
  });
const nested = (more: Partial<RowCodecOptions> = {}) => open({ format: 'ndjson', ...more });
const object = (text: string): InputRow => ({ kind: 'object', line: 4, text, value: JSON.parse(text) });
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
    const codec = open({ added: [TEL, { name: 'mon', path: 'open.monday' }, { name: 'tag', path: 'tags' }] });
    const cells = ['=Nopa', '-SF'];
    expect(codec.input({ kind: 'cells', line: 2, cells, text: '=Nopa,-SF', end: '\r\n' })).toEqual({
      start: '=Nopa,-SF,',
      end: '\r\n',
    });
    expect(codec.result(found)).toBe(
      `matched,exact,2,a-1,"'=HYPERLINK(""x"")",'+1 Street,San^[[31m Francisco,,37.7,-122.4,"thai; bar",A,,` +
        `"{""phone"":""+1 415-555-0100"",""open"":{""monday"":""-9""},""tags"":[""=a""]}",,1,,` +
        `+1 415-555-0100,-9,'=a`,
    );
    expect(open({ guard: false }).result(found)).toContain(',"=HYPERLINK(""x"")",+1 Street,');
  });

  it('has a failure with its code on one line, and no line breaks in a TSV', () => {
    const error = new AppError('timeout', 'no answer\nin 30s');
    expect(open().result(fromError(error, NOT_FOUND))).toBe(
      'error,,0,,,,,,,,,,,,timeout: no answer in 30s,,',
    );
    const tsv = open({ format: 'tsv', delimiter: '\t' });
    expect(tsv.result({ status: 'matched', restaurant: { name: 'a\tb\nc' } })).toContain('\ta b c\t');
  });

  it('has objects by the columns of its header', () => {
    const codec = open({ columns: ['name', 'at.city', 'tags'] });
    expect(codec.input(object('{"tags":["a","b"],"at":{"city":"SF, CA"},"name":null}'))).toEqual({
      start: ',"SF, CA","a; b",',
      end: '\n',
    });
    expect(() => codec.input(object('{"name":"x","other":1}'))).toThrow(/line 4 has a key 'other'/);
  });
});

it.each<Partial<RowCodecOptions>>([
  ...[',', ';', '\t'].map((delimiter) => ({ delimiter })),
  { details: false },
  { format: 'ndjson' },
  { format: 'ndjson', details: false, added: [TEL] },
  // In an object, a key that is a number comes first.
  { format: 'ndjson', added: [{ name: '1', path: 'phone' }] },
])('reads back the status that it wrote with %j', (options) => {
  const codec = open(options);
  const text = codec.result(found);
  expect(codec.statusOf(text)).toBe('matched');
  expect(codec.statusOf(text.replace('matched', 'nonsense'))).toBeUndefined();
  expect(codec.statusOf('matched')).toBeUndefined();
  expect(/details/.test(codec.header + text)).toBe(options.details !== false);
});

it.each<[Partial<RowCodecOptions>, RegExp]>([
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
    const codec = nested();
    const { start, end } = codec.input(object('{ "n": 12345678901234567890, "__proto__": 1 }'));
    expect(start).toBe('{ "n": 12345678901234567890, "__proto__": 1,');
    expect(codec.result(found)).not.toMatch(/[\u001b\u202e]/);
    expect(JSON.parse(start + codec.result(found) + end).restaurant).toMatchObject({
      id: 'a-1',
      city: 'San\u001b[31m Francisco\u202e',
      details: found.details,
    });
    expect(codec.input(object('{}')).start).toBe('{');
  });

  it('has an added column of any name, also of the input', () => {
    expect(nested({ added: [{ ...TEL, name: '__proto__' }] }).result(found)).toMatch(
      /,"__proto__":"\+1 415-555-0100"\}$/,
    );
    const input: InputRow = { kind: 'cells', line: 2, cells: ['a', 'b'], text: 'a,b', end: '\n' };
    expect(nested({ columns: ['name', '__proto__'] }).input(input).start).toBe(
      '{"name":"a","__proto__":"b",',
    );
  });

  it('has a key of the prefix without its underscore', () => {
    expect(nested({ prefix: 'found_' }).result(found)).toMatch(/^"found":\{"status":"matched"/);
    expect(() => nested().input(object('{"restaurant":1}'))).toThrow(/line 4 already has a key 'restaurant'/);
  });
});

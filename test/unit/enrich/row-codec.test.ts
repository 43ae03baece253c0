import { describe, expect, it } from 'vitest';
import { matchId, NOT_FOUND, type RowResult } from '../../../src/enrich/match/match.ts';
import { fromError } from '../../../src/enrich/match/query.ts';
import type { InputRow } from '../../../src/enrich/row.ts';
import { openRowCodec, type RowCodecOptions, type RowText } from '../../../src/enrich/write/row-codec.ts';
import { AppError } from '../../../src/errors.ts';
import { CODEC_OPTIONS } from './engine.ts';

const row: InputRow = { kind: 'cells', line: 2, cells: ['=Nopa', '-SF'], text: '=Nopa,-SF', end: '\r\n' };
const whole = ({ start, end }: RowText, result: string): string => start + result + end;
const object = (text: string): InputRow => ({ kind: 'object', line: 4, text, value: JSON.parse(text) });

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
  it('has the documented columns in their order', () => {
    expect(openRowCodec(CODEC_OPTIONS).header).toBe(
      'name,city,restaurant_status,restaurant_match,restaurant_candidates,restaurant_id,restaurant_name,' +
        'restaurant_address,restaurant_city,restaurant_neighborhood,restaurant_lat,restaurant_lng,' +
        'restaurant_cuisine_tags,restaurant_grade,restaurant_coverage_level,restaurant_details,restaurant_error,restaurant_similarity,restaurant_distance_m\n',
    );
  });

  it('keeps input cells unchanged and guards text of the service, except numbers and telephone numbers', () => {
    const codec = openRowCodec({
      ...CODEC_OPTIONS,
      added: [
        { name: 'tel', path: 'phone' },
        { name: 'mon', path: 'open.monday' },
        { name: 'tag', path: 'tags' },
      ],
    });
    expect(codec.input(row)).toEqual({ start: '=Nopa,-SF,', end: '\r\n' });
    expect(codec.result(found)).toBe(
      `matched,exact,2,a-1,"'=HYPERLINK(""x"")",'+1 Street,San^[[31m Francisco,,37.7,-122.4,"thai; bar",A,,` +
        `"{""phone"":""+1 415-555-0100"",""open"":{""monday"":""-9""},""tags"":[""=a""]}",,1,,` +
        `+1 415-555-0100,-9,'=a`,
    );
    expect(openRowCodec({ ...CODEC_OPTIONS, guard: false }).result(found)).toContain(
      ',"=HYPERLINK(""x"")",+1 Street,',
    );
  });

  it('status can be read back', () => {
    for (const delimiter of [',', ';', '\t']) {
      const codec = openRowCodec({ ...CODEC_OPTIONS, delimiter });
      const text = codec.result(found);
      expect(codec.statusOf(text)).toBe('matched');
      expect(codec.statusOf('nonsense,exact\n')).toBeUndefined();
      expect(codec.statusOf('matched')).toBeUndefined();
    }
  });

  it('writes a failure with its code, on one line', () => {
    const error = new AppError('timeout', 'no answer\nin 30s');
    expect(openRowCodec(CODEC_OPTIONS).result(fromError(error, NOT_FOUND))).toBe(
      'error,,0,,,,,,,,,,,,timeout: no answer in 30s,,',
    );
  });

  it('as TSV has no line breaks in text of the service', () => {
    const codec = openRowCodec({ ...CODEC_OPTIONS, format: 'tsv', delimiter: '\t' });
    expect(codec.result({ status: 'matched', restaurant: { name: 'a\tb\nc' } })).toContain('\ta b c\t');
  });

  it('rejects a column that exists', () => {
    const clash = (more: Partial<RowCodecOptions>) => () => openRowCodec({ ...CODEC_OPTIONS, ...more });
    expect(clash({ columns: ['name', 'restaurant_id'] })).toThrow(/already has a column 'restaurant_id'/);
    expect(clash({ columns: ['name', 'restaurant_id'], prefix: 'found_' })).not.toThrow();
    expect(clash({ columns: ['tel'], added: [{ name: 'tel', path: 'phone' }] })).toThrow(
      /already has a column 'tel'/,
    );
    for (const [name, format] of [
      ['restaurant_id', 'csv'],
      ['restaurant_details', 'csv'],
      ['details', 'ndjson'],
    ] as const)
      expect(clash({ format, details: false, added: [{ name, path: 'x' }] })).toThrow(
        `the column '${name}' would be added twice`,
      );
  });

  it('writes objects by the columns of its header', () => {
    const codec = openRowCodec({ ...CODEC_OPTIONS, columns: ['name', 'at.city', 'tags'] });
    expect(codec.input(object('{"tags":["a","b"],"at":{"city":"SF, CA"},"name":null}'))).toEqual({
      start: ',"SF, CA","a; b",',
      end: '\n',
    });
    expect(() => codec.input(object('{"name":"x","other":1}'))).toThrow(/line 4 has a key 'other'/);
  });
});

describe('without details', () => {
  it('has no column for them, and keeps the added values', () => {
    for (const format of ['csv', 'ndjson'] as const) {
      const codec = openRowCodec({
        ...CODEC_OPTIONS,
        format,
        details: false,
        added: [{ name: 'tel', path: 'phone' }],
      });
      const text = codec.result(found);
      expect(codec.header + text).not.toContain('details');
      expect(text).toContain('+1 415-555-0100');
      expect(codec.statusOf(text)).toBe('matched');
    }
  });
});

describe('NDJSON', () => {
  const nested = (more: Partial<RowCodecOptions> = {}) =>
    openRowCodec({ ...CODEC_OPTIONS, format: 'ndjson', ...more });

  it('keeps the text of the object and nests the result', () => {
    const codec = nested({ added: [{ name: 'tel', path: 'phone' }] });
    const own = codec.input(object('{ "n": 12345678901234567890, "__proto__": 1 }'));
    expect(own.start).toBe('{ "n": 12345678901234567890, "__proto__": 1,');
    expect(JSON.parse(whole(own, codec.result(found))).restaurant).toEqual({
      status: 'matched',
      match: 'exact',
      candidates: 2,
      id: 'a-1',
      name: '=HYPERLINK("x")',
      address: '+1 Street',
      city: 'San\u001b[31m Francisco\u202e',
      neighborhood: null,
      lat: 37.7,
      lng: -122.4,
      cuisine_tags: ['thai', 'bar'],
      grade: 'A',
      coverage_level: null,
      details: found.details,
      error: null,
      similarity: 1,
      distance_m: null,
      tel: '+1 415-555-0100',
    });
    expect(codec.result(found)).not.toMatch(/[\u001b\u202e]/);
    expect(JSON.parse(whole(codec.input(object('{}')), codec.result(found)))).toHaveProperty('restaurant');
    expect(codec.statusOf(codec.result(found))).toBe('matched');
  });

  it('has its status even after an added path that is a number', () => {
    const codec = nested({ added: [{ name: '1', path: 'phone' }] });
    expect(codec.result(found)).toMatch(/^"restaurant":\{"1":/);
    expect(codec.statusOf(codec.result(found))).toBe('matched');
  });

  it('has an added column of any name', () => {
    const codec = nested({ added: [{ name: '__proto__', path: 'phone' }] });
    expect(codec.result(found)).toMatch(/,"__proto__":"\+1 415-555-0100"\}$/);
  });

  it('has a key of the prefix without its underscore', () => {
    expect(nested({ prefix: 'found_' }).result(found)).toMatch(/^"found":\{"status":"matched"/);
    expect(() => nested({ prefix: '_' })).toThrow(/--prefix '_'/);
    expect(() => nested({ columns: ['restaurant'] })).toThrow(/already has a column 'restaurant'/);
    expect(() => nested().input(object('{"restaurant":1}'))).toThrow(/line 4 already has a key 'restaurant'/);
  });

  it('makes objects of cells, and rejects two columns with the same name', () => {
    const codec = nested({ columns: ['name', '__proto__'] });
    expect(codec.input(row).start).toBe('{"name":"=Nopa","__proto__":"-SF",');
    expect(() => nested({ columns: ['a', 'a'] })).toThrow(/two columns 'a'/);
  });
});

describe('matchId', () => {
  it('copies fields with documented names from the details', () => {
    const text = openRowCodec(CODEC_OPTIONS).result(
      matchId(
        { id: 'a-1', name: '', city: '' },
        { name: 'Nopa', grade: 'A', coordinates: { lat: 1, lng: 2 } },
      ),
    );
    expect(text).toBe(
      'matched,id,1,a-1,Nopa,,,,1,2,,A,,"{""name"":""Nopa"",""grade"":""A"",""coordinates"":{""lat"":1,""lng"":2}}",,,',
    );
  });
});

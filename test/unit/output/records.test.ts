import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flatten, pick, toCell, valueAt } from '../../../src/output/records.ts';
import { toJson } from '../../../src/util/json.ts';
import { hostileRecord } from '../../helpers/hostile.ts';

const NOPA = {
  service_id: 'id-1',
  name: 'Nopa',
  coordinates: { lat: 37.77, lng: -122.43 },
  cuisine_tags: ['californian', 'american'],
  hours: { mon: { open: '17:00' }, holidays: [] },
  reviews: [{ by: 'Ann' }],
  open: true,
  closed_since: null,
};

describe('flatten', () => {
  it('flattens a record into one row', () => {
    expect(Object.fromEntries(flatten(NOPA))).toEqual({
      service_id: 'id-1',
      name: 'Nopa',
      lat: 37.77,
      lng: -122.43,
      cuisine_tags: 'californian; american',
      'hours.mon.open': '17:00',
      'hours.holidays': '',
      reviews: '[{"by":"Ann"}]',
      open: true,
      closed_since: null,
    });
  });

  it('does not hide a key named lat', () => {
    const cells = flatten({ lat: 'x', coordinates: { lat: 1, lng: 2 } });
    expect(Object.fromEntries(cells)).toEqual({ lat: 'x', 'coordinates.lat': 1, lng: 2 });
  });

  it('handles __proto__ and returns scalars only', () => {
    fc.assert(
      fc.property(hostileRecord, (record) => {
        for (const value of flatten(record).values())
          expect(typeof value === 'object' ? value : null).toBeNull();
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
    expect([...flatten(JSON.parse('{"__proto__":{"a":1}}'))]).toEqual([['__proto__.a', 1]]);
  });

  it('has a cell for every value, also if keys with dots look like the path of another', () => {
    expect([...flatten({ a: { 'b.c': 1, b: { c: 2 } }, 'a.b.c_2': 3 }).values()]).toEqual([1, 2, 3]);
    const key = fc.constantFrom('a', 'b', 'a.b', 'a.b_2', 'b_2', 'lat', 'coordinates', 'coordinates.lat');
    const { record } = fc.letrec<{ record: Record<string, unknown>; value: unknown }>((tie) => ({
      record: fc.dictionary(key, tie('value'), { minKeys: 1 }),
      value: fc.oneof({ depthSize: 'small' }, fc.integer(), tie('record')),
    }));
    const leaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
    fc.assert(
      fc.property(record, (one) => {
        expect([...flatten(one).values()]).toEqual(leaves(one));
      }),
    );
  });
});

it.each([
  [undefined, null],
  [{}, null],
  [Number.POSITIVE_INFINITY, 'out of range'],
  [['a', null, 1, false], 'a; ; 1; false'],
  [[['a']], '[["a"]]'],
])('toCell of %j is %j', (value, cell) => {
  expect(toCell(value)).toBe(cell);
});

it('valueAt finds keys, dotted paths, keys with dots and the short names', () => {
  expect(valueAt(NOPA, 'hours.mon.open')).toBe('17:00');
  expect(valueAt({ 'a.b': { 'c.d': 1 } }, 'a.b.c.d')).toBe(1);
  expect(valueAt(NOPA, 'lat')).toBe(37.77);
  expect(valueAt(NOPA, 'constructor')).toBeUndefined();
  expect(valueAt(NOPA, 'name.length')).toBeUndefined();
  expect(valueAt(null, 'name')).toBeUndefined();
});

describe('pick', () => {
  it('keeps the selected order and the nested shape', () => {
    expect(toJson(pick(NOPA, ['lat', 'name', 'hours.mon.open', 'nothing']), false)).toBe(
      '{"coordinates":{"lat":37.77},"name":"Nopa","hours":{"mon":{"open":"17:00"}}}',
    );
  });

  it('returns the whole value if it and a part of it are selected', () => {
    const whole = { coordinates: { lat: 37.77, lng: -122.43 } };
    expect(pick(NOPA, ['coordinates', 'lat'])).toEqual(whole);
    expect(pick(NOPA, ['lat', 'coordinates'])).toEqual(whole);
    expect(NOPA.coordinates).toEqual({ lat: 37.77, lng: -122.43 });
  });

  it('handles __proto__', () => {
    const record = JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":2}}');
    expect(toJson(pick(record, ['__proto__.x', 'a.__proto__']), false)).toBe(
      '{"__proto__":{"x":1},"a":{"__proto__":2}}',
    );
    expect({}).not.toHaveProperty('x');
    fc.assert(
      fc.property(hostileRecord, (one) => {
        const keys = Object.keys(one);
        expect(JSON.parse(toJson(pick(one, keys), false))).toEqual(JSON.parse(toJson(one, false)));
      }),
    );
  });
});

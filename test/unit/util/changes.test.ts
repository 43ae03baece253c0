import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldChanges } from '../../../src/util/changes.ts';

const BEFORE = {
  name: 'Nopa',
  grade: 'A',
  cuisine: ['californian'],
  hours: { mon: ['17:00-22:00'], tue: [] },
};

describe('fieldChanges', () => {
  it.each<[string, unknown, { field: string; before: unknown; after: unknown }[]]>([
    ['nothing', BEFORE, []],
    ['a value', { ...BEFORE, grade: 'B' }, [{ field: 'grade', before: 'A', after: 'B' }]],
    [
      'a nested list, as one value',
      { ...BEFORE, hours: { mon: ['18:00-22:00'], tue: [] } },
      [{ field: 'hours.mon', before: ['17:00-22:00'], after: ['18:00-22:00'] }],
    ],
    ['a new field', { ...BEFORE, phone: '1' }, [{ field: 'phone', before: null, after: '1' }]],
    [
      'a missing object, field by field',
      { name: 'Nopa', grade: 'A', cuisine: ['californian'] },
      [
        { field: 'hours.mon', before: ['17:00-22:00'], after: null },
        { field: 'hours.tue', before: [], after: null },
      ],
    ],
    [
      'an object that becomes text',
      { ...BEFORE, hours: 'late' },
      [{ field: 'hours', before: BEFORE.hours, after: 'late' }],
    ],
    ['a number that becomes text', { ...BEFORE, stars: 1 }, [{ field: 'stars', before: null, after: 1 }]],
  ])('lists %s', (_, after, expected) => {
    expect(fieldChanges(BEFORE, after)).toEqual(expected);
  });

  it('takes a missing field for null, and reads only own keys', () => {
    expect(fieldChanges({ a: null, b: {} }, {})).toEqual([]);
    expect(fieldChanges(JSON.parse('{"__proto__":1}'), {})).toEqual([
      { field: '__proto__', before: 1, after: null },
    ]);
  });

  it('finds no change between a record and its copy, also with other key order', () => {
    fc.assert(
      fc.property(fc.object({ withNullPrototype: true }), (record) => {
        const copy = JSON.parse(JSON.stringify(record));
        const reversed = Object.fromEntries(Object.entries(copy).reverse());
        return fieldChanges(copy, reversed).length === 0 && fieldChanges(reversed, copy).length === 0;
      }),
    );
  });
});

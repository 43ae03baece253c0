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
  it.each<[string, unknown, string[]]>([
    ['nothing', BEFORE, []],
    ['a value', { ...BEFORE, grade: 'B' }, ['grade: "A" → "B"']],
    [
      'a nested list, as one value',
      { ...BEFORE, hours: { mon: ['18:00-22:00'], tue: [] } },
      ['hours.mon: ["17:00-22:00"] → ["18:00-22:00"]'],
    ],
    ['a new field', { ...BEFORE, phone: '1' }, ['phone: null → "1"']],
    [
      'a missing object, field by field',
      { name: 'Nopa', grade: 'A', cuisine: ['californian'] },
      ['hours.mon: ["17:00-22:00"] → null', 'hours.tue: [] → null'],
    ],
    [
      'an object that becomes text',
      { ...BEFORE, hours: 'late' },
      ['hours: {"mon":["17:00-22:00"],"tue":[]} → "late"'],
    ],
    ['a new number', { ...BEFORE, stars: 1 }, ['stars: null → 1']],
  ])('lists %s', (_, other, expected) => {
    const changes = fieldChanges(BEFORE, other).map(
      ({ field, before, after }) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    );
    expect(changes).toEqual(expected);
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

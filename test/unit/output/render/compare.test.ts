import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/client/types.ts';
import { AppError } from '../../../../src/errors.ts';
import type { View } from '../../../../src/output/presentation.ts';
import { comparisonLines, renderLookup } from '../../../../src/output/render/lookup.ts';
import { palette } from '../../../../src/output/style.ts';
import { expectHarmless, hostileRecord, viewOf } from '../../../helpers/hostile.ts';

const NOPA: Outcome = {
  restaurantId: 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53',
  output: {
    status: 'ok',
    service_id: 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53',
    name: 'Nopa',
    grade: 'A',
    tldr: 'Wood-fired cooking in a lively room that stays open late.',
    price_level: '$$$',
    city: 'San Francisco',
    coordinates: { lat: 37.77, lng: -122.43 },
    hours: { monday: '17:00', tuesday: [] },
    dishes: [
      { name: 'Pork chop', price: 34 },
      { name: 'Flatbread with a very long name', price: 9, note: 'new' },
    ],
  },
};
const CORNER: Outcome = {
  restaurantId: 'id-2',
  output: {
    status: 'ok',
    name: 'Nopa Corner',
    grade: 'B+',
    city: 'San Francisco',
    phone: '+1 415',
    hours: null,
  },
};
const GONE: Outcome = {
  restaurantId: 'id-3',
  error: new AppError('not_found', 'no restaurant has this id'),
};

function compare(items: readonly Outcome[], view: View): string | undefined {
  return comparisonLines(items, undefined, view)?.join('\n');
}

describe('comparisonLines', () => {
  it('shows fields as rows and restaurants as columns', () => {
    expect(compare([NOPA, CORNER, GONE], viewOf(80))).toMatchInlineSnapshot(`
      "             Nopa                   Nopa Corner            id-3
                                                                 not_found: no
                                                                 restaurant has this
                                                                 id
      Grade        A                      B+
      Price        $$$                    -

      Summary      Wood-fired cooking in  -
                   a lively room that
                   stays open late.

      City         San Francisco          San Francisco
      Coordinates  lat 37.77, lng         -
                   -122.43
      Phone        -                      +1 415

      Hours
        Monday     17:00                  -
        Tuesday    closed                 -

      Dishes       • Pork chop, price 34  -
                   • Flatbread with a
                     very long name,
                     price 9, note new

      Service ID   a7c1e5d2-3f84-4b69-    -
                   9d20-6e8f1b4c7a53"
    `);
  });

  it('leaves out other columns', () => {
    const lines = comparisonLines([NOPA, CORNER], ['name', 'grade'], viewOf(60));
    expect(lines).toEqual([
      '       Nopa                       Nopa Corner',
      'Grade  A                          B+',
    ]);
  });

  it('uses one form for all lists of a row, with identifiers last', () => {
    const near = (name: string) => ({
      service_id: 'a7c1',
      name,
      distance: 91,
    });
    const dishes = [
      { name: 'a', price: 1 },
      { name: 'b', price: 2 },
    ];
    const text = compare(
      [
        { restaurantId: 'x', output: { name: 'X', dishes, nearby: [near('Nopa'), near('Zuni')] } },
        {
          restaurantId: 'y',
          output: { name: 'Y', dishes: [...dishes, { name: 'c'.repeat(60) }], nearby: [] },
        },
      ],
      viewOf(90),
    );
    expect(text).toMatch(/Dishes +• a, price 1 +• a, price 1/);
    expect(text).toMatch(/Nearby +• Nopa, distance 91, service ID a7c1 +none/);
  });

  it('dims equal values', () => {
    const text = compare([NOPA, CORNER], { ...viewOf(80), palette: palette(1) }) ?? '';
    expect(text).toContain('\u001b[2mSan Francisco\u001b[22m');
    expect(text).toContain('\u001b[1mA\u001b[22m');
  });

  it.each([
    ['one alone', [NOPA], 200],
    ['five', [NOPA, CORNER, GONE, NOPA, CORNER], 200],
    ['a narrow terminal', [NOPA, CORNER], 40],
    ['four at 80 columns', [NOPA, CORNER, GONE, NOPA], 80],
    ['failures alone', [GONE, GONE], 80],
  ])('returns nothing for %s', (_, items, columns) => {
    expect(comparisonLines(items, undefined, viewOf(columns))).toBeUndefined();
    expect(renderLookup(items, undefined, viewOf(columns))).not.toBe('');
  });

  it('keeps its width and contains nothing harmful', () => {
    const item = fc.oneof(
      hostileRecord.map((output): Outcome => ({ restaurantId: 'id', output })),
      fc.constant(GONE),
    );
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 50, max: 200 }),
        (items, columns) => {
          expectHarmless((view) => renderLookup(items, undefined, view), columns);
        },
      ),
      { numRuns: 50 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../../../src/client/types.ts';
import { AppError } from '../../../../src/errors.ts';
import { present } from '../../../../src/output/formats.ts';
import { comparisonLines, lookupPresentation, renderLookup } from '../../../../src/output/render/lookup.ts';
import { palette } from '../../../../src/output/style.ts';
import { width } from '../../../../src/util/text.ts';
import { viewOf } from '../../../helpers/hostile.ts';

type Output = Record<string, unknown>;

const RICH = {
  grade: 'A',
  tldr: 'Wood-fired Californian cooking in a lively room that stays open late.',
  cuisine: ['californian', 'american'],
  price_level: '$$$',
  name: 'Nopa',
  service_id: 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53',
  openNow: true,
  michelin: null,
  tags: ['lively', 'late night'],
  hours: { mon: '17:00–24:00', tue: [] },
  highlights: ['Vegetables from the market across the street', 'Late-night kitchen'],
  dishes: [
    { name: 'Pork chop', note: 'Brined for a day and grilled over almond wood', price: { usd: 34 } },
    'Flatbread',
  ],
};
const OTHER_SPELLINGS = {
  displayName: 'Nopa',
  Letter_Grade: 'B',
  shortSummary: 'Fine.',
  CuisineTags: ['thai'],
  price_tier: 2,
};
const HOURS = {
  sunday: [
    { open: '11:00', close: '14:30' },
    { open: '18:00', close: '23:00' },
  ],
  holidays: { open: '18:00', close: null },
};

const named = (output: Output): Lookup => ({ restaurantId: String(output.service_id ?? 'id-1'), output });
const card = (output: Output, columns: number, keys?: readonly string[]): string =>
  renderLookup([named(output)], keys, viewOf(columns));

describe('renderLookup', () => {
  it('lays out any fields as a card', () => {
    const cards = [
      ['# all kinds of fields, at 40 columns', card(RICH, 40)],
      ['# only the selected fields', card(RICH, 60, ['name', 'hours.mon'])],
      ['# a heading with other spellings of its keys', card(OTHER_SPELLINGS, 60)],
      [
        '# a heading in the only object',
        card({ status: 'ok', restaurant: { name: 'Nopa', phone: '1' } }, 60),
      ],
      [
        '# fields that fit no heading',
        card({ grade: { letter: 'A', score: 91 }, price: null, cuisine: [] }, 60),
      ],
      ['# ranges of time', card({ name: 'Nopa', hours: HOURS }, 60)],
      [
        '# several, without Unicode',
        renderLookup([named({ name: 'Nopa', grade: 'A' }), named({})], undefined, viewOf(40, false)),
      ],
    ];
    expect(cards.flat().join('\n\n')).toMatchInlineSnapshot(`
      "# all kinds of fields, at 40 columns

      A  Nopa
      californian, american · $$$

      Wood-fired Californian cooking in a
      lively room that stays open late.

      Open now  yes
      Tags      lively, late night

      Hours
        Mon  17:00–24:00
        Tue  closed

      Highlights
        • Vegetables from the market across
          the street
        • Late-night kitchen

      Dishes
        • Name   Pork chop
          Note   Brined for a day and grilled
                 over almond wood
          Price  usd 34
        • Flatbread

      No data     Michelin
      Service ID
        a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53

      # only the selected fields

      Nopa

      Hours          mon 17:00–24:00
      Restaurant ID  a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53

      # a heading with other spellings of its keys

      B  Nopa
      thai · Price tier 2

      Fine.

      Restaurant ID  id-1

      # a heading in the only object

      Nopa

      Phone          1
      Restaurant ID  id-1

      # fields that fit no heading

      id-1

      Grade    letter A, score 91
      Cuisine  none
      No data  Price

      # ranges of time

      Nopa

      Hours
        Sunday    11:00 to 14:30, 18:00 to 23:00
        Holidays  open 18:00, close -

      Restaurant ID  id-1

      # several, without Unicode

      A  Nopa

      Restaurant ID  id-1

      ----------------------------------------

      id-1"
    `);
    expect(renderLookup([], undefined, viewOf(40))).toBe('');
  });

  it('keeps running text readable at 200 columns', () => {
    const lines = card({ summary: 'word '.repeat(60) }, 200).split('\n');
    expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(88);
  });

  it('colors grade and name', () => {
    const view = { ...viewOf(60), palette: palette(1) };
    const [heading] = renderLookup([named({ name: 'Nopa', grade: 'A' })], undefined, view).split('\n');
    expect(heading).toBe('\u001b[1mA\u001b[22m  \u001b[1mNopa\u001b[22m');
  });

  it('drops no text', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 1, maxLength: 4 });
    const record = fc.dictionary(
      fc.stringMatching(/^[a-z]{3,9}$/),
      fc.oneof(
        words,
        words.map(([word]) => ({ inner: [{ word }] })),
      ),
    );
    const wordsOf = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsOf) : [value];
    fc.assert(
      fc.property(record, fc.integer({ min: 40, max: 200 }), (output, columns) => {
        const text = card(output, columns).replace(/\s+/g, ' ');
        for (const word of wordsOf(output)) expect(text).toContain(word);
      }),
    );
  });
});

const NOPA = named({
  status: 'ok',
  service_id: RICH.service_id,
  name: 'Nopa',
  grade: 'A',
  tldr: RICH.tldr,
  price_level: '$$$',
  city: 'San Francisco',
  coordinates: { lat: 37.77, lng: -122.43 },
  hours: { monday: '17:00', tuesday: [] },
  dishes: [
    { name: 'Pork chop', price: 34 },
    { name: 'Flatbread with a very long name', price: 9, note: 'new' },
  ],
  nearby: [],
});
const CORNER = named({
  status: 'ok',
  name: 'Nopa Corner',
  grade: 'B+',
  city: 'San Francisco',
  phone: '+1 415',
  hours: null,
  dishes: [{ name: 'Soup', price: 7 }],
  nearby: [{ service_id: 'a7c1', name: 'Nopa', distance: 91 }],
});
const GONE: Lookup = { restaurantId: 'id-3', error: new AppError('not_found', 'no restaurant has this id') };

describe('comparisonLines', () => {
  it('shows fields as rows and restaurants as columns, lists in one form, and identifiers last', () => {
    expect(comparisonLines([NOPA, CORNER, GONE], undefined, viewOf(80))?.join('\n')).toMatchInlineSnapshot(`
      "             Nopa                   Nopa Corner            id-3
                                                                 not_found: no
                                                                 restaurant has this
                                                                 id
      Grade        A                      B+
      Price        $$$                    -

      Summary      Wood-fired             -
                   Californian cooking
                   in a lively room that
                   stays open late.

      City         San Francisco          San Francisco
      Coordinates  lat 37.77, lng         -
                   -122.43
      Phone        -                      +1 415

      Hours
        Monday     17:00                  -
        Tuesday    closed                 -

      Dishes       • Pork chop, price 34  • Soup, price 7
                   • Flatbread with a
                     very long name,
                     price 9, note new

      Nearby       none                   • Nopa, distance 91,
                                            service ID a7c1

      Service ID   a7c1e5d2-3f84-4b69-    -
                   9d20-6e8f1b4c7a53"
    `);
  });

  it('dims equal values', () => {
    const lines = comparisonLines([NOPA, CORNER], undefined, { ...viewOf(80), palette: palette(1) });
    expect(lines?.join('\n')).toContain('\u001b[2mSan Francisco\u001b[22m');
    expect(lines?.join('\n')).toContain('\u001b[1mA\u001b[22m');
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
});

it('shows a failure in its place, and not as a record', async () => {
  const options = { prettyJson: false, guardFormulas: true, view: viewOf(40), columns: ['grade'] };
  const data = lookupPresentation([GONE, CORNER], false, 0);
  const table = await present(data, 'table', options);
  expect(table.split('\n').slice(0, 3)).toEqual(['id-3', 'not_found: no restaurant has this id', '']);
  expect(await present(data, 'tsv', options)).toBe('B+\n');
  const error = { restaurant_id: 'id-3', error: expect.objectContaining({ code: 'not_found' }) };
  expect(data.selectColumns(['grade'])).toEqual([error, { restaurant_id: 'id-1', output: { grade: 'B+' } }]);
  expect(lookupPresentation([CORNER], true, 0).selectColumns(['grade'])).toEqual({ grade: 'B+' });
});

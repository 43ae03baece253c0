import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { present } from '../../../../src/output/formats.ts';
import { lookupEntries } from '../../../../src/output/lookup-entry.ts';
import { lookupPresentation, renderLookup } from '../../../../src/output/render/lookup.ts';
import { palette } from '../../../../src/output/style.ts';
import { width } from '../../../../src/util/text.ts';
import { expectHarmless, hostileRecord, viewOf } from '../../../helpers/hostile.ts';

const ID = '3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91';
const BASIC = {
  grade: 'A',
  tldr: 'Wood-fired Californian cooking in a lively room that stays open late.',
  cuisine: ['californian', 'american'],
  price_level: '$$$',
};
const RICH = {
  ...BASIC,
  name: 'Nopa',
  service_id: ID,
  phone: '+1 415 864 8643',
  openNow: true,
  michelin: null,
  tags: ['lively', 'late night'],
  hours: { mon: '17:00–24:00', sat: '11:00–14:30, 17:00–01:00' },
  highlights: ['Vegetables from the market across the street', 'Late-night kitchen'],
  reviews: [
    { source: 'Eater', score: 8.5 },
    { source: 'The Infatuation', score: 9 },
  ],
  dishes: [
    { name: 'Pork chop', note: 'Brined for a day and grilled over almond wood', price: { usd: 34 } },
    'Flatbread',
  ],
};

function card(output: Record<string, unknown>, columns: number): string {
  return renderLookup([{ restaurantId: ID, output }], undefined, viewOf(columns));
}

describe('renderLookup', () => {
  it('renders the basic level as a card', async () => {
    expect(card(BASIC, 60)).toMatchInlineSnapshot(`
      "A  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91
      californian, american · $$$

      Wood-fired Californian cooking in a lively room that stays
      open late."
    `);
  });

  it('lays out the rest, and wraps it at 40 columns', async () => {
    expect(card(RICH, 40)).toMatchInlineSnapshot(`
      "A  Nopa
      californian, american · $$$

      Wood-fired Californian cooking in a
      lively room that stays open late.

      Phone     +1 415 864 8643
      Open now  yes
      Tags      lively, late night

      Hours
        Mon  17:00–24:00
        Sat  11:00–14:30, 17:00–01:00

      Highlights
        • Vegetables from the market across
          the street
        • Late-night kitchen

      Reviews
        SOURCE           SCORE
        Eater              8.5
        The Infatuation      9

      Dishes
        • Name   Pork chop
          Note   Brined for a day and grilled
                 over almond wood
          Price  usd 34
        • Flatbread

      No data     Michelin
      Service ID
        3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91"
    `);
  });

  it('keeps running text readable at 200 columns', async () => {
    const lines = card({ summary: 'word '.repeat(60) }, 200).split('\n');
    expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(88);
  });

  it('recognizes the usual keys in any spelling', async () => {
    const output = {
      displayName: 'Nopa',
      Letter_Grade: 'B',
      shortSummary: 'Fine.',
      CuisineTags: ['thai'],
      price_tier: 2,
    };
    expect(card(output, 60)).toMatchInlineSnapshot(`
      "B  Nopa
      thai · Price tier 2

      Fine.

      Restaurant ID  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91"
    `);
  });

  it('finds them in the only object of an output', async () => {
    expect(
      card({ status: 'ok', restaurant: { name: 'Nopa', grade: 'A', phone: '1' } }, 60),
    ).toMatchInlineSnapshot(`
      "A  Nopa

      Phone          1
      Restaurant ID  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91"
    `);
  });

  it('shows unusable heading fields with the rest', async () => {
    expect(card({ grade: { A: 3, score: 91 }, price: null, cuisine: [] }, 60)).toMatchInlineSnapshot(`
      "3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91

      Grade    A 3, score 91
      Cuisine  none
      No data  Price"
    `);
  });

  it('writes ranges and small objects in one line', async () => {
    const output = {
      name: 'Nopa',
      hours: {
        monday: [],
        tuesday: [{ open: '18:00', close: '23:30' }],
        sunday: [
          { open: '11:00', close: '14:30' },
          { open: '18:00', close: '23:00' },
        ],
        holidays: { open: '18:00', close: null },
      },
      coordinates: { lat: 37.77, lng: -122.43 },
    };
    expect(card(output, 60)).toMatchInlineSnapshot(`
      "Nopa

      Coordinates  lat 37.77, lng -122.43

      Hours
        Monday    closed
        Tuesday   18:00 to 23:30
        Sunday    11:00 to 14:30, 18:00 to 23:00
        Holidays  open 18:00, close -

      Restaurant ID  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91"
    `);
  });

  it('separates several with a rule', async () => {
    const items = [
      { restaurantId: 'id-1', output: { name: 'Nopa', grade: 'A' } },
      { restaurantId: 'id-2', output: {} },
    ];
    expect(renderLookup(items, undefined, viewOf(40, false))).toMatchInlineSnapshot(`
      "A  Nopa

      Restaurant ID  id-1

      ----------------------------------------

      id-2"
    `);
    expect(renderLookup([], undefined, viewOf(40))).toBe('');
  });

  it('shows only the selected keys', async () => {
    expect(
      renderLookup([{ restaurantId: ID, output: RICH }], ['name', 'hours.mon'], viewOf(60)),
    ).toMatchInlineSnapshot(`
      "Nopa

      Hours          mon 17:00–24:00
      Restaurant ID  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91"
    `);
  });

  it('colors grade and name', async () => {
    const colored = renderLookup([{ restaurantId: ID, output: { name: 'Nopa', grade: 'A' } }], undefined, {
      ...viewOf(60),
      palette: palette(1),
    });
    expect(colored.split('\n')[0]).toBe('\u001b[1mA\u001b[22m  \u001b[1mNopa\u001b[22m');
  });

  it('drops no text, keeps its width and contains nothing harmful', async () => {
    fc.assert(
      fc.property(hostileRecord, fc.integer({ min: 12, max: 200 }), (output, columns) => {
        expectHarmless((view) => renderLookup([{ restaurantId: ID, output }], undefined, view), columns);
      }),
    );
    const words = fc.array(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 1, maxLength: 4 });
    const plainRecord = fc.dictionary(
      fc.stringMatching(/^[a-z]{3,9}$/),
      fc.oneof(
        words,
        words.map(([word]) => ({ inner: [{ word }] })),
      ),
    );
    fc.assert(
      fc.property(plainRecord, fc.integer({ min: 40, max: 200 }), (output, columns) => {
        const text = card(output, columns).replace(/\s+/g, ' ');
        for (const word of JSON.stringify(Object.values(output)).match(
          /(?<=")(?!inner|word"|word:)[a-z]+(?="[,\]}])/g,
        ) ?? []) {
          expect(text).toContain(word);
        }
      }),
    );
  });
});

describe('lookupPresentation', () => {
  const options = { prettyJson: false, guardFormulas: true, view: viewOf(80) };
  const GONE = { restaurantId: 'x', error: new AppError('not_found', 'no restaurant x') };

  it('of one restaurant is its output; rows start with the id', async () => {
    const data = lookupPresentation([{ restaurantId: ID, output: BASIC }], true, 0);
    expect(data.selectColumns(['grade'])).toEqual({ grade: 'A' });
    expect((await present(data, 'csv', options)).split('\n')[0]).toBe(
      'restaurant_id,grade,tldr,cuisine,price_level',
    );
    expect(await present(data, 'ndjson', options)).toBe(`${JSON.stringify(BASIC)}\n`);
  });

  it('of a list is an array with the failures', async () => {
    const outcomes = [{ restaurantId: ID, output: BASIC }, GONE];
    const error = { restaurant_id: 'x', error: expect.objectContaining({ code: 'not_found' }) };
    const data = lookupPresentation(outcomes, false, 0);
    expect(lookupEntries(outcomes)).toEqual([{ restaurant_id: ID, output: BASIC }, error]);
    expect(data.selectColumns(['grade'])).toEqual([{ restaurant_id: ID, output: { grade: 'A' } }, error]);
    expect(await present(data, 'tsv', { ...options, columns: ['restaurant_id', 'grade'] })).toBe(
      `${ID}\tA\n`,
    );
  });

  it('shows a failure in its place and not as a record', async () => {
    const data = lookupPresentation([GONE, { restaurantId: ID, output: BASIC }], false, 0);
    const table = await present(data, 'table', { ...options, view: viewOf(40) });
    expect(table.split('\n').slice(0, 2)).toEqual(['x', 'not_found: no restaurant x']);
    expect(await present(data, 'tsv', { ...options, columns: ['grade'] })).toBe('A\n');
  });
});

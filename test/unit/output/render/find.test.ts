import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { present } from '../../../../src/output/formats.ts';
import { findPresentation, renderFind } from '../../../../src/output/render/find.ts';
import { SUMMARY_COLUMNS } from '../../../../src/util/restaurant.ts';
import { expectHarmless, hostileJson, hostileRecord, viewOf } from '../../../helpers/hostile.ts';

const NOPA = {
  service_id: '3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91',
  name: 'Nopa',
  address: '560 Divisadero St, San Francisco, CA 94117',
  coordinates: { lat: 37.7749, lng: -122.4376 },
  city: 'San Francisco',
  neighborhood: 'North of the Panhandle',
  cuisine_tags: ['californian', 'american'],
  grade: 'A',
  coverage_level: 'full',
};
const SAITO = {
  service_id: '9d0e7f32-1b2a-4f6e-8a53-c4b7d6e5f012',
  name: '鮨さいとう',
  address: '東京都港区六本木1-4-5',
  city: 'San Francisco',
  neighborhood: '六本木',
  cuisine_tags: ['sushi'],
  grade: 'B+',
};
const RESTAURANTS = [NOPA, SAITO, null];
const all = {};

function table(...args: Parameters<typeof renderFind>): string {
  return [...renderFind(...args)].join('\n');
}

describe('renderFind', () => {
  it('shows what fits the width, and lists the fields if nothing does', () => {
    const tables = [20, 40, 60, 80, 200].map((columns) => table(RESTAURANTS, all, viewOf(columns)));
    expect(`\n${tables.join('\n\n')}\n`).toMatchInlineSnapshot(`
      "
      #        1
      Name     Nopa
      Grade    A
      Cuisine
        californian,
        american
      Neighborhood
               North of
               the
               Panhandle
      Address  560
               Divisadero
               St, San
               Francisco,
               CA 94117

      #        2
      Name     鮨さいとう
      Grade    B+
      Cuisine  sushi
      Neighborhood
               六本木
      Address  東京都港区
               六本木1-4-5

      #     3
      Name  (unreadable)

      #  NAME          GRADE  CUISINE
      1  Nopa          A      californian, am…
      2  鮨さいとう    B+     sushi
      3  (unreadable)  -      -

      #  NAME          GRADE  CUISINE         ADDRESS
      1  Nopa          A      californian…    560 Divisadero St…
      2  鮨さいとう    B+     sushi           東京都港区六本木1-4…
      3  (unreadable)  -      -               -

      #  NAME          GRADE  CUISINE           NEIGHBORHOOD      ADDRESS
      1  Nopa          A      californian, am…  North of the Pa…  560 Divisadero St…
      2  鮨さいとう    B+     sushi             六本木            東京都港区六本木1-4…
      3  (unreadable)  -      -                 -                 -

      #  NAME          GRADE  CUISINE                NEIGHBORHOOD            ADDRESS                                     SERVICE ID
      1  Nopa          A      californian, american  North of the Panhandle  560 Divisadero St, San Francisco, CA 94117  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91
      2  鮨さいとう    B+     sushi                  六本木                  東京都港区六本木1-4-5                       9d0e7f32-1b2a-4f6e-8a53-c4b7d6e5f012
      3  (unreadable)  -      -                      -                       -                                           -
      "
    `);
  });

  it('shows the city if there are several', async () => {
    const other = { ...SAITO, city: 'Tokyo' };
    expect(table([NOPA, other], all, viewOf(100)).split('\n')[0]).toMatch(/ADDRESS +CITY/);
  });

  it('shows exactly the selected columns, as a list if there is no room', async () => {
    const columns = ['name', 'service_id', 'lat', 'extra'];
    expect(table([{ ...NOPA, extra: { a: 1 } }], { columns }, viewOf(80))).toMatchInlineSnapshot(`
      "#  NAME  SERVICE ID                                LAT  EXTRA
      1  Nopa  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91  37.7749  {"a":1}"
    `);
    expect(table([NOPA], { columns }, viewOf(42))).toMatchInlineSnapshot(`
      "#           1
      Name        Nopa
      Service ID
        3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91
      Lat         37.7749"
    `);
  });

  it('contains nothing harmful and keeps its width for any data', async () => {
    const restaurants = fc.array(fc.oneof(hostileRecord, hostileJson), { maxLength: 4 });
    fc.assert(
      fc.property(restaurants, fc.integer({ min: 10, max: 200 }), (results, columns) => {
        expectHarmless((view) => table(results, all, view), columns);
      }),
    );
  });

  it('links names to a map', async () => {
    const lines = table([SAITO, NOPA], all, { ...viewOf(80), links: true }).split('\n');
    expect(lines[1]).not.toContain('\u001b');
    expect(lines[2]).toContain(
      '/?mlat=37.7749&mlon=-122.4376#map=18/37.7749/-122.4376\u001b\\Nopa\u001b]8;;',
    );
  });
});

describe('findPresentation', () => {
  const options = { prettyJson: false, guardFormulas: true, view: viewOf(80) };
  const output = { status: 'ok', results: [NOPA, SAITO], total_matches: 2, extra: 1 };
  const data = findPresentation(output, output.results, { name: 'Nopa', city: 'SF', total: 2, at: 0 });

  it('has the documented columns in TSV', async () => {
    expect(await present(data, 'tsv', options)).toBe(
      [
        `${NOPA.service_id}\tNopa\tA\tcalifornian; american\tNorth of the Panhandle\tSan Francisco\t560 Divisadero St, San Francisco, CA 94117\t37.7749\t-122.4376\tfull`,
        `${SAITO.service_id}\t鮨さいとう\tB+\tsushi\t六本木\tSan Francisco\t東京都港区六本木1-4-5\t\t\t`,
        '',
      ].join('\n'),
    );
    expect((await present(data, 'csv', options)).split('\n')[0]).toBe(SUMMARY_COLUMNS.join(','));
  });

  it('keeps the document around reduced results', () => {
    expect(data.selectColumns(['name', 'lat'])).toEqual({
      ...output,
      results: [{ name: 'Nopa', coordinates: { lat: 37.7749 } }, { name: '鮨さいとう' }],
    });
  });
});

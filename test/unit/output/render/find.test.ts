import { describe, expect, it } from 'vitest';
import { renderFind } from '../../../../src/output/render/find.ts';
import { viewOf } from '../../../helpers/hostile.ts';

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
const table = (...args: Parameters<typeof renderFind>): string => [...renderFind(...args)].join('\n');

describe('renderFind', () => {
  it('shows the most important columns that fit the width', () => {
    const tables = [40, 60].map((columns) => table(RESTAURANTS, all, viewOf(columns)));
    expect(`\n${tables.join('\n\n')}\n`).toMatchInlineSnapshot(`
      "
      #  NAME          GRADE  CUISINE
      1  Nopa          A      californian, am…
      2  鮨さいとう    B+     sushi
      3  (unreadable)  -      -

      #  NAME          GRADE  CUISINE         ADDRESS
      1  Nopa          A      californian…    560 Divisadero St…
      2  鮨さいとう    B+     sushi           東京都港区六本木1-4…
      3  (unreadable)  -      -               -
      "
    `);
  });

  it('shows the city if there are several', () => {
    const other = { ...SAITO, city: 'Tokyo' };
    expect(table([NOPA, other], all, viewOf(100)).split('\n')[0]).toMatch(/ADDRESS +CITY/);
  });

  it('shows exactly the selected columns, as a list if there is no room', () => {
    const columns = ['name', 'service_id', 'lat', 'extra'];
    expect(table([{ ...NOPA, extra: { a: 1 } }], { columns }, viewOf(80))).toMatchInlineSnapshot(`
      "#  NAME  SERVICE ID                                LAT  EXTRA
      1  Nopa  3f2b8c1e-7a4d-4c9b-9e21-5d0c6a7b8e91  37.7749  {"a":1}"
    `);
    expect(table([NOPA], { columns }, viewOf(42))).toBe(
      `#           1\nName        Nopa\nService ID\n  ${NOPA.service_id}\nLat         37.7749`,
    );
  });

  it('links names to a map', () => {
    const lines = table([SAITO, NOPA], all, { ...viewOf(80), links: true }).split('\n');
    expect(lines[1]).not.toContain('\u001b');
    expect(lines[2]).toContain(
      '/?mlat=37.7749&mlon=-122.4376#map=18/37.7749/-122.4376\u001b\\Nopa\u001b]8;;',
    );
  });
});

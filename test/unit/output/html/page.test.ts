import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import type { PageDocument } from '../../../../src/output/html/document.ts';
import { renderPage } from '../../../../src/output/html/page.ts';
import { findPage, lookupPage } from '../../../../src/output/html/rows.ts';
import { hostileRecord, hostileText } from '../../../helpers/hostile.ts';

const ASSET = { script: 'document.title', style: 'body{margin:0}' };
const ASKED = { name: 'Nopa', city: 'SF', total: 7, at: Date.UTC(2026, 10, 21, 12, 48) };
const NOPA = {
  service_id: 'a7c1',
  name: 'Nopa',
  address: '560 Divisadero St',
  coordinates: { lat: 37.7749, lng: -122.4376 },
  city: 'San Francisco',
  neighborhood: 'NoPa',
  cuisine_tags: ['californian', 'brunch'],
  grade: 'A',
  coverage_level: 'full',
  seats: { bar: true, rooms: [{ name: 'front', tables: 4 }] },
};

/** Returns the elements of a page as a browser finds them: an element ends at its first end tag. */
function scriptsOf(html: string): { attributes: string; text: string }[] {
  return [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script/gi)].map(([, attributes = '', text = '']) => ({
    attributes,
    text,
  }));
}

function dataOf(html: string): { head: Omit<PageDocument, 'rows'>; rows: PageDocument['rows'] } {
  const [head, rows] = scriptsOf(html);
  return { head: JSON.parse(head?.text ?? ''), rows: JSON.parse(rows?.text ?? '') };
}

describe('a page', () => {
  const html = renderPage(findPage([NOPA], ASKED), ASSET);

  it('is one document whose content security policy allows only its own script', () => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain('<title>Nopa in SF · restaurant</title>');
    expect(html).toContain('<h1 dir="auto">Nopa in SF</h1>');
    expect(html).toContain('<li>1 of 7 matches</li>');
    expect(html).toContain('<time datetime="2026-11-21T12:48:00.000Z">2026-11-21 12:48 UTC</time>');
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hash(ASSET.script)}`,
      `style-src ${hash(ASSET.style)}`,
      'img-src https://tile.openstreetmap.org data:',
      'connect-src https://tile.openstreetmap.org',
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html).not.toMatch(/ (?:src|href)="(?!#)|@import|\son\w+=| style="/);
  });

  it.each([
    ['a', ['mexican', 'grade A or better'], 'mexican, grade A or better, in SF'],
    ['Nopa', ['grade B'], 'Nopa, grade B, in SF'],
    ['a', [], 'a in SF'],
  ])('has a title with the filters of %s: %j', (name, filters, heading) => {
    expect(findPage([NOPA], { ...ASKED, name, filters }).heading).toBe(heading);
  });

  it('is a card for one restaurant, and a comparison for two to four', () => {
    const page = (...ids: string[]) =>
      lookupPage(
        ids.map((restaurantId) => ({ restaurantId, output: { ...NOPA, seats: { bar: restaurantId } } })),
        0,
      );
    expect(page('a')).toMatchObject({ isCard: true, heading: 'Nopa' });
    expect(page('a').comparison).toBeUndefined();
    const { isCard, comparison = [] } = page('a', 'b');
    expect(isCard).toBeUndefined();
    expect(comparison.map(({ label, level, cells }) => [label, level, cells])).toEqual([
      ['Grade', 0, ['A', 'A']],
      ['Cuisine', 0, ['californian, brunch', 'californian, brunch']],
      ['Address', 0, ['560 Divisadero St', '560 Divisadero St']],
      ['Neighborhood', 0, ['NoPa', 'NoPa']],
      ['City', 0, ['San Francisco', 'San Francisco']],
      ['Coordinates', 0, ['lat 37.7749, lng -122.4376', 'lat 37.7749, lng -122.4376']],
      ['Seats', 0, ['bar a', 'bar b']],
      ['Coverage level', 0, ['full', 'full']],
      ['Service ID', 0, ['a7c1', 'a7c1']],
    ]);
    const five = page('a', 'b', 'c', 'd', 'e');
    expect(five.isCard ?? five.comparison).toBeUndefined();
    const failed = { restaurantId: 'x', error: new AppError('not_found', 'there is no such id') };
    for (const page of [lookupPage([failed], 0), lookupPage([failed, failed], 0)])
      expect(page.isCard ?? page.comparison).toBeUndefined();
  });

  it('has small tables, the days of the week, and a link to call', () => {
    const dishes = [
      { name: 'Pork chop', price: 34 },
      { name: 'Tofu', price: 21.5, vegetarian: true },
    ];
    const hours = { monday: [], tuesday: [{ open: '17:00', close: '22:00' }] };
    const output = {
      ...NOPA,
      dishes,
      hours,
      phone: '+1 (415) 555-0195',
      fax: '+1 415',
      closed_on: { monday: 1 },
    };
    const details = new Map(lookupPage([{ restaurantId: 'a', output }], 0).rows[0]?.details);
    expect(details.get('Dishes')).toEqual({
      head: ['Name', 'Price', 'Vegetarian'],
      numeric: [false, true, false],
      rows: [
        ['Pork chop', '34', ''],
        ['Tofu', '21.5', 'yes'],
      ],
    });
    expect(details.get('Hours')).toEqual({
      isWeek: true,
      pairs: [
        ['Monday', 'closed'],
        ['Tuesday', '17:00 to 22:00'],
      ],
    });
    expect(details.get('Phone')).toEqual({ href: 'tel:+14155550195', text: '+1 (415) 555-0195' });
    expect(details.get('Fax')).toBe('+1 415');
  });

  it('has a distance column if the results have distances', () => {
    const { columns, rows } = findPage([{ ...NOPA, distance_km: 1.2 }], ASKED);
    const place = columns.findIndex(({ label }) => label === 'Distance (km)');
    expect(rows[0]?.cells[place]).toBe(1.2);
    expect(findPage([NOPA], ASKED).columns.map(({ label }) => label)).not.toContain('Distance (km)');
  });

  it('shows each field once: in a cell or in the details', () => {
    const { head, rows } = dataOf(html);
    expect(head.columns.map(({ label }) => label).join()).toBe('Name,Grade,Cuisine,Neighborhood,Address');
    expect(rows).toEqual([
      {
        cells: ['Nopa', 'A', 'californian, brunch', 'NoPa', '560 Divisadero St'],
        point: [37.7749, -122.4376],
        details: [
          ['Service ID', 'a7c1'],
          ['Coordinates', 'lat 37.7749, lng -122.4376'],
          ['City', 'San Francisco'],
          ['Coverage level', 'full'],
          [
            'Seats',
            {
              pairs: [
                ['Bar', 'yes'],
                ['Rooms', { list: ['front, tables 4'] }],
              ],
            },
          ],
        ],
      },
    ]);
  });

  it('shows the selected columns only', () => {
    const { columns, rows } = findPage([NOPA], ASKED, ['name', 'seats.bar', 'lat']);
    expect(columns.map(({ label }) => label)).toEqual(['Name', 'Seats.bar', 'Latitude']);
    expect(rows[0]?.cells).toEqual(['Nopa', true, 37.7749].map((cell) => (cell === true ? 'true' : cell)));
    expect(JSON.stringify(rows)).not.toContain('Divisadero');
  });

  it('shows lookups, including failed ones', () => {
    const page = lookupPage(
      [
        {
          restaurantId: 'a7c1',
          output: { ...NOPA, tldr: 'Warm.', phone: '+1 415-555-0195', website: 'https://x.example' },
        },
        { restaurantId: 'b8d2', error: new AppError('not_found', 'there is no such id') },
      ],
      0,
    );
    expect(page).toMatchObject({ heading: '2 restaurants', notes: ['1 lookup failed'] });
    expect(page.columns.at(-1)).toEqual({ label: 'Result', kind: 'status' });
    expect(page.rows[0]).toMatchObject({ summary: 'Warm.', point: [37.7749, -122.4376] });
    expect(page.rows[0]?.cells.at(-1)).toBe('ok');
    expect(page.rows[0]?.details).toEqual(
      expect.arrayContaining([
        ['Phone', { href: 'tel:+14155550195', text: '+1 415-555-0195' }],
        ['Website', { href: 'https://x.example/', text: 'https://x.example' }],
      ]),
    );
    expect(page.rows[1]).toEqual({
      cells: ['b8d2', null, null, null, null, 'not_found'],
      details: [['Error', 'not_found: there is no such id']],
    });
    expect(lookupPage([{ restaurantId: 'a7c1', output: NOPA }], 0).heading).toBe('Nopa');
  });

  it('shows a field named like a column in the details if another field fills the column', () => {
    const output = { title: 'Nopa', name: { en: 'Nopa', ja: 'ノパ' }, price: { usd: 30 }, price_level: '$$' };
    const [row] = lookupPage([{ restaurantId: 'a7c1', output }], 0).rows;
    expect(row?.cells).toEqual(['Nopa', null, null, '$$', null]);
    expect(row?.details.map(([label]) => label)).toEqual(['Name', 'Price', 'Restaurant ID']);
  });

  it('links only web addresses, and puts only valid coordinates on the map', () => {
    const rows = [
      ...['javascript:alert(1)', '//evil.example', 'https:\\\\evil.example', 'data:text/html,x'],
      ...[
        'https://good.example@evil.example/',
        'https:///evil.example',
        'https://\u0430\u0440\u0440\u04cf\u0435.com/',
      ],
    ].map((website) => ({ name: 'x', website, coordinates: { lat: 90.1, lng: 0 } }));
    const page = findPage(rows, ASKED);
    expect(JSON.stringify(page.rows)).not.toContain('href');
    expect(page.rows.map(({ point }) => point)).toEqual(rows.map(() => undefined));
  });

  it('stays parsable with any text', () => {
    const markup = ['</script>', '<!--', '<script>', '\u2028', '"', "'", '&lt;', '</title>', '<b>', ']]>'];
    const nasty = fc
      .array(fc.oneof(fc.constantFrom(...markup), hostileText), { maxLength: 4 })
      .map((parts) => parts.join(''));
    const row = fc.oneof(
      hostileRecord,
      nasty.map((name) => ({ name, website: name, [name]: name })),
    );
    const OTHER_ELEMENTS =
      /<(?!\/?(?:!doctype|html|head|meta|title|style|body|a|header|p|h1|ul|li|time|noscript|main|footer|b|script)\b)/i;
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), nasty, (restaurants, name) => {
        const document = findPage(restaurants, { ...ASKED, name });
        const page = renderPage(document, ASSET);
        const { head, rows } = dataOf(page);
        expect(rows).toEqual(JSON.parse(JSON.stringify(document.rows)));
        expect(head.columns).toEqual(document.columns);
        const scripts = scriptsOf(page);
        expect(scripts.map(({ attributes }) => attributes)).toEqual([
          ' type="application/json" id="head"',
          ' type="application/json" id="rows"',
          ' type="application/json" id="left"',
          '',
        ]);
        expect(scripts.at(-1)?.text).toBe(ASSET.script);
        expect(page).not.toContain('<!--');
        expect(page).not.toMatch(OTHER_ELEMENTS);
        expect(page.match(/<title>/g)).toHaveLength(1);
      }),
      { numRuns: 150 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import type { PageDocument } from '../../../src/output/html/document.ts';
import { findPage, lookupPage, savedPage } from '../../../src/output/html/rows.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { hasBrowser, useChromium, violations } from './chromium.ts';

const ASKED = { name: 'Nopa', city: 'SF', total: 3, at: Date.UTC(2026, 10, 21) };
const PLACES = [
  {
    name: 'Nopa',
    grade: 'B+',
    address: '560 Divisadero St',
    coordinates: { lat: 37.7749, lng: -122.4376 },
    seats: 40,
  },
  { name: 'Fog & Fennel', grade: 'A-', address: '3160 18th St', coordinates: { lat: 37.762, lng: -122.415 } },
  { name: 'Café Ärger', grade: 'A', address: 'nowhere', coordinates: { lat: Number.NaN, lng: 0 } },
  { name: 'Zuni', grade: null, address: '1658 Market St', coordinates: { lat: 37.7734, lng: -122.4216 } },
];
const PLAIN: PageDocument = findPage(PLACES, ASKED);

/** The widths at which accessibility is checked. The layout is checked at every width. */
const CHECKED = fewOrAll([360], [1400, 1280, 800, 768, 360, 320]);

const PWN = 'window.__pwned=1';
const HOSTILE = [
  `</script><script>${PWN}</script>`,
  `<img src=x onerror=${PWN}>`,
  `"><svg onload=${PWN}>`,
  `' onmouseover='${PWN}`,
  `<!--<script>${PWN}`,
  `</style><style>@import "https://evil.example/x.css";</style>`,
  '\u202egnp.exe\u2066\u200b',
  'line\u2028separator\u2029',
  'n'.repeat(100_000),
  '{{constructor.constructor("x")()}}',
  '',
].map((name, index) => ({
  name,
  grade: name.slice(0, 50),
  address: name,
  website: [
    `javascript:${PWN}`,
    `https://ok.example/" onclick="${PWN}`,
    `data:text/html,<script>${PWN}</script>`,
  ][index % 3],
  phone: index === 0 ? `tel:${PWN}` : '+33 4 72 00 00 00',
  [name]: { [name]: [name, { name }] },
  coordinates: [
    { lat: -17.8, lng: 179.9 },
    { lat: -17.9, lng: -179.9 },
    { lat: 91, lng: 0 },
    { lat: '1', lng: 0 },
    { lat: 1e308, lng: Number.POSITIVE_INFINITY },
  ][index % 5],
}));

const DETAILS = {
  ...PLACES[0],
  phone: '+1 415 555 0195',
  hours: { monday: [], tuesday: { open: '17:00', close: '22:00' } },
  signature_dishes: [
    { name: 'Pork chop', price: 34 },
    { name: 'Flatbread', price: 18 },
  ],
};

describe.skipIf(!hasBrowser)('the page in Chromium', () => {
  const { open } = useChromium();

  it('runs nothing from the data, and sends requests to OpenStreetMap only', async () => {
    const document = findPage(HOSTILE, { ...ASKED, name: `</title><script>${PWN}</script>` });
    const { page, requests, complaints } = await open(document);
    const names = page.locator('button.name');
    expect(await names.count()).toBe(HOSTILE.length);
    await page.evaluate(`for (const name of document.querySelectorAll('button.name')) name.click()`);
    await page.evaluate(
      `for (const marker of document.querySelectorAll('.leaflet-marker-icon')) marker.click()`,
    );
    await page.locator('.leaflet-popup .name').waitFor();
    expect(await page.locator('tr.more').count()).toBe(HOSTILE.length);
    expect(await page.evaluate('window.__pwned')).toBeUndefined();
    const addresses = (await page.evaluate(
      `[...document.querySelectorAll('a')].map((a) => a.href + ' ' + a.rel)`,
    )) as string[];
    for (const address of addresses) expect(address).toMatch(/^(https:|tel:\+?\d+ |file:.*#)/);
    expect(await page.locator('tr.more a[href^="http"]:not([rel="noopener noreferrer"])').count()).toBe(0);
    expect(await page.evaluate('document.scripts.length')).toBe(1);
    expect(await page.locator('svg, iframe, object, embed, link, base').count()).toBe(0);
    expect(new Set(requests.map((url) => new URL(url).host))).toEqual(new Set(['tile.openstreetmap.org']));
    expect(complaints).toEqual([]);
    expect(await page.locator('#placed').textContent()).toBe('5 on the map, 6 without coordinates');
  });

  it.each([1, 2, 3, 4])('runs nothing from the details of %i restaurants', async (count) => {
    const items = HOSTILE.slice(0, count).map((output, index) => ({
      restaurantId: String(index),
      output: {
        ...output,
        dishes: [output, output].map(({ name, website }) => ({ name, website, [name]: name })),
      },
    }));
    const { page, complaints } = await open(lookupPage(items, 0));
    await page.evaluate(`for (const button of document.querySelectorAll('button')) button.click()`);
    await page.locator('#list').waitFor();
    expect(await page.evaluate('window.__pwned')).toBeUndefined();
    const unsafe = `[...document.querySelectorAll('a[href]')].filter(({ href }) => !/^(?:https:|tel:\\+?\\d+$|file:.*#)/.test(href)).length`;
    expect(await page.evaluate(unsafe)).toBe(0);
    expect(await page.locator('#list :is(script, svg, object, embed, link, base, style)').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('can be searched, sorted and read by keyboard, with list and map in sync', async () => {
    const { page, complaints } = await open(PLAIN);
    const names = async () =>
      (await page.locator('button.name').allTextContents()).map((name) => name.trim());
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the list');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('cafe arger');
    await page.keyboard.press('Enter');
    expect(await names()).toEqual(['Café Ärger']);
    expect(await page.locator('.count[role=status]').textContent()).toBe('1 of 4 rows');
    expect(await page.locator('.leaflet-marker-icon').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search the list' }).fill('');
    await page.keyboard.press('Enter');
    expect(await page.locator('.leaflet-marker-icon').count()).toBe(3);

    const grade = page.getByRole('columnheader', { name: 'Grade' });
    await grade.getByRole('button').focus();
    await page.keyboard.press('Enter');
    expect(await grade.getAttribute('aria-sort')).toBe('ascending');
    expect(await names()).toEqual(['Café Ärger', 'Fog & Fennel', 'Nopa', 'Zuni']);
    await page.keyboard.press('Space');
    expect(await grade.getAttribute('aria-sort')).toBe('descending');
    expect(await names()).toEqual(['Nopa', 'Fog & Fennel', 'Café Ärger', 'Zuni']);
    await page.keyboard.press('Enter');
    expect(await grade.getAttribute('aria-sort')).toBe('none');
    expect(await names()).toEqual(['Nopa', 'Fog & Fennel', 'Café Ärger', 'Zuni']);

    const fennel = page.getByRole('button', { name: 'Fog & Fennel' }).last();
    await fennel.focus();
    await page.keyboard.press('Enter');
    expect(await fennel.getAttribute('aria-expanded')).toBe('true');
    expect(await page.locator('tr[aria-current]').getByRole('rowheader').textContent()).toBe('Fog & Fennel');
    expect(await page.locator('.leaflet-popup .name').textContent()).toBe('Fog & Fennel');
    await page.keyboard.press('Enter');
    expect(await page.locator('tr.more').count()).toBe(0);

    // A marker is a button too; its popup leads to the row.
    await page.getByRole('button', { name: 'Fog & Fennel' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Details in the list' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').textContent()).toBe('Fog & Fennel');
    expect(await page.locator('tr.more').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('is readable and usable on every screen, %s', async (colorScheme) => {
    const output = { ...DETAILS, tldr: 'Warm.', url: 'https://x.example/y' };
    const error = new AppError('not_found', 'x'.repeat(200));
    const items = [
      { restaurantId: 'a', output },
      { restaurantId: 'b'.repeat(60), error },
      ...['c', 'd', 'e'].map((restaurantId) => ({ restaurantId, output })),
    ];
    const { page, complaints } = await open(lookupPage(items, 0), { colorScheme });
    await page.evaluate(
      `for (const name of [...document.querySelectorAll('button.name')].reverse()) name.click()`,
    );
    await page.locator('.leaflet-popup').waitFor();
    for (const width of [1400, 800, 360, 320]) {
      await page.setViewportSize({ width, height: 800 });
      // The map adapts to the window size after a short delay.
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'), {
          timeout: 30_000,
          message: `${width}`,
        })
        .toBeLessThanOrEqual(width);
      // The popup and the map may still be fading.
      if (CHECKED.includes(width))
        await expect.poll(() => violations(page), { timeout: 30_000, message: `${width}` }).toEqual([]);
    }
    expect(await page.getByRole('table', { name: '5 restaurants' }).count()).toBe(1);
    expect(await page.locator('.scroll > table > * > tr').count()).toBe(11);
    await page.getByRole('button', { name: 'Nopa' }).last().focus();
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.emulateMedia({ media: 'print' });
    for (const place of ['#map', 'form']) expect(await page.locator(place).isVisible(), place).toBe(false);
    expect(await page.locator('.scroll > table').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('shows tiles with their attribution, or the reason why they are missing', async () => {
    const [sent, refused, offline] = await Promise.all([
      open(PLAIN, { tiles: 'sent' }),
      open(PLAIN, { tiles: 'refused' }),
      open(PLAIN, { tiles: 'gone', offline: true }),
    ]);
    await sent.page.locator('img.leaflet-tile-loaded').first().waitFor();
    expect(await sent.page.locator('.leaflet-control-attribution').textContent()).toContain(
      '© OpenStreetMap contributors',
    );
    expect(sent.complaints).toEqual([]);
    for (const { page } of [refused, offline]) {
      await page.getByText('No street map: offline, or this page was opened as a file.').waitFor();
      expect(await page.locator('#map').isVisible()).toBe(false);
      const show = page.getByRole('button', { name: 'Show the map' });
      expect(await show.getAttribute('aria-expanded')).toBe('false');
      await show.click();
      // They are drawn when the size of the map is known.
      await page.locator('.leaflet-marker-icon').nth(2).waitFor();
      expect(await page.locator('.leaflet-marker-icon').count()).toBe(3);
      await page.getByRole('button', { name: 'Hide the map' }).click();
      // The details of a row lead to the map, which opens.
      await page.locator('button.name').first().click();
      expect(await page.locator('.leaflet-popup').count()).toBe(0);
      await page.getByRole('button', { name: 'Show on the map' }).click();
      expect(await page.locator('.leaflet-popup .name').innerText()).toBe('Nopa');
      const [strip, pin] = await Promise.all(
        ['.strip', '.leaflet-marker-icon.chosen'].map((part) => page.locator(part).boundingBox()),
      );
      expect((strip?.y ?? 0) + (strip?.height ?? 0)).toBeLessThan(pin?.y ?? 0);
      // A row that is opened while the map is hidden is selected when it is shown again.
      await page.getByRole('button', { name: 'Hide the map' }).click();
      const second = page.locator('button.name').nth(1);
      await second.click();
      await show.click();
      await page
        .locator('.leaflet-popup .name')
        .filter({ hasText: await second.innerText() })
        .waitFor();
      expect(await page.locator('.leaflet-popup').count()).toBe(1);
    }
    expect([await refused.page.locator('img').count(), refused.requests.length]).toEqual([0, 1]);
  });

  it('works without coordinates and without rows', async () => {
    const [bare, none] = await Promise.all([
      open(findPage([{ name: 'x' }, { name: 'y' }], ASKED)),
      open(findPage([], { ...ASKED, total: 0 })),
    ]);
    expect([await bare.page.locator('#map').count(), bare.requests]).toEqual([0, []]);
    expect(await bare.page.locator('button.name').count()).toBe(2);
    expect(await none.page.locator('main').textContent()).toBe('No restaurants.');
    const saved = await open(savedPage(PLACES, ASKED.at, ['name', 'grade', 'note']));
    for (const { page } of [bare, none, saved]) expect(await violations(page)).toEqual([]);
    await none.page.getByRole('link', { name: 'Skip to the list' }).press('Enter');
    expect(await none.page.evaluate('document.activeElement.id')).toBe('list');
  });

  it('shows the only result as a card, with nothing to search, sort, or count', async () => {
    const { page } = await open(findPage(PLACES.slice(0, 1), { ...ASKED, total: 20 }));
    for (const width of [1280, 768, 360]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.getByRole('searchbox').count()).toBe(0);
      expect(await page.locator('.sort:visible').count(), `${width}`).toBe(0);
      expect(await page.getByText('1 row', { exact: true }).isVisible()).toBe(false);
      expect(await page.getByText('560 Divisadero St').isVisible()).toBe(true);
      if (CHECKED.includes(width)) expect(await violations(page), `${width}`).toEqual([]);
    }
  });

  it('shows 5,000 rows in pages, and nearby ones as one marker', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => ({
      name: `Place ${index + 1}`,
      coordinates: { lat: 37.7 + (index % 71) / 700, lng: -122.5 + (index % 73) / 700 },
    }));
    const { page, complaints } = await open(findPage(many, ASKED));
    expect(await page.locator('tbody tr').count()).toBe(100);
    expect(await page.locator('.leaflet-marker-icon').count()).toBeLessThan(400);
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    expect(await page.locator('button.name').first().textContent()).toBe('Place 101');
    expect(await page.getByRole('navigation').textContent()).toContain('101 to 200 of 5,000');
    expect(complaints).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'reports that nothing matches, offers to clear the search, and breaks no accessibility rule, %s',
    async (colorScheme) => {
      const { page } = await open(PLAIN, { colorScheme });
      expect(await violations(page)).toEqual([]);
      await page.getByRole('searchbox').fill('zzz');
      await page.getByText('Nothing matches.').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.locator('table').isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Clear the search' }).press('Enter');
      expect(await page.locator('button.name').count()).toBe(4);
      expect(await page.evaluate('document.activeElement.id')).toBe('search');
    },
  );

  it('filters by grade, on the map too', async () => {
    const { page } = await open(PLAIN);
    const menu = page.getByRole('combobox', { name: 'Grade' });
    expect(await menu.locator('option').allTextContents()).toEqual(['All', 'A', 'A-', 'B+']);
    await menu.selectOption('A-');
    expect(await page.locator('button.name').allTextContents()).toEqual(['Fog & Fennel']);
    expect(await page.locator('.leaflet-marker-icon').count()).toBe(1);
  });

  it('marks groups on the map by a sign and a shape that differ from row numbers', async () => {
    const near = PLACES.slice(0, 2).map((place, index) => ({
      ...place,
      coordinates: { lat: 37.77, lng: -122.43 + index / 1e7 },
    }));
    const { page } = await open(findPage(near, ASKED));
    const group = page.locator('.leaflet-marker-icon.many');
    expect(await group.textContent()).toBe('×2');
    expect(await group.getAttribute('aria-label')).toBe('×2 restaurants. Zoom in');
  });

  it.each([360, 390, 414])('keeps popups inside the map on a phone %d pixels wide', async (width) => {
    const { page } = await open(PLAIN, { viewport: { width, height: 800 } });
    await page.locator('button.name').first().press('Enter');
    const [map, popup] = await Promise.all(
      ['#map', '.leaflet-popup-content-wrapper'].map((part) => page.locator(part).boundingBox()),
    );
    expect(popup?.x).toBeGreaterThanOrEqual(map?.x ?? Number.NaN);
    const right = (box: typeof map): number => (box?.x ?? Number.NaN) + (box?.width ?? Number.NaN);
    expect(right(popup ?? null)).toBeLessThanOrEqual(right(map ?? null));
  });

  it('shows every column and whole words of a report on a laptop', async () => {
    const kinds = ['name', 'text', 'status', 'text', 'grade', 'text', 'text'] as const;
    const columns = kinds.map((kind, index) => ({ label: `Column ${index}`, kind }));
    const texts = ['Contemporary Kitchen & Wine Bar', 'San Francisco', 'ambiguous', 'Contemporary Kitchen'];
    const cells = [...texts, 'B+', 'contemporary, californian, wine bar', '1550 Hyde Street, San Francisco'];
    const rows = [1, 2].map((row) => ({ cells, point: [37.7, -122.4 - row] as const, details: [] }));
    const document = { kind: 'Enriched list', heading: 'places.csv', notes: [], at: 0, columns, rows };
    const { page } = await open(document, { viewport: { width: 1280, height: 800 } });
    const [box, table] = await Promise.all(
      ['.scroll', 'table'].map((part) => page.locator(part).boundingBox()),
    );
    expect(table?.width).toBeLessThanOrEqual(box?.width ?? 0);
    const lines = await page.evaluate(`(() => {
      const word = [...document.querySelectorAll('td bdi')].find(({ textContent }) => textContent.startsWith('contemp'));
      const range = document.createRange();
      range.setStart(word.firstChild, 0);
      range.setEnd(word.firstChild, 'contemporary'.length);
      return range.getClientRects().length;
    })()`);
    expect(lines).toBe(1);
  });

  it.each([360, 768])(
    'gives the map at most two fifths of a screen %i pixels wide, with the list below',
    async (width) => {
      const { page } = await open(PLAIN, { viewport: { width, height: 740 } });
      await page.locator('.leaflet-marker-icon').first().waitFor();
      const [map, list] = await Promise.all(
        ['#map', '#list'].map((part) => page.locator(part).boundingBox()),
      );
      expect(map?.height).toBeLessThanOrEqual(740 * 0.4);
      expect(list?.y).toBeGreaterThan(map?.y ?? Number.NaN);
      expect(list?.y).toBeLessThan(740);
    },
  );

  it('opens the popup of a pin on a phone without moving the page, and leads to the list', async () => {
    const many = Array.from({ length: 40 }, (_, index) => ({
      name: `Place ${index + 1}`,
      coordinates: { lat: 37.7 + (index % 5) / 50, lng: -122.4 + Math.floor(index / 5) / 50 },
    }));
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const { page } = await open(findPage(many, ASKED), phone);
    const pin = page.locator('.leaflet-marker-icon', { hasText: /^40$/ });
    await pin.tap();
    await page.locator('.leaflet-popup').waitFor();
    expect(await page.locator('.leaflet-popup .name').innerText()).toBe('Place 40');
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await page.locator('tr[aria-current]').getAttribute('id')).toBe('row-40');
    await page.getByRole('button', { name: 'Details in the list' }).tap();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Place 40');
    expect(await page.evaluate('scrollY')).toBeGreaterThan(740);
  });

  it('begins with the city of most rows, and shows all cities on demand', async () => {
    const at = (name: string, lat: number, lng: number) => ({ name, coordinates: { lat, lng } });
    const world = [
      at('Sydney', -33.87, 151.2),
      at('Tokyo 1', 35.68, 139.76),
      at('Paris', 48.86, 2.35),
      at('Tokyo 2', 35.66, 139.7),
      at('Tokyo 3', 35.71, 139.8),
    ];
    const { page } = await open(findPage(world, ASKED));
    const pins = page.locator('.leaflet-marker-icon');
    await pins.first().waitFor();
    const names = await pins.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
    expect(names.sort()).toEqual(['2 Tokyo 1', '4 Tokyo 2', '5 Tokyo 3']);
    await page.getByRole('button', { name: 'Show all cities' }).click();
    await expect.poll(() => pins.count()).toBeGreaterThanOrEqual(3);
    expect(
      await pins.evaluateAll((all) => all.map((each) => each.textContent)).then((all) => all.sort()),
    ).toEqual(expect.arrayContaining(['1', '3']));
  });

  it.each(['light', 'dark'] as const)(
    'shows one restaurant as a card, and a few side by side, %s',
    async (colorScheme) => {
      const premium = {
        ...DETAILS,
        name: 'Nopa',
        grade: 'B+',
        tldr: 'Warm.',
        scores: { food: 9, service: 8 },
      };
      const other = { ...premium, name: 'Contemporary Kitchen', grade: 'A-' };
      const items = [premium, other, premium, other].map((output, index) => ({
        restaurantId: `r-${index}`,
        output,
      }));
      for (const count of [1, 2, 4]) {
        const { page, complaints } = await open(lookupPage(items.slice(0, count), 0), { colorScheme });
        await page.locator('.leaflet-marker-icon').first().waitFor();
        for (const width of [1280, 768, 360]) {
          await page.setViewportSize({ width, height: 800 });
          expect(await page.evaluate('document.documentElement.scrollWidth'), `${count}, ${width}`).toBe(
            width,
          );
          if (CHECKED.includes(width)) expect(await violations(page), `${count}, ${width}`).toEqual([]);
        }
        expect(await page.getByRole('searchbox').count()).toBe(0);
        if (count === 1) expect(await page.getByRole('table').count()).toBe(1);
        else {
          const names = items.slice(0, count).map(({ output }) => output.name);
          expect(await page.locator('thead .head bdi').allInnerTexts()).toEqual(names);
          expect(
            await page.locator('tr', { hasText: 'Grade' }).first().locator('td').allInnerTexts(),
          ).toEqual(items.slice(0, count).map(({ output }) => output.grade));
        }
        expect(complaints).toEqual([]);
      }
    },
  );

  it('shows every column and whole words of a report on a tablet', async () => {
    const kinds = ['name', 'text', 'status', 'text', 'grade', 'text', 'text'] as const;
    const columns = kinds.map((kind, index) => ({ label: `Column ${index}`, kind }));
    const street = 'Donaudampfschifffahrtsstra\u00dfe 12';
    const cells = [
      'Gastst\u00e4ttenverordnung',
      'Garmisch-Partenkirchen',
      'not_found',
      'Wirtshaus',
      'A',
      'bavarian',
      street,
    ];
    const rows = [1, 2].map(() => ({ cells, details: [] }));
    const document = { kind: 'Enriched list', heading: 'places.csv', notes: [], at: 0, columns, rows };
    const { page } = await open(document, { viewport: { width: 768, height: 1024 } });
    const [box, table] = await Promise.all(
      ['.scroll', '.scroll > table'].map((part) => page.locator(part).boundingBox()),
    );
    expect(table?.width).toBeLessThanOrEqual(box?.width ?? 0);
    // No line break within a word, except at a hyphen.
    const broken = `[...document.querySelectorAll('tbody bdi')].flatMap((element) => {
      const [text] = element.childNodes;
      return [...text.data.matchAll(/[^\\s-]+/g)].filter(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length > 1 && getComputedStyle(element).hyphens !== 'auto';
      }).map(String);
    })`;
    expect(await page.evaluate(broken)).toEqual([]);
    expect(await page.locator('[lang=de]').first().innerText()).toContain('stra\u00dfe');
  });

  it('shows address and phone in the popup, and local time, dishes and hours in the details', async () => {
    const items = [{ restaurantId: 'a', output: DETAILS }];
    const { page } = await open(lookupPage(items, Date.UTC(2026, 10, 21, 12)), {
      timezoneId: 'Asia/Tokyo',
      locale: 'en-GB',
    });
    await page.locator('.leaflet-marker-icon').click();
    const popup = page.locator('.leaflet-popup');
    expect(await popup.innerText()).toMatch(/560 Divisadero St.*\+1 415 555 0195/s);
    expect(await page.locator('time').textContent()).toBe('21 Nov 2026, 21:00');
    const dishes = page.getByRole('table').getByRole('row');
    expect(await dishes.allInnerTexts()).toEqual(['Name\tPrice', 'Pork chop\t34', 'Flatbread\t18']);
    expect(await page.locator('.card').innerText()).toContain('closed');
    expect(await page.getByRole('link', { name: '+1 415 555 0195' }).first().getAttribute('href')).toBe(
      'tel:+14155550195',
    );
  });

  it('marks today in the hours', async () => {
    const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
    const hours = Object.fromEntries(
      names.map((day, index) => [day, [{ open: `1${index}:00`, close: '22:00' }]]),
    );
    const { page } = await open(lookupPage([{ restaurantId: 'a', output: { name: 'Nopa', hours } }], 0));
    const today = Number(await page.evaluate('new Date().getDay()'));
    expect(await page.locator('.now dd').allInnerTexts()).toEqual([`1${today}:00 to 22:00 today`]);
    const two = [1, 2].map((each) => ({ restaurantId: `${each}`, output: { name: `Nopa ${each}`, hours } }));
    const compared = await open(lookupPage(two, 0));
    expect(await compared.page.locator('.now').allInnerTexts()).toEqual([
      expect.stringMatching(new RegExp(`^${names[today]} today(\\s+1${today}:00 to 22:00){2}$`, 'i')),
    ]);
  });

  it('shows two restaurants side by side on a phone, under their names', async () => {
    const items = ['Nopa', 'Zuni'].map((name) => ({ restaurantId: name, output: { ...DETAILS, name } }));
    const { page } = await open(lookupPage(items, 0), { viewport: { width: 360, height: 740 } });
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Nopa, Zuni');
    const boxesOf = async (part: string) =>
      Promise.all((await page.locator(part).all()).map((each) => each.boundingBox()));
    expect(await page.locator('.comparison').getAttribute('aria-label')).toBe('Comparison');
    const row = page.locator('tbody > tr', { hasText: 'Phone' });
    const [names, cells] = [await boxesOf('thead th'), await boxesOf('tbody tr:has(a[href^=tel]) > td')];
    expect(await row.getByRole('link').count()).toBe(2);
    expect(cells.map((box) => box?.x)).toEqual(names.map((box) => box?.x));
    expect(cells[0]?.y).toBe(cells[1]?.y);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('shows every column of the themes of a restaurant on a phone', async () => {
    const theme = { mentions: 121, sentiment: -0.82, examples: ['"portions" came up again and again'] };
    const review_themes = ['portions', 'dessert'].map((each) => ({ theme: each, ...theme }));
    const items = [{ restaurantId: 'a', output: { ...DETAILS, review_themes } }];
    const { page } = await open(lookupPage(items, 0), { viewport: { width: 360, height: 740 } });
    const hidden = `[...document.querySelectorAll('.small-box')].filter((box) => box.scrollWidth > box.clientWidth)`;
    expect(await page.locator('.small-box').count()).toBe(2);
    expect(await page.evaluate(`${hidden}.length`)).toBe(0);
  });

  it('groups restaurants whose markers would overlap', async () => {
    const near = Array.from({ length: 20 }, (_, index) => ({
      name: `Place ${index + 1}`,
      coordinates: { lat: 37.75 + (index % 5) / 200, lng: -122.5 + Math.floor(index / 5) / 30 },
    }));
    const { page } = await open(findPage(near, ASKED));
    const pins = await page.locator('.leaflet-marker-icon').all();
    const boxes = await Promise.all(pins.map((pin) => pin.boundingBox()));
    const places = boxes.map((box) => ({ x: box?.x ?? 0, y: box?.y ?? 0 }));
    const isOver = (one: (typeof places)[number], other: (typeof places)[number]) =>
      Math.abs(one.x - other.x) < 20 && Math.abs(one.y - other.y) < 20;
    expect(
      places.flatMap((one, index) => places.slice(index + 1).filter((other) => isOver(one, other))),
    ).toEqual([]);
    expect(await page.locator('#placed').textContent()).toBe('');
  });
});

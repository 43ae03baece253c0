import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { hasBrowser, useChromium, violations } from './chromium.ts';

const RESTAURANTS = ['Bar One', 'Bar Two', 'Zuni Café', 'Nopa'].map((name, index) => ({
  service_id: `id-${index}`,
  name,
  city: 'Testville',
  address: `${index} Main St`,
  coordinates: { lat: 1 + index / 1000, lng: 2 },
}));
const service = useService({ restaurants: RESTAURANTS });

describe.skipIf(!hasBrowser)('the report in Chromium', () => {
  const { openFile } = useChromium();

  it('makes decisions by keyboard, on a phone, and without network', async () => {
    const folder = tempFolder();
    const run = (words: string) =>
      service.run(words.split(' '), { cwd: folder, env: { HOME: folder, RESTAURANT_MAX_AGE: undefined } });
    const rows = ['Bar,Testville,1,2', 'Nopa,Testville,,', '"=Zun",Testville,,', 'Café,Testville,,'];
    writeFileSync(join(folder, 'list.csv'), `name,city,lat,lng\n${rows.join('\n')}\n`);
    expect((await run('enrich list.csv -o out.csv -o out.html')).exit).toBe(0);
    const { page, requests, complaints } = await openFile(pathToFileURL(join(folder, 'out.html')).href, {
      viewport: { width: 360, height: 740 },
      offline: true,
    });
    const state = page.locator('.review [role=status]');
    expect(await state.textContent()).toBe('0 of 3 doubtful rows decided');
    expect(await page.getByRole('button', { name: 'Download' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Next row to decide' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#more-1 label').allInnerTexts()).toEqual([
      'Bar One, 0 Main St, 0 m\nin the list now',
      'Bar Two, 1 Main St, 111 m',
      'None of these',
    ]);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#row-1 .decision').textContent()).toBe('decided: another');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    expect(await page.locator('#row-3 .decision').textContent()).toBe('decided: none');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    expect(await page.locator('#row-4 .decision').textContent()).toBe('decided: yes');
    expect(await state.textContent()).toBe('3 of 3 doubtful rows decided');
    await page.keyboard.press('Tab');
    // Nothing is left to decide.
    await page.keyboard.press('Enter');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(download.suggestedFilename()).toBe('decisions.csv');
    await download.saveAs(join(folder, 'decisions.csv'));
    expect(readFileSync(join(folder, 'decisions.csv'), 'utf8')).toBe(
      "row,name,decision,restaurant_id\n1,Bar,other,id-1\n3,'=Zun,none,\n4,Café,yes,id-2\n",
    );
    const hosts = requests.filter((url) => !/^blob:|^https:\/\/tile\.openstreetmap\.org\//.test(url));
    expect([hosts, complaints]).toEqual([[], []]);
    expect((await run('review out.csv --apply decisions.csv')).stderr).toBe(
      '3 rows decided in out.csv, out.html: 1 confirmed, 1 with another restaurant, 1 rejected\n',
    );
  });
});

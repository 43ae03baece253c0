import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { script, style } from '../../../src/output/html/asset.js';
import type { PageDocument } from '../../../src/output/html/document.ts';
import { renderPage } from '../../../src/output/html/page.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const PATH = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** A PNG of one pixel. */
const TILE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Whether the tests of the page can run. If they are required, they fail without a browser. */
export const hasBrowser = existsSync(PATH) || process.env.RESTAURANT_REQUIRE_BROWSER === '1';

/** The behavior of OpenStreetMap in a test: sends tiles, rejects requests, or is unreachable. */
export type Tiles = 'sent' | 'refused' | 'gone';

export interface Opened {
  readonly page: Page;
  /** URLs that the page requested, except its own. */
  readonly requests: string[];
  /** Errors and violations of its content security policy. */
  readonly complaints: string[];
}

/** Starts one browser for the tests of a file; each page is stored in its own file. */
export function useChromium() {
  let browser: Browser | undefined;
  const folder = tempFolder();
  let pages = 0;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: PATH, args: FLAGS });
  });
  afterAll(() => browser?.close());

  type Options = BrowserContextOptions & { tiles?: Tiles };
  const openFile = async (url: string, { tiles = 'gone', ...options }: Options = {}): Promise<Opened> => {
    if (browser === undefined) throw new Error('the browser is not running');
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    });
    const page = await context.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // The browser itself reports a missing tile.
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    await context.route('**/*', (route) => {
      const url = route.request().url();
      if (url.startsWith('file:')) return route.continue();
      requests.push(url);
      if (tiles === 'gone') return route.abort();
      const headers = { 'Access-Control-Allow-Origin': '*' };
      const status = tiles === 'sent' ? 200 : 403;
      return route.fulfill({ status, headers, contentType: 'image/png', body: TILE });
    });
    await page.goto(url);
    return { page, requests, complaints };
  };
  const open = (document: PageDocument, options?: Options): Promise<Opened> => {
    pages += 1;
    const file = join(folder, `${pages}.html`);
    writeFileSync(file, renderPage(document, { script, style }));
    return openFile(pathToFileURL(file).href, options);
  };
  return { open, openFile };
}

/** Runs in the page: returns text with too little contrast to its background (WCAG 2.2, 1.4.3), as `ratio text`. */
export const FAINT_TEXTS = `(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const light = (color) => {
    const [r, g, b] = color.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const own = parse(getComputedStyle(element).backgroundColor);
    if (own[3] === undefined) return own;
    const under = element.parentElement === null ? [255, 255, 255] : behind(element.parentElement);
    return over(own, under);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || !element.checkVisibility() || element.closest('script, noscript, [disabled], .leaflet-disabled')) continue;
    const ground = behind(element);
    const pair = [light(over(parse(getComputedStyle(element).color), ground)), light(ground)].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) faint.push(ratio.toFixed(2) + ' ' + element.className + ' ' + node.data.trim());
  }
  return faint;
})()`;

/** Runs in the page: returns elements that a screen reader cannot name or use. */
export const UNNAMED = `(() => {
  const bad = [];
  const report = (element, what) => bad.push(what + ': ' + element.outerHTML.slice(0, 120));
  const name = (element) => element.getAttribute('aria-label') ?? element.textContent.trim();
  for (const element of document.querySelectorAll('button, a, [role="button"], [role="region"], nav, section')) if (name(element) === '') report(element, 'no name');
  for (const input of document.querySelectorAll('input')) if (input.labels.length === 0) report(input, 'no label');
  for (const th of document.querySelectorAll('th')) if (!['row', 'col'].includes(th.scope)) report(th, 'no scope');
  for (const img of document.querySelectorAll('img')) if (!img.hasAttribute('alt')) report(img, 'no alt');
  for (const element of document.querySelectorAll('[aria-controls]')) if (document.getElementById(element.getAttribute('aria-controls')) === null) report(element, 'controls nothing');
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  if (new Set(ids).size !== ids.length) bad.push('duplicate ids');
  if (document.documentElement.lang === '' || document.title === '') bad.push('no lang or title');
  if (document.querySelectorAll('h1').length !== 1 || document.querySelectorAll('main').length !== 1) bad.push('no h1 or main');
  return bad;
})()`;

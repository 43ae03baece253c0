import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
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

type Options = BrowserContextOptions & { tiles?: Tiles };

/** A page of the browser. The tests use it one after another, because opening another one takes most of a second. */
class ReusedPage {
  readonly #page: Page;
  #shown: Opened & { readonly tiles: Tiles };

  constructor(page: Page) {
    this.#page = page;
    this.#shown = { page, requests: [], complaints: [], tiles: 'sent' };
  }

  async prepare(): Promise<this> {
    const page = this.#page;
    page.on('pageerror', (error) => this.#shown.complaints.push(error.message));
    page.on('console', (message) => {
      // The browser itself reports a missing tile.
      if (!message.text().startsWith('Failed to load resource')) this.#shown.complaints.push(message.text());
    });
    await page.context().route('**/*', (route) => {
      const { requests, tiles } = this.#shown;
      const url = route.request().url();
      if (url.startsWith('file:')) return route.continue();
      requests.push(url);
      if (tiles === 'gone') return route.abort();
      const headers = { 'Access-Control-Allow-Origin': '*' };
      const status = tiles === 'sent' ? 200 : 403;
      return route.fulfill({ status, headers, contentType: 'image/png', body: TILE });
    });
    return this;
  }

  /** Shows a file as if in a new page with these options. */
  async show(url: string, { tiles = 'sent', viewport, colorScheme, offline }: Options): Promise<Opened> {
    const page = this.#page;
    // Nothing of the last page is reported later.
    await page.goto('about:blank');
    this.#shown = { page, requests: [], complaints: [], tiles };
    await page.setViewportSize(viewport ?? { width: 1400, height: 900 });
    await page.emulateMedia({ media: null, reducedMotion: 'reduce', colorScheme: colorScheme ?? 'light' });
    await page.context().setOffline(offline ?? false);
    await page.mouse.move(0, 0);
    await page.goto(url);
    return this.#shown;
  }
}

/** Starts one browser for the tests of a file; each page is stored in its own file. */
export function useChromium() {
  let browser: Browser | undefined;
  const folder = tempFolder();
  let files = 0;
  /** Pages by the options that they were opened with, and those that no test uses now. */
  const free = new Map<string, ReusedPage[]>();
  const used: [string, ReusedPage][] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: PATH, args: FLAGS });
  });
  afterEach(() => {
    for (const [kind, page] of used.splice(0)) free.set(kind, [...(free.get(kind) ?? []), page]);
  });
  afterAll(() => browser?.close());

  const openFile = async (url: string, options: Options = {}): Promise<Opened> => {
    if (browser === undefined) throw new Error('the browser is not running');
    const { tiles: _, viewport: __, colorScheme: ___, offline: ____, ...fixed } = options;
    const kind = JSON.stringify(fixed);
    const page = free.get(kind)?.shift() ?? (await new ReusedPage(await browser.newPage(fixed)).prepare());
    used.push([kind, page]);
    return page.show(url, options);
  };
  const open = (document: PageDocument, options?: Options): Promise<Opened> => {
    files += 1;
    const file = join(folder, `${files}.html`);
    writeFileSync(file, renderPage(document, { script, style }));
    return openFile(pathToFileURL(file).href, options);
  };
  return { open, openFile };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns the accessibility rules that a page breaks, with the elements, as `rule: element`. */
export async function violations(page: Page): Promise<unknown> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE);
  return page.evaluate(`(async () => {
    const { violations } = await axe.run();
    const found = (id, elements) => ({ id, nodes: elements.map(({ outerHTML: html }) => ({ html })) });
    const all = [...document.querySelectorAll('[id]')];
    const again = all.filter(({ id }, place) => all.findIndex((each) => each.id === id) !== place);
    const unscoped = [...document.querySelectorAll('th:not([scope=row], [scope=col])')];
    return [...violations, found('duplicate id', again), found('th without scope', unscoped)]
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)));
  })()`);
}

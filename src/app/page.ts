import { renderPage } from '../output/html/page.ts';
import { checkColumnNames, type Presentation } from '../output/present.ts';
import { isRecord } from '../output/records.ts';
import { writeFileAtomic } from '../storage/atomic.ts';
import type { App } from './app.ts';
import { selectedColumns } from './emit.ts';
import { openOutput, outputPath } from './sink.ts';

/**
 * Writes a command's data as a page, and shows it where --open says so. Without a file to write to, a page to show goes
 * into the cache, and its path to stdout.
 */
export async function writePage(
  app: App,
  presentation: Presentation,
  page: NonNullable<Presentation['page']>,
): Promise<void> {
  const columns = selectedColumns(app);
  checkColumnNames(presentation, columns);
  const document = redacted(app, await page(columns));
  const html = renderPage(document, await loadAsset());
  const path = outputPath(app);
  if (app.globals.open === true && path === undefined) return openKept(app, document.heading, html);
  const sink = openOutput(app);
  await sink.write(html);
  await sink.finish();
  if (app.globals.open !== true || path === undefined) return;
  const { showPage } = await import('./show-page.ts');
  await showPage(app, path);
}

async function openKept(app: App, about: string, html: string): Promise<void> {
  const { tempReportPath } = await import('./page-place.ts');
  const { showPage } = await import('./show-page.ts');
  const path = tempReportPath(app, about);
  writeFileAtomic(path, html, { durable: false });
  await app.context.stdout.write(`${path}\n`);
  await showPage(app, path);
}

/** The program of the page, with the map: loaded where there is a page to write. */
export const loadAsset = () => import('../output/html/asset.js');

/** The value with all its texts free of keys. */
export function redacted<T>(app: App, value: T): T {
  const walk = (each: unknown): unknown => {
    if (typeof each === 'string') return app.redact(each);
    if (Array.isArray(each)) return each.map(walk);
    if (!isRecord(each)) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(value) as T;
}

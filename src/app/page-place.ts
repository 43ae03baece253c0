import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePrivateFolder } from '../storage/atomic.ts';
import type { App } from './app.ts';

const KEPT_MS = 7 * 86_400_000;
const NAME = /^restaurant-[a-z0-9-]*\d{14}-[0-9a-f]{8}\.html$/;
const LONGEST_SLUG = 40;

/**
 * A new path for a page that was not given one: in the cache, where it is kept for a week.
 * @param about names it
 * @throws {AppError} `io_error` where there is no such folder and none can be made
 */
export function tempReportPath(app: App, about: string): string {
  const folder = app.paths.cacheDir === undefined ? tmpdir() : pagesFolder(app.paths.cacheDir);
  if (app.paths.cacheDir !== undefined) ensurePrivateFolder(folder);
  const now = app.context.now();
  clearPages(folder, now - KEPT_MS);
  const slug = about
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  const words = ['restaurant', slug, stamp, randomBytes(4).toString('hex')];
  return join(folder, `${words.filter((word) => word !== '').join('-')}.html`);
}

/** The folder of such pages. */
export const pagesFolder = (cacheDir: string): string => join(cacheDir, 'pages');

/** Deletes such pages that are older. Never throws: the next run tries again. */
export function clearPages(folder: string, before = Number.POSITIVE_INFINITY): void {
  try {
    for (const name of readdirSync(folder).filter((each) => NAME.test(each))) {
      const path = join(folder, name);
      if (statSync(path).mtimeMs < before) rmSync(path, { force: true });
    }
  } catch {
    // There are none, or they are not ours to delete.
  }
}

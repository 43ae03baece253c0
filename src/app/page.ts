import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageDocument } from '../output/html/document.ts';
import { renderPage } from '../output/html/page.ts';
import { OwnFolder } from '../storage/own-folder.ts';
import { mapStrings } from '../util/json.ts';
import type { App } from './app.ts';

export async function renderDocument(app: App, document: PageDocument): Promise<string> {
  return renderPage(redacted(app, document), await loadAsset());
}

export const loadAsset = () => import('../output/html/asset.js');

export const redacted = <T>(app: App, value: T): T => mapStrings(value, (text) => app.secrets.redact(text));

const MAX_AGE_MS = 7 * 86_400_000;
const MAX_SLUG = 40;

const NAME = /^restaurant-[a-z0-9-]*\d{14}-[0-9a-f]{8}\.html$/;

const pagesFolder = (cacheDir: string): OwnFolder => new OwnFolder(join(cacheDir, 'pages'));

export const deletePages = (cacheDir: string): number => pagesFolder(cacheDir).clear(NAME);

/** Such pages are deleted after a week. @throws {AppError} `io_error` if the folder cannot be created */
export function tempReportPath(app: App, title: string): string {
  const { cacheDir } = app.paths;
  const now = app.context.now();
  const folder = cacheDir === undefined ? undefined : pagesFolder(cacheDir);
  folder?.create();
  folder?.sweep(NAME, now - MAX_AGE_MS);
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  const words = ['restaurant', slug, stamp, randomBytes(4).toString('hex')];
  return join(folder?.path ?? tmpdir(), `${words.filter((word) => word !== '').join('-')}.html`);
}

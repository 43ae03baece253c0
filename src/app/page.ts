import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import type { PageDocument } from '../output/html/document.ts';
import { renderPage } from '../output/html/page.ts';
import { variable } from '../settings/settings.ts';
import { writeFileAtomic } from '../storage/files.ts';
import { OwnFolder } from '../storage/store.ts';
import { mapStrings } from '../util/json.ts';
import { traitsOf } from '../util/platform.ts';
import type { App } from './app.ts';
import { programPath } from './program-path.ts';
import { withoutKey } from './secrets.ts';

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
export function newPagePath(app: App, title: string): string {
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

export function storePage(app: App, title: string, html: string): string {
  const path = newPagePath(app, title);
  writeFileAtomic(path, html, { durable: false });
  return path;
}

/** Maximum time until a browser requests the page, in milliseconds. */
const MAX_WAIT_MS = 20_000;
const WEEK_S = 604_800;

/** If that is not possible, prints a warning and does not fail, because the file is written. */
export async function showPage(app: App, path: string): Promise<void> {
  if (!app.terminal.isAttended) return app.notes.note('not shown in the browser: --no-input or CI is set');
  const problem = missingBrowserReason(app.context) ?? (await openInBrowser(app, path));
  if (problem === undefined) return app.notes.note('shown in the browser');
  await app.notes.remark(`the page cannot be shown: ${problem}`);
}

/**
 * Serves one file once, at an address that cannot be guessed. It is served because OpenStreetMap requires a Referer for
 * map tiles, which a page opened from a file does not send, and because browsers in a sandbox (snap, Flatpak) cannot read
 * files in hidden folders.
 * @returns why it was not shown; undefined if it was
 */
async function openInBrowser({ context }: App, path: string): Promise<string | undefined> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return 'no port of this machine can be opened';
  }
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = `/${randomBytes(16).toString('hex')}/`;
  const fetched = new Promise<undefined>((resolve) => {
    server.on('request', (request, response) => {
      const isPage = request.method === 'GET' && request.url === place && request.headers.host === host;
      if (isPage) sendPage(path, response, () => resolve(undefined));
      else response.writeHead(404, { Connection: 'close' }).end();
    });
  });
  const done = new AbortController();
  try {
    return await Promise.race([
      fetched,
      startBrowser(context, `http://${host}${place}`),
      context
        .sleep(MAX_WAIT_MS, AbortSignal.any([context.signal, done.signal]))
        .then(() => `no browser requested it in ${MAX_WAIT_MS / 1000} seconds`),
    ]);
  } finally {
    done.abort();
    server.close();
    server.closeAllConnections();
  }
}

function sendPage(path: string, response: ServerResponse, onSent: () => void): void {
  const page = readFileSync(path);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': page.length,
    // The server is then gone, so a browser can only reload the page from its cache.
    'Cache-Control': `private, max-age=${WEEK_S}, immutable`,
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.end(page, onSent);
}

type System = Pick<Context, 'env' | 'platform'>;

export function missingBrowserReason({ env, platform }: System): string | undefined {
  if (traitsOf(platform).opener !== undefined) return undefined;
  const names = ['BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'];
  return names.some((name) => variable(env, name) !== undefined)
    ? undefined
    : 'there is no display, and BROWSER is not set';
}

/**
 * Returns the command that opens a URL: the first command in `BROWSER` (a list separated by `:`; `%s` is replaced by the
 * URL), else the platform's default. It is run without a shell.
 */
export function browserCommand({ env, platform }: System, url: string): [string, ...string[]] {
  const browser = env.BROWSER ?? '';
  // Windows paths contain spaces and colons.
  const { shell, opener } = traitsOf(platform);
  const words = shell === 'windows' ? [browser.trim()] : (browser.split(':')[0] ?? '').split(/\s+/);
  const [command, ...args] = words.filter(Boolean);
  if (command !== undefined) {
    const hasPlace = args.some((arg) => arg.includes('%s'));
    return [command, ...(hasPlace ? args.map((arg) => arg.replaceAll('%s', url)) : [...args, url])];
  }
  if (opener !== undefined) return [...opener, url];
  return [variable(env, 'WSL_DISTRO_NAME') === undefined ? 'xdg-open' : 'wslview', url];
}

/**
 * Starts the browser, which may keep running after this program exits.
 * @returns a promise that resolves with the reason if the browser fails, and otherwise never settles
 */
function startBrowser({ env, platform }: System, url: string): Promise<string> {
  const [command, ...args] = browserCommand({ env, platform }, url);
  const path = programPath(command, { env, platform });
  return new Promise((resolve) => {
    if (path === undefined) return resolve(`${command} cannot be started`);
    const child = spawn(path, args, {
      env: withoutKey(env),
      stdio: 'ignore',
      detached: traitsOf(platform).hasProcessGroups,
      windowsHide: true,
    });
    child.on('error', () => resolve(`${command} cannot be started`));
    child.on('exit', (code) => {
      if (code !== 0) resolve(`${command} failed (${code ?? 'killed'})`);
    });
    child.unref();
  });
}

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Context } from '../context.ts';
import type { PageDocument } from '../output/html/document.ts';
import { renderPage } from '../output/html/page.ts';
import { deleteFiles, ensurePrivateFolder } from '../storage/atomic.ts';
import { currentUid } from '../storage/folders.ts';
import { mapStrings } from '../util/json.ts';
import type { App } from './app.ts';

/** Renders a page as HTML, with every key of this run masked. */
export async function renderDocument(app: App, document: PageDocument): Promise<string> {
  return renderPage(redacted(app, document), await loadAsset());
}

/** The program of the page, with the map: loaded where there is a page to write. */
export const loadAsset = () => import('../output/html/asset.js');

/** Masks every key of this run in the strings of a value. */
export const redacted = <T>(app: App, value: T): T => mapStrings(value, (text) => app.redact(text));

const MAX_AGE_MS = 7 * 86_400_000;
const MAX_SLUG = 40;

const NAME = /^restaurant-[a-z0-9-]*\d{14}-[0-9a-f]{8}\.html$/;

/** Returns the folder of pages that were not given a path. */
const pagesFolder = (cacheDir: string): string => join(cacheDir, 'pages');

/** Deletes such pages that are older than a time, ms since the epoch. Never throws. */
export const deletePages = (cacheDir: string, before = Number.POSITIVE_INFINITY): void =>
  deleteFiles(pagesFolder(cacheDir), before, (name) => NAME.test(name));

/**
 * Returns a new path for a page that was not given one: in the cache, where it is kept for a week.
 * @param title is part of the name
 * @throws {AppError} `io_error` when there is no such folder and none can be created
 */
export function tempReportPath(app: App, title: string): string {
  const { cacheDir } = app.paths;
  const now = app.context.now();
  const folder = cacheDir === undefined ? tmpdir() : pagesFolder(cacheDir);
  if (cacheDir !== undefined) {
    ensurePrivateFolder(folder);
    deletePages(cacheDir, now - MAX_AGE_MS);
  }
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  const words = ['restaurant', slug, stamp, randomBytes(4).toString('hex')];
  return join(folder, `${words.filter((word) => word !== '').join('-')}.html`);
}

type System = Pick<Context, 'env' | 'platform'>;

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

/** Returns why a page cannot be shown here; undefined where it can. */
export function missingBrowserReason({ env, platform }: System): string | undefined {
  if (platform === 'darwin' || platform === 'win32' || isSet(env.BROWSER)) return undefined;
  const display = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME].some(isSet);
  return display ? undefined : 'there is no display, and BROWSER is not set';
}

/**
 * Returns the command that shows a URL: `BROWSER` (a list of commands with `:` between, of which the first counts; `%s`
 * stands for the URL), else what the platform has for it. Its words are arguments: no shell reads them.
 */
export function browserCommand({ env, platform }: System, url: string): [string, ...string[]] {
  const browser = env.BROWSER ?? '';
  // A path of Windows holds blanks and colons.
  const words = platform === 'win32' ? [browser.trim()] : (browser.split(':')[0] ?? '').split(/\s+/);
  const [command, ...args] = words.filter(Boolean);
  if (command !== undefined) {
    const hasPlace = args.some((arg) => arg.includes('%s'));
    return [command, ...(hasPlace ? args.map((arg) => arg.replaceAll('%s', url)) : [...args, url])];
  }
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return [isSet(env.WSL_DISTRO_NAME) ? 'wslview' : 'xdg-open', url];
}

/**
 * Starts the browser, which may run on after this program.
 * @returns settles with the reason when it fails; otherwise never
 */
function startBrowser({ env, platform }: System, url: string): Promise<string> {
  const [command, ...args] = browserCommand({ env, platform }, url);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...env, RESTAURANT_API_KEY: undefined },
      stdio: 'ignore',
      detached: platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', () => resolve(`${command} cannot be started`));
    child.on('exit', (code) => {
      if (code !== 0) resolve(`${command} failed (${code ?? 'killed'})`);
    });
    child.unref();
  });
}

/** Maximum time until a browser requests the page, in milliseconds. */
const MAX_WAIT_MS = 20_000;
const WEEK_S = 604_800;

/**
 * Shows a page in a file in the browser. If that is not possible, it reports why and does not fail: the file
 * is there.
 */
export async function showPage(app: App, path: string): Promise<void> {
  if (!app.canOpenBrowser) return app.note('not shown in the browser: --no-input or CI is set');
  const problem = missingBrowserReason(app.context) ?? (await openInBrowser(app, path));
  if (problem === undefined) return app.note('shown in the browser');
  await app.remark(`the page cannot be shown: ${problem}`);
}

/**
 * Serves one file to the user of this process, at a path that cannot be guessed, until the browser has it. A page that
 * has an address can request tiles of OpenStreetMap, which requires a Referer; one that is opened as a file has none.
 * @returns why it was not shown; undefined where it was
 */
async function openInBrowser(app: App, path: string): Promise<string | undefined> {
  const { context } = app;
  // Windows programs are not in the table of connections of WSL.
  const isLinux = context.platform === 'linux' && !isSet(context.env.WSL_DISTRO_NAME);
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
      // Other users of the machine can see the arguments of a browser.
      if (!isPage || (isLinux && !isOwnConnection(request.socket))) {
        response.writeHead(404, { Connection: 'close' }).end();
        return;
      }
      response.writeHead(200, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': statSync(path).size,
        // The address is gone afterwards: a browser that reloads the page has only its cache.
        'Cache-Control': `private, max-age=${WEEK_S}, immutable`,
        'Referrer-Policy': 'strict-origin-when-cross-origin',
        'X-Content-Type-Options': 'nosniff',
        Connection: 'close',
      });
      pipeline(createReadStream(path), response, (error) => {
        // A browser that has the whole page may close the connection before the response is finished.
        if (!error || response.writableEnded) resolve(undefined);
      });
    });
  });
  const url = `http://${host}${place}`;
  const done = new AbortController();
  try {
    return await Promise.race([
      fetched,
      startBrowser(context, context.platform === 'darwin' ? writeLauncher(app, url) : url),
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

/**
 * Writes a private file that leads to the page, and returns its address, so that no argument of a program shows that of
 * the page. On Linux, where sandboxed browsers (snap, Flatpak) could not read the file, the owner of a connection is
 * known instead.
 */
function writeLauncher(app: App, url: string): string {
  const path = tempReportPath(app, 'open');
  const html = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><title>restaurant</title>\n`;
  writeFileSync(path, html, { flag: 'wx', mode: 0o600 });
  return pathToFileURL(path).href;
}

/**
 * Returns whether our user made a connection on loopback, as Linux lists the owner of each; true without the list. The
 * list is read in pieces, so an entry can be missed while others come and go: it is read again then.
 */
function isOwnConnection({ remotePort, localPort }: Socket): boolean {
  const address = (port = 0) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const wanted = [address(remotePort), address(localPort)].join();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    let table: string;
    try {
      table = readFileSync('/proc/net/tcp', 'latin1');
    } catch {
      return true;
    }
    const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
    const row = rows.find((fields) => fields.slice(1, 3).join() === wanted);
    if (row !== undefined) return Number(row[7]) === currentUid();
  }
  return false;
}

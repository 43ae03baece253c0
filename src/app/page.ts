import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Context } from '../context.ts';
import { systemCode } from '../errors.ts';
import type { PageDocument } from '../output/html/document.ts';
import { renderPage } from '../output/html/page.ts';
import { ensurePrivateFolder } from '../storage/atomic.ts';
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

const KEPT_MS = 7 * 86_400_000;
const NAME = /^restaurant-[a-z0-9-]*\d{14}-[0-9a-f]{8}\.html$/;
const MAX_SLUG = 40;

/**
 * A new path for a page that was not given one: in the cache, where it is kept for a week.
 * @param about names it
 * @throws {AppError} `io_error` when there is no such folder and none can be created
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
    .slice(0, MAX_SLUG)
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

type Opener = readonly [command: string, ...args: string[]];

/** Why a page cannot be shown here; undefined where it can. */
export function missingBrowserReason({
  env,
  platform,
}: Pick<Context, 'env' | 'platform'>): string | undefined {
  if (platform === 'darwin' || platform === 'win32' || set(env.BROWSER)) return undefined;
  const display = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME].some(set);
  return display ? undefined : 'there is no display, and BROWSER is not set';
}

/**
 * The command that shows a URL: `BROWSER` (a list of commands with `:` between, of which the first counts; `%s` stands
 * for the URL), else what the platform has for it. Its words are arguments: no shell reads them.
 */
export function browserCommand({ env, platform }: Pick<Context, 'env' | 'platform'>, url: string): Opener {
  const [command, ...args] = wordsOf(env.BROWSER ?? '', platform);
  if (command !== undefined) {
    const named = args.some((arg) => arg.includes('%s'));
    return [command, ...(named ? args.map((arg) => arg.replaceAll('%s', url)) : [...args, url])];
  }
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return [set(env.WSL_DISTRO_NAME) ? 'wslview' : 'xdg-open', url];
}

/**
 * Starts the browser and leaves it alone.
 * @returns settles with the reason when it fails; never, where it goes well or just runs on
 */
export function startBrowser(
  { env, platform }: Pick<Context, 'env' | 'platform'>,
  url: string,
): Promise<string> {
  const [command, ...args] = browserCommand({ env, platform }, url);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...env, RESTAURANT_API_KEY: undefined },
      stdio: 'ignore',
      detached: platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', (error) => {
      resolve(
        systemCode(error) === 'ENOENT' ? `there is no ${command} here` : `${command} cannot be started`,
      );
    });
    child.on('exit', (code) => {
      if (code !== 0) resolve(`${command} failed (${code ?? 'killed'})`);
    });
    child.unref();
  });
}

/** A path of Windows holds blanks and colons. */
function wordsOf(browser: string, platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return [browser.trim()].filter(Boolean);
  const [first = ''] = browser.split(':');
  return first.split(/\s+/).filter(Boolean);
}

const set = (value: string | undefined): boolean => value !== undefined && value !== '';

/** A page on a port of this machine, until it was fetched once. */
export interface ServedPage {
  readonly url: string;
  /** Settles when the browser has all of it. */
  readonly fetched: Promise<undefined>;
  close(): void;
}

const WEEK_S = 604_800;

/**
 * Serves one file to the user of this process, at a path that cannot be guessed. A page that has an address can request
 * tiles of OpenStreetMap, which requires a Referer; one that is opened as a file has none to send.
 * @param isAllowed decides who may have it, since other users of the machine can see the arguments of a browser
 */
export async function servePage(
  path: string,
  isAllowed: (socket: Socket) => boolean = () => true,
): Promise<ServedPage> {
  const place = `/${randomBytes(16).toString('hex')}/`;
  let done = (): void => {};
  const fetched = new Promise<undefined>((resolve) => {
    done = () => resolve(undefined);
  });
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const isPage = request.url === place && request.headers.host === `127.0.0.1:${port}`;
    if (!isPage || request.method !== 'GET' || !isAllowed(request.socket)) {
      response.writeHead(404, { Connection: 'close' }).end();
      return;
    }
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': statSync(path).size,
      // It is gone from here afterwards; what the browser keeps is all it has.
      'Cache-Control': `private, max-age=${WEEK_S}, immutable`,
      'Referrer-Policy': 'strict-origin-when-cross-origin',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    });
    pipeline(createReadStream(path), response, (error) => {
      // A browser that has the whole page may close the connection before the response is finished.
      if (!error || response.writableEnded) done();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${place}`,
    fetched,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Writes a private file that leads to the page, and returns its address: so no argument of a program shows that of the
 * page. Browsers of Linux in a sandbox (snap, Flatpak) could not read the file; there the owner of a connection is known.
 */
function writeLauncher(app: App, url: string): string {
  const path = tempReportPath(app, 'open');
  const html = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><title>restaurant</title>\n`;
  writeFileSync(path, html, { flag: 'wx', mode: 0o600 });
  return pathToFileURL(path).href;
}

/**
 * Returns whether our user made a connection on loopback. Linux lists the owner of each; without the list it may be. The
 * list is read in pieces, so an entry can be missed while others come and go: it is read again then.
 */
export function isOwnConnection({
  remotePort,
  localPort,
}: Pick<Socket, 'remotePort' | 'localPort'>): boolean {
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
    if (row !== undefined) return Number(row[7]) === process.getuid?.();
  }
  return false;
}

/** Longest time that a browser may take to ask for the page, in milliseconds. */
const PATIENCE_MS = 20_000;

/**
 * Shows a page in a file in the browser. If that is not possible, it reports why and does not fail: the file
 * is there.
 */
export async function showPage(app: App, path: string): Promise<void> {
  const why = app.canOpenBrowser
    ? (missingBrowserReason(app.context) ?? (await tryToShow(app, path)))
    : undefined;
  if (!app.canOpenBrowser) await app.note('not shown in the browser: --no-input or CI is set');
  else if (why !== undefined) await app.remark(`the page cannot be shown: ${why}`);
  else await app.note('shown in the browser');
}

/** @returns why it was not shown; undefined where it was */
async function tryToShow(app: App, path: string): Promise<string | undefined> {
  const { context } = app;
  // Windows programs are not in the table of connections of WSL.
  const isLinux = context.platform === 'linux' && !set(context.env.WSL_DISTRO_NAME);
  const page = await servePage(path, isLinux ? isOwnConnection : undefined).catch(() => undefined);
  if (page === undefined) return 'no port of this machine can be opened';
  const url = context.platform === 'darwin' ? writeLauncher(app, page.url) : page.url;
  const patience = new AbortController();
  const onEnd = (): void => patience.abort(context.signal.reason);
  context.signal.addEventListener('abort', onEnd, { once: true });
  try {
    return await Promise.race([
      page.fetched,
      startBrowser(context, url),
      context
        .sleep(PATIENCE_MS, patience.signal)
        .then(() => `no browser asked for it in ${PATIENCE_MS / 1000} seconds`),
    ]);
  } finally {
    context.signal.removeEventListener('abort', onEnd);
    patience.abort();
    page.close();
  }
}

import { randomBytes } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A page on a port of this machine, until it was fetched once. */
export interface ServedPage {
  readonly url: string;
  /** Settles when the browser has all of it. */
  readonly fetched: Promise<undefined>;
  close(): void;
}

const WEEK_S = 604_800;

/**
 * Serves one file, at a path that cannot be guessed, to this machine alone. A page that has an address can ask
 * OpenStreetMap for tiles, which asks for a Referer; one that is opened as a file has none to send.
 */
export async function servePage(path: string): Promise<ServedPage> {
  const place = `/${randomBytes(16).toString('hex')}/`;
  let done = (): void => {};
  const fetched = new Promise<undefined>((resolve) => {
    done = () => resolve(undefined);
  });
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const isAsked = request.url === place && request.headers.host === `127.0.0.1:${port}`;
    if (!isAsked || request.method !== 'GET') {
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
      if (!error) done();
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

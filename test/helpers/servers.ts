import { randomInt } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** An HTTP request as a test server received it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on loopback. `close` ends its connections, too. */
export interface TestServer {
  readonly port: number;
  /** Origin, such as `http://127.0.0.1:4711`. */
  readonly origin: string;
  /** Counts the connections so far. */
  connections(): number;
  close(): Promise<void>;
}

/** Handles one request; `count` is the number of requests before it. */
export type RequestHandler = (request: ReceivedRequest, response: ServerResponse, count: number) => unknown;

/** An HTTP server that records its requests; a test may clear the list. */
export interface HttpTestServer extends TestServer {
  readonly requests: ReceivedRequest[];
}

/** Serves HTTP with a listener of Node. */
export const listenerServer = (listener: RequestListener): Promise<TestServer> =>
  listen(createServer(listener), '127.0.0.1', 'http');

/** Serves HTTP: `handle` is called when a whole request has arrived. */
export async function httpServer(handle: RequestHandler): Promise<HttpTestServer> {
  const requests: ReceivedRequest[] = [];
  const server = await listenerServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      void handle(request, response, requests.push(request) - 1);
    });
  });
  return { ...server, requests };
}

/** Options of `rawServer`. */
interface RawServerOptions {
  readonly host?: string;
  /** Serves TLS with this key and certificate. */
  readonly tls?: TlsOptions;
}

/** Serves raw bytes: `talk` is called with each connection, after the handshake if the server uses TLS. */
export async function rawServer(
  talk: (socket: Socket) => void,
  { host = '127.0.0.1', tls }: RawServerOptions = {},
): Promise<TestServer> {
  const serve = (socket: Socket): void => talk(socket.on('error', () => {}));
  const server = tls === undefined ? createNetServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => {});
  return listen(server, host, tls === undefined ? 'http' : 'https');
}

/** Calls back for each whole HTTP request that arrives on a connection. */
export function onEachRequest(
  socket: Socket,
  callback: (request: { head: string; body: string }) => void,
): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.subarray(0, end).toString('latin1');
      const next = end + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < next) return;
      const body = received.subarray(end + 4, next).toString();
      received = received.subarray(next);
      callback({ head, body });
    }
  });
}

/** Returns a port at which nobody listens. The system gives out higher ports, so no other test gets it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createNetServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return new Promise((resolve) => server.close(() => resolve(port)));
  }
}

/** Returns the origin of a port at which nobody listens. */
export const closedPort = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

async function listen(server: Server, host: string, protocol: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `${protocol}://127.0.0.1:${port}`,
    connections: () => connections,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

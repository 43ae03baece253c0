import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, openClient } from '../../../src/client/client.ts';
import type { AppError } from '../../../src/errors.ts';

export const KEY = 'sk_service_test_0123456789abcdef';

/** A request as a test server saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Serves until the test ends. `answer` gets the request and its number, from 0. */
export async function serve(
  answer: (request: Seen, response: ServerResponse, count: number) => void,
): Promise<{ url: URL; requests: Seen[] }> {
  const requests: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(seen);
      answer(seen, response, requests.length - 1);
    });
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: await listen(server), requests };
}

/** Serves raw bytes: `talk` is called when a whole request is there. */
export async function serveRaw(
  talk: (socket: Socket, count: number) => void,
): Promise<{ url: URL; connections: () => number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createNetServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      text = '';
      talk(socket, count++);
    });
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: await listen(server), connections: () => sockets.size };
}

/** An endpoint at which nobody listens. */
export async function closedPort(): Promise<URL> {
  const server = createNetServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

async function listen(server: Server): Promise<URL> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/mcp`);
}

export type TestOptions = Partial<Omit<ClientOptions, 'context'>> & {
  context?: Partial<ClientOptions['context']>;
};

/** A client of `url` that does not really sleep; `slept` lists the waits. */
export function clientFor(url: URL, options: TestOptions = {}): { client: Client; slept: number[] } {
  const slept: number[] = [];
  const { context, ...rest } = options;
  const client = openClient({
    endpoint: url,
    key: KEY,
    protocol: 'bare',
    timeoutMs: 5000,
    retries: 2,
    maxWaitMs: 60_000,
    version: '1.2.3',
    ...rest,
    context: {
      env: {},
      now: Date.now,
      random: () => 0.5,
      signal: new AbortController().signal,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        slept.push(ms);
      },
      ...context,
    },
  });
  onTestFinished(() => client.close());
  return { client, slept };
}

/** The id of a request. */
export const idOf = (body: string): number => (JSON.parse(body) as { id: number }).id;

/** A result envelope whose text block is `output` as JSON. */
export function toolReply(id: unknown, output: unknown): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: JSON.stringify(output) }] },
  });
}

/** Answers a request with JSON. */
export function sendJson(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}

export const FOUND = { status: 'ok', results: [{ service_id: 'r-1', name: 'Nopa' }], total_matches: 1 };

/** What a promise is rejected with. */
export async function failure(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    return error as AppError;
  }
  throw new Error('expected a failure');
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, systemCode } from '../errors.ts';
import { KEYS } from './auth.ts';
import { limitConnections } from './connections.ts';
import { PATH } from './door.ts';
import { type Desk, serve } from './exchange.ts';
import { createFaults } from './faults.ts';
import { createJournal } from './journal.ts';
import { createLimiter } from './limits.ts';
import { createCatalog } from './match.ts';
import { createMcp } from './mcp.ts';
import { sampleRestaurants } from './restaurants.ts';
import { createService } from './service.ts';
import { createTools } from './tools.ts';
import type { Sandbox, SandboxOptions } from './types.ts';

export type { Sandbox, SandboxOptions, SandboxRequest, SandboxRestaurant } from './types.ts';

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 512;
/** Longer than clients keep an idle connection, so that none is closed while a request is on its way. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Starts the service on this machine, reachable from this machine alone.
 * @throws {AppError} `in_use` when the port is taken, `io_error` when it may not be opened, `usage` when it is none.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const desk = createDesk(options);
  const server = createServer({
    headersTimeout: desk.requestTimeoutMs,
    requestTimeout: 0, // bodies have their own clock, which ends in a proper reply
    connectionsCheckingInterval: Math.min(1000, desk.requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  limitConnections(server, MAX_CONNECTIONS);
  server.on('clientError', rejectConnection);
  const port = await listen(server, options.port ?? 0);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(desk, port, request, response).catch(() => response.destroy());
  });
  const baseUrl = `http://${HOST}:${port}`;
  const { requests } = desk.journal;
  return { baseUrl, endpoint: baseUrl + PATH, keys: KEYS, requests, close: () => shut(server) };
}

function createDesk(options: SandboxOptions): Desk {
  const { perMinute = 100, perDay = 2000, now = Date.now } = options;
  const catalog = createCatalog(options.restaurants ?? sampleRestaurants());
  return {
    auth: options.auth ?? true,
    reply: options.reply ?? 'json',
    latencyMs: options.latencyMs ?? 0,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    now,
    journal: createJournal(),
    limiter: createLimiter(perMinute, perDay, now),
    chooseFault: createFaults(options.faults ?? [], options.random ?? Math.random),
    protocol: options.mode === 'mcp' ? createMcp(catalog, options) : createService(createTools(catalog)),
    onRequest: options.onRequest ?? (() => undefined),
  };
}

function listen(server: Server, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    const hint = 'restaurant sandbox --port 0';
    return Promise.reject(new AppError('usage', `${port} is no port: give 0 to 65535`, { hint }));
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(port, error)));
    server.listen(port, HOST, () => {
      server.removeAllListeners('error').on('error', () => undefined);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function cannotListen(port: number, cause: Error): AppError {
  const hint = 'restaurant sandbox --port 0 takes any free port';
  if (systemCode(cause) === 'EADDRINUSE') {
    return new AppError('in_use', `port ${port} of ${HOST} is in use`, { cause, hint });
  }
  const reason = systemCode(cause) ?? 'unknown reason';
  return new AppError('io_error', `port ${port} of ${HOST} cannot be opened (${reason})`, { cause, hint });
}

/** Answers what is no HTTP request, or came too slowly, and hangs up. */
function rejectConnection(error: Error, socket: Duplex): void {
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = MALFORMED[systemCode(error) ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

const MALFORMED: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, systemCode } from '../errors.ts';
import { createHandler, REQUEST_TIMEOUT_MS } from './exchange.ts';
import { KEYS, PATH } from './request-guard.ts';
import type { Sandbox, SandboxOptions, SandboxRequest } from './types.ts';

export type { Sandbox, SandboxOptions, SandboxRequest, SandboxRestaurant } from './types.ts';

const HOST = '127.0.0.1';
/** Longer than clients keep an idle connection, so that none is closed while a request is being sent. */
const KEEP_ALIVE_MS = 60_000;

const STATUS_BY_ERROR: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/**
 * Starts the service on this machine, reachable only from this machine.
 * @throws {AppError} `in_use` if the port is taken, `io_error` if it cannot be opened, `usage` if it is out of range.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const requests: SandboxRequest[] = [];
  const handle = createHandler(options, requests);
  const server = createServer({
    headersTimeout: requestTimeoutMs,
    requestTimeout: 0, // bodies have a timeout of their own, which ends in a proper reply
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.on('clientError', rejectConnection);
  const port = await listen(server, options.port ?? 0);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response, port).catch(() => response.destroy());
  });
  const baseUrl = `http://${HOST}:${port}`;
  return { baseUrl, endpoint: baseUrl + PATH, keys: KEYS, requests, close: () => close(server) };
}

/** @returns the port */
async function listen(server: Server, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    const hint = 'restaurant sandbox --port 0';
    throw new AppError('usage', `expected a port from 0 to 65535, got ${port}`, { hint });
  }
  try {
    await once(server.listen(port, HOST), 'listening');
  } catch (cause) {
    const hint = 'restaurant sandbox --port 0 uses any free port';
    const code = systemCode(cause);
    throw code === 'EADDRINUSE'
      ? new AppError('in_use', `port ${port} of ${HOST} is in use`, { cause, hint })
      : new AppError('io_error', `cannot listen on port ${port} of ${HOST}: ${code}`, { cause, hint });
  }
  server.on('error', () => undefined);
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** Replies to what is not an HTTP request, or whose headers arrive too slowly, and closes the connection. */
function rejectConnection(error: Error, socket: Duplex): void {
  if (systemCode(error) === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = STATUS_BY_ERROR[systemCode(error) ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

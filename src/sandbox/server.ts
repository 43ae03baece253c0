import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure, systemCode, usage } from '../errors.ts';
import { type Hint, restaurant } from '../hint.ts';
import { decodeUtf8, isObject, tryParseJson } from '../util/json.ts';
import { createFaults, FAULTS, type Fault, type Injection } from './faults.ts';
import { McpServer } from './mcp.ts';
import {
  encode,
  httpError,
  INTERNAL_ERROR,
  idOf,
  PARSE_ERROR,
  type Payload,
  type Post,
  ReplyError,
  readMessage,
  rpcError,
  type SandboxAnswer,
  type SandboxProtocol,
  SSE_TYPE,
} from './messages.ts';
import {
  authorize,
  checkContentType,
  checkOrigin,
  createRateLimiter,
  KEYS,
  keyKind,
  PATH,
} from './request-guard.ts';
import { createCatalog, sampleRestaurants } from './restaurants.ts';
import { createService } from './tools.ts';
import type { Mode, ReplyForm, RequestEntry, Sandbox, SandboxRequest, SandboxRestaurant } from './types.ts';

export type { Sandbox, SandboxRequest, SandboxRestaurant } from './types.ts';

export interface SandboxOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly reply?: ReplyForm;
  readonly mode?: Mode;
  /** False: no key is required and every level is allowed. */
  readonly auth?: boolean;
  /** Requests per key in 60 seconds; 0 = no limit. Default 100. */
  readonly perMinute?: number;
  /** Requests per key in 24 hours; 0 = no limit. Default 2000. */
  readonly perDay?: number;
  /** Delay before each reply, in milliseconds. */
  readonly latencyMs?: number;
  readonly faults?: readonly Fault[];
  /** Default: the sample data. */
  readonly restaurants?: readonly SandboxRestaurant[];
  /** Clock of the limits, in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Numbers in [0, 1) for the faults: random ones, or those that a test wants for a request. */
  readonly random?: (request: SandboxRequest) => number;
  /** Maximum time for a request to arrive, in milliseconds. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Called after each exchange. Never receives a key. */
  readonly onRequest?: (entry: RequestEntry) => void;
}

const HOST = '127.0.0.1';
/** Longer than clients keep idle connections, so that none is closed while a request is sent. */
const KEEP_ALIVE_MS = 60_000;

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024 * 1024;
/** Read from a body that is too large: closing the connection while the caller still sends would lose the reply. */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES;
const MAX_LOGGED_BYTES = 16 * 1024;
const MAX_LOGGED_REQUESTS = 10_000;

/** Starts the service, which only this machine can reach. @throws {AppError} `in_use`, `io_error`, or `usage` for the port */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { requestTimeoutMs: requestTimeout = REQUEST_TIMEOUT_MS } = options;
  const requests: SandboxRequest[] = [];
  const handler = new Handler(options, requests);
  const server = createServer({
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.min(1000, requestTimeout),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const port = await listen(server, options.port ?? 0);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handler.handle(request, response, port).catch(() => response.destroy());
  });
  const baseUrl = `http://${HOST}:${port}`;
  return { baseUrl, endpoint: baseUrl + PATH, keys: KEYS, requests, close: () => close(server) };
}

const ANY_PORT: Hint = { text: 'use any free port', command: restaurant('sandbox', '--port', '0') };

async function listen(server: Server, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usage(`expected a port from 0 to 65535, got ${port}`, ANY_PORT);
  }
  try {
    await once(server.listen(port, HOST), 'listening');
  } catch (cause) {
    const code = systemCode(cause);
    throw code === 'EADDRINUSE'
      ? failure('in_use', `port ${port} of ${HOST} is in use`, ANY_PORT, cause)
      : failure('io_error', `cannot listen on port ${port} of ${HOST}: ${code}`, ANY_PORT, cause);
  }
  server.on('error', () => undefined);
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

type LogEntry = { -readonly [K in keyof SandboxRequest]: SandboxRequest[K] };

class Handler {
  readonly #options: SandboxOptions;
  readonly #requests: SandboxRequest[];
  readonly #countRequest: (account: string) => void;
  readonly #nextFault: ReturnType<typeof createFaults<SandboxRequest>>;
  readonly #protocol: SandboxProtocol;

  constructor(options: SandboxOptions, requests: SandboxRequest[]) {
    const { perMinute = 100, perDay = 2000, now = Date.now, faults = [], random = Math.random } = options;
    const catalog = createCatalog(options.restaurants ?? sampleRestaurants());
    this.#options = options;
    this.#requests = requests;
    this.#countRequest = createRateLimiter(perMinute, perDay, now);
    this.#nextFault = createFaults(faults, random);
    this.#protocol = options.mode === 'mcp' ? new McpServer(catalog) : createService(catalog);
  }

  async handle(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
    const { latencyMs = 0, onRequest } = this.#options;
    const started = performance.now();
    const entry = this.#log(request);
    response.on('error', () => undefined);
    const body = await readBody(request);
    const json = body instanceof Buffer ? tryParseJson(decodeUtf8(body) ?? '') : undefined;
    if (body instanceof Buffer && body.length > 0 && body.length <= MAX_LOGGED_BYTES) {
      entry.body = json === undefined ? body.toString('utf8') : json;
    }
    if (body !== undefined) {
      const content = body instanceof ReplyError ? body : json;
      const { payload, injection } = this.#reply(request, port, entry, content);
      // The timer of a closed sandbox must not keep the process running.
      if (latencyMs > 0) await sleep(latencyMs, undefined, { ref: false });
      entry.status = injection.isSilent ? 0 : payload.status;
      await (injection.send?.(response, payload) ?? send(request, response, payload));
    }
    const { status, key } = entry;
    onRequest?.({ ...calledTool(json), status, key, ms: performance.now() - started });
  }

  #log(request: IncomingMessage): LogEntry {
    const { method = '', url: path = '' } = request;
    const key = keyKind(request.headersDistinct.authorization);
    const time = (this.#options.now ?? Date.now)();
    const entry = { method, path, headers: plainHeaders(request), key, body: undefined, status: 0, time };
    this.#requests.push(entry);
    if (this.#requests.length > MAX_LOGGED_REQUESTS) this.#requests.shift();
    return entry;
  }

  #reply(request: IncomingMessage, port: number, entry: LogEntry, body: unknown) {
    let injection: Injection = {};
    let answer: SandboxAnswer;
    try {
      const post = this.#check(request, port, entry, body);
      injection = this.#faultFor(post, entry);
      if (injection.error !== undefined) throw injection.error();
      answer = 'incoming' in post ? this.#protocol.post(post) : post;
    } catch (error) {
      const known =
        error instanceof ReplyError ? error : rpcError(INTERNAL_ERROR, 'internal error', undefined, 500);
      if (known.status !== 200) injection = {};
      answer = known.answer(idOf(body));
    }
    const { message } = answer;
    const altered = message && injection.message?.(message);
    const payload = encode({ ...answer, message: altered ?? message }, this.#options.reply ?? 'json');
    return { payload: injection.payload?.(payload) ?? payload, injection };
  }

  /** Errors are reported in this order. @param body undefined if it is not JSON; an error if it could not be read */
  #check(
    request: IncomingMessage,
    port: number,
    { key, method, headers }: LogEntry,
    body: unknown,
  ): Post | SandboxAnswer {
    checkOrigin(request, port, this.#protocol.methods);
    if (body instanceof ReplyError) throw body;
    const access = authorize(key, this.#options.auth ?? true);
    this.#countRequest(access.account);
    if (method === 'DELETE' && this.#protocol.endSession !== undefined) {
      return this.#protocol.endSession(headers, access);
    }
    checkContentType(request);
    if (body === undefined) throw rpcError(PARSE_ERROR, 'the body is not JSON in UTF-8', undefined, 400);
    return { incoming: readMessage(body), access, headers };
  }

  #faultFor(post: Post | SandboxAnswer, entry: SandboxRequest): Injection {
    if (!('incoming' in post)) return {};
    const { id, method } = post.incoming;
    const kind = method === 'tools/call' ? 'tool' : 'request';
    const fault = this.#nextFault(id === undefined ? 'other' : kind, entry);
    return fault === undefined ? {} : FAULTS[fault];
  }
}

async function send(request: IncomingMessage, response: ServerResponse, payload: Payload): Promise<void> {
  const { status, headers, body } = payload;
  const bytes = Buffer.from(body);
  const length = headers['Content-Type'] === SSE_TYPE ? {} : { 'Content-Length': bytes.length };
  response.writeHead(status, { ...headers, ...length }).write(bytes);
  if (status === 413) await finished(request).catch(() => undefined);
  response.end();
}

/** Reads a request body. @returns the error 413 above the limit; undefined if the caller disconnected first */
function readBody(request: IncomingMessage): Promise<Buffer | ReplyError | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else resolve(httpError(413, 'too_large', `more than ${MAX_BODY_BYTES} bytes`));
      if (size > MAX_DISCARDED_BYTES) request.destroy();
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => undefined).on('close', () => resolve(undefined));
  });
}

function plainHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headersDistinct).filter(([name]) => name !== 'authorization');
  return Object.fromEntries(entries.map(([name, values = []]) => [name, values.join(', ')]));
}

function calledTool(body: unknown): Pick<RequestEntry, 'method' | 'tool'> {
  if (!isObject(body) || typeof body.method !== 'string') return {};
  const { method, params } = body;
  if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return { method };
  return { method, tool: params.name };
}

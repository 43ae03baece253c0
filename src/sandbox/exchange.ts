import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, pause, readBody } from './body.ts';
import { createCatalog } from './catalog.ts';
import { createFaults, type FaultKind, type FaultTarget } from './faults.ts';
import { corruptMessage, corruptPayload, faultError, sendBroken } from './inject-fault.ts';
import { createMcp } from './mcp.ts';
import { createService, type Headers } from './protocol.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { encode, HttpError, type Payload, SSE_TYPE } from './reply.ts';
import { type Access, authorize, checkContentType, checkOrigin, keyKind } from './request-guard.ts';
import { sampleRestaurants } from './restaurants.ts';
import {
  decodeText,
  errorMessage,
  INTERNAL_ERROR,
  idOf,
  isObject,
  parseJson,
  RpcError,
  type RpcId,
  type RpcMessage,
  readMessage,
} from './rpc.ts';
import { createTools } from './tools.ts';
import type { RequestEntry, SandboxOptions, SandboxRequest } from './types.ts';

/** Maximum time for a request to arrive, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 10_000;
/** How long a rejected caller may finish sending, in milliseconds. */
const DRAIN_MS = 1000;

/** Maximum size of a body in the list of received requests, in bytes. */
const MAX_LOGGED_BYTES = 16 * 1024;
const MAX_LOGGED_REQUESTS = 10_000;

/** A received request: its body and status are filled in later. */
type LogEntry = { -readonly [K in keyof SandboxRequest]: SandboxRequest[K] };

interface Reply {
  readonly payload: Payload;
  readonly fault?: FaultKind | undefined;
}

/** Serves one HTTP request, from its first header to the last byte of the reply. */
type Handler = (request: IncomingMessage, response: ServerResponse, port: number) => Promise<void>;

/** Creates the handler of all requests, which adds each to `requests`. */
export function createHandler(options: SandboxOptions, requests: SandboxRequest[]): Handler {
  const { auth = true, reply = 'json', latencyMs = 0, now = Date.now } = options;
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, perMinute = 100, perDay = 2000 } = options;
  const catalog = createCatalog(options.restaurants ?? sampleRestaurants());
  const limiter = createRateLimiter(perMinute, perDay, now);
  const nextFault = createFaults(options.faults ?? [], options.random ?? Math.random);
  const protocol = options.mode === 'mcp' ? createMcp(catalog, reply) : createService(createTools(catalog));

  return async (request, response, port) => {
    const started = performance.now();
    const { method = '', url: path = '' } = request;
    const key = keyKind(request.headersDistinct.authorization);
    const headers = plainHeaders(request);
    const entry: LogEntry = { method, path, headers, key, body: undefined, status: 0, time: now() };
    requests.push(entry);
    if (requests.length > MAX_LOGGED_REQUESTS) requests.shift();
    response.on('error', () => undefined);
    const body = await readBody(request, requestTimeoutMs);
    const parsed = body instanceof Buffer ? parseForLog(body) : undefined;
    if (body instanceof Buffer && body.length <= MAX_LOGGED_BYTES) entry.body = parsed;
    if (body !== undefined) {
      const { payload, fault } = createReply(request, port, entry, body, idOf(parsed));
      await pause(response, latencyMs);
      entry.status = fault === 'hang' || fault === 'reset' ? 0 : payload.status;
      await (sendBroken(response, payload, fault) ?? send(request, response, payload));
    }
    const { status } = entry;
    options.onRequest?.({ ...calledTool(parsed), status, key, ms: performance.now() - started });
  };

  /** Checks everything that comes before the protocol, in the order in which problems are reported. */
  function createReply(
    request: IncomingMessage,
    port: number,
    { key, method, headers }: LogEntry,
    body: Buffer | HttpError,
    id: RpcId | null,
  ): Reply {
    try {
      checkOrigin(request, port, protocol.methods);
      if (body instanceof HttpError) throw body;
      const access = authorize(key, auth);
      limiter.consume(access.account);
      if (method !== 'POST') {
        return { payload: encode(protocol.withoutBody(method, headers, access), reply) };
      }
      checkContentType(request);
      return answerPost(body, access, headers);
    } catch (error) {
      return { payload: errorPayload(error, id) };
    }
  }

  function answerPost(bytes: Buffer, access: Access, headers: Headers): Reply {
    const incoming = readMessage(parseJson(decodeText(bytes)));
    const fault = nextFault(faultTarget(incoming));
    const error = faultError(fault);
    if (error !== undefined) throw error;
    const answer = protocol.post({ incoming, access, headers });
    const { message } = answer;
    const changed = message === undefined ? answer : { ...answer, message: corruptMessage(message, fault) };
    return { payload: corruptPayload(encode(changed, reply), fault), fault };
  }
}

async function send(request: IncomingMessage, response: ServerResponse, payload: Payload): Promise<void> {
  const { status, headers, body } = payload;
  const bytes = Buffer.from(body);
  const length = headers['Content-Type'] === SSE_TYPE ? {} : { 'Content-Length': bytes.length };
  response.writeHead(status, { ...headers, ...length }).write(bytes);
  if (status === 413) await drain(request, DRAIN_MS);
  response.end();
}

/** The reply to an HTTP error, a JSON-RPC error, or an internal error of the sandbox. */
function errorPayload(error: unknown, id: RpcId | null): Payload {
  if (error instanceof HttpError) return error.toPayload();
  const known =
    error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, 'internal error', undefined, 500);
  return encode({ status: known.status, message: errorMessage(id, known) }, 'json');
}

function faultTarget(incoming: RpcMessage): FaultTarget {
  if (incoming.kind !== 'request') return 'other';
  return incoming.method === 'tools/call' ? 'tool' : 'request';
}

/** Returns the headers by lower-case name, without `authorization`; repeated ones are joined with a comma. */
function plainHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headersDistinct).filter(([name]) => name !== 'authorization');
  return Object.fromEntries(entries.map(([name, values = []]) => [name, values.join(', ')]));
}

/** Parses a body for the log; returns its text if it is not JSON. */
function parseForLog(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the method and the tool of a body, for the log. */
function calledTool(body: unknown): Pick<RequestEntry, 'method' | 'tool'> {
  if (!isObject(body) || typeof body.method !== 'string') return {};
  const { method, params } = body;
  if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return { method };
  return { method, tool: params.name };
}

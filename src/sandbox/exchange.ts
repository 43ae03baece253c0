import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, pause, readBody } from './body.ts';
import type { FaultKind, FaultTarget } from './faults.ts';
import { corruptMessage, corruptPayload, faultError, sendBroken } from './inject-fault.ts';
import type { Headers, Protocol } from './protocol.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { encode, HttpError, type Payload, SSE_TYPE } from './reply.ts';
import { type Access, authorize, checkContentType, checkOrigin, keyKind } from './request-guard.ts';
import type { LogEntry, RequestLog } from './request-log.ts';
import {
  decodeText,
  errorMessage,
  INTERNAL_ERROR,
  idOf,
  isObject,
  parseJson,
  RpcError,
  type RpcMessage,
  readMessage,
} from './rpc.ts';
import type { ReplyForm, RequestEntry } from './types.ts';

/** How long a rejected caller may finish sending, in milliseconds. */
const DRAIN_MS = 1000;

/** State and settings that all exchanges of a sandbox share. */
export interface ServerContext {
  readonly auth: boolean;
  readonly reply: ReplyForm;
  readonly latencyMs: number;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
  readonly log: RequestLog;
  readonly limiter: RateLimiter;
  readonly nextFault: (target: FaultTarget) => FaultKind | undefined;
  readonly protocol: Protocol;
  readonly onRequest: (entry: RequestEntry) => void;
}

interface Reply {
  readonly payload: Payload;
  readonly fault?: FaultKind | undefined;
}

/** Serves one HTTP request, from its first header to the last byte of the reply. */
export async function serve(
  context: ServerContext,
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const key = keyKind(request.headersDistinct.authorization);
  const entry = context.log.add(request, key, context.now());
  response.on('error', () => undefined);
  const body = await readBody(request, context.requestTimeoutMs);
  if (body !== undefined) {
    const { payload, fault } = createReply(context, port, request, entry, body);
    await pause(response, context.latencyMs);
    entry.status = fault === 'hang' || fault === 'reset' ? 0 : payload.status;
    await (sendBroken(response, payload, fault) ?? send(request, response, payload));
  }
  const { status } = entry;
  context.onRequest({ ...calledTool(entry.body), status, key, ms: performance.now() - started });
}

/** Checks everything that comes before the protocol, in the order in which problems are reported. */
function createReply(
  { auth, reply, log, limiter, nextFault, protocol }: ServerContext,
  port: number,
  request: IncomingMessage,
  entry: LogEntry,
  body: Buffer | HttpError,
): Reply {
  try {
    if (body instanceof Buffer) log.setBody(entry, parseForLog(body), body.length);
    checkOrigin(request, port, protocol.methods);
    if (body instanceof HttpError) throw body;
    const access = authorize(entry.key, auth);
    limiter.consume(access.account);
    if (entry.method !== 'POST') {
      return { payload: encode(protocol.withoutBody(entry.method, entry.headers, access), reply) };
    }
    checkContentType(request);
    return answerPost(body, access, entry.headers);
  } catch (error) {
    return { payload: errorPayload(error, entry.body) };
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
function errorPayload(error: unknown, body: unknown): Payload {
  if (error instanceof HttpError) return error.toPayload();
  const known =
    error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, 'internal error', undefined, 500);
  return encode({ status: known.status, message: errorMessage(idOf(body), known) }, 'json');
}

function faultTarget(incoming: RpcMessage): FaultTarget {
  if (incoming.kind !== 'request') return 'other';
  return incoming.method === 'tools/call' ? 'tool' : 'request';
}

/** Parses a body for the request log; returns its text if it is not JSON. */
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

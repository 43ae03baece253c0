import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Access, authorize, keyKind } from './auth.ts';
import { drain, holdOpen, pause, readBody } from './body.ts';
import { checkContentType, checkDoor } from './door.ts';
import type { FaultKind, Target } from './faults.ts';
import { type Journal, type JournalEntry, openEntry } from './journal.ts';
import type { Limiter } from './limits.ts';
import type { Headers, Protocol } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { encode, JSON_TYPE, type Payload, SSE_TYPE } from './reply.ts';
import {
  decodeText,
  errorMessage,
  INTERNAL_ERROR,
  type Incoming,
  idOf,
  isObject,
  parseJson,
  RpcError,
  readMessage,
} from './rpc.ts';
import { breakOff, distort, faultRefusal, spoil } from './sabotage.ts';
import type { ReplyForm, RequestEntry } from './types.ts';

/** What all exchanges of a sandbox share. */
export interface Desk {
  readonly auth: boolean;
  readonly reply: ReplyForm;
  readonly latencyMs: number;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
  readonly journal: Journal;
  readonly limiter: Limiter;
  readonly chooseFault: (target: Target) => FaultKind | undefined;
  readonly protocol: Protocol;
  readonly onRequest: (entry: RequestEntry) => void;
}

interface Reply {
  readonly payload: Payload;
  readonly fault?: FaultKind | undefined;
}

/** How long a caller who still sends is listened to after it was refused. */
const LINGER_MS = 1000;

/** Serves one HTTP request, from its first header to the last byte of the reply. */
export async function serve(
  desk: Desk,
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const entry = openEntry(request, keyKind(request.headersDistinct.authorization), desk.now());
  desk.journal.add(entry);
  response.on('error', () => undefined);
  const body = await readBody(request, desk.requestTimeoutMs);
  if (body !== undefined) {
    const { payload, fault } = compose(desk, port, request, entry, body);
    await pause(response, desk.latencyMs);
    entry.status = fault === 'hang' || fault === 'reset' ? 0 : payload.status;
    await (breakOff(response, payload, fault) ?? send(request, response, payload));
  }
  desk.onRequest({
    ...callOf(entry.body),
    status: entry.status,
    key: entry.key,
    ms: performance.now() - started,
  });
}

/** Everything that is checked before the protocol has its say, in the order in which callers are told. */
function compose(
  desk: Desk,
  port: number,
  request: IncomingMessage,
  entry: JournalEntry,
  body: Buffer | Refusal,
): Reply {
  try {
    if (body instanceof Buffer) desk.journal.fill(entry, readable(body), body.length);
    checkDoor(request, port, desk.protocol.methods);
    if (body instanceof Refusal) throw body;
    const access = authorize(entry.key, desk.auth);
    desk.limiter.book(access.account);
    if (entry.method !== 'POST') {
      return { payload: encode(desk.protocol.bodiless(entry.method, entry.headers, access), desk.reply) };
    }
    checkContentType(request);
    return answerPost(desk, body, access, entry.headers);
  } catch (error) {
    return { payload: failure(error, entry.body) };
  }
}

function answerPost(desk: Desk, body: Buffer, access: Access, headers: Headers): Reply {
  const incoming = readMessage(parseJson(decodeText(body)));
  const fault = desk.chooseFault(targetOf(incoming));
  const refusal = faultRefusal(fault);
  if (refusal !== undefined) throw refusal;
  const answer = desk.protocol.post({ incoming, access, headers });
  const distorted = answer.message && { ...answer, message: distort(answer.message, fault) };
  return { payload: spoil(encode(distorted ?? answer, desk.reply), fault), fault };
}

async function send(request: IncomingMessage, response: ServerResponse, payload: Payload): Promise<void> {
  const { status, headers, body, standing } = payload;
  const bytes = Buffer.from(body);
  const length = headers['Content-Type'] === SSE_TYPE ? {} : { 'Content-Length': bytes.length };
  response.writeHead(status, { ...headers, ...length });
  response.write(bytes);
  if (status === 413) await drain(request, LINGER_MS);
  if (standing !== undefined) await holdOpen(response, standing);
  response.end();
}

/** The reply to what went wrong: HTTP's refusals, JSON-RPC errors, and faults of the sandbox itself. */
function failure(error: unknown, body: unknown): Payload {
  if (error instanceof Refusal) {
    return {
      status: error.status,
      headers: { 'Content-Type': JSON_TYPE, ...error.headers },
      body: error.body(),
    };
  }
  const known =
    error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, 'internal error', undefined, 500);
  return encode({ status: known.status, message: errorMessage(idOf(body), known) }, 'json');
}

function targetOf(incoming: Incoming): Target {
  if (incoming.kind !== 'request') return 'other';
  return incoming.method === 'tools/call' ? 'tool' : 'request';
}

/** A body for the journal: parsed if it is JSON, else its text. */
function readable(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The method and the tool of a body, for the log. */
function callOf(body: unknown): Pick<RequestEntry, 'method' | 'tool'> {
  if (!isObject(body) || typeof body.method !== 'string') return {};
  const { method, params } = body;
  if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return { method };
  return { method, tool: params.name };
}

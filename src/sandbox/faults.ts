import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppError, usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import type { JsonObject } from '../util/json.ts';
import {
  formatEvent,
  httpError,
  INTERNAL_ERROR,
  idOf,
  type Payload,
  type ReplyError,
  resultMessage,
  rpcError,
  SSE_TYPE,
} from './messages.ts';
import { tooManyRequests, unauthorized } from './request-guard.ts';

const DRIP_MS = 100;
/** Size of a huge body: more than a client should accept (64 MiB). */
const HUGE_BYTES = 72 * 1024 * 1024;
const CUT = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":';
const PAGE =
  '<!doctype html><html><head><title>Sign in to the network</title></head><body>Welcome</body></html>\n';

export interface Injection {
  readonly error?: () => ReplyError;
  /** Changes the response: still well-formed JSON-RPC, but wrong. */
  readonly message?: (message: JsonObject) => JsonObject;
  /** Changes the reply: complete HTTP with an unreadable body. */
  readonly payload?: (payload: Payload) => Payload;
  /** Sends the reply incorrectly. */
  readonly send?: (response: ServerResponse, payload: Payload) => Promise<unknown>;
  readonly isSilent?: true;
}

const toolOutput = (content: string) => ({ content: [{ type: 'text', text: content }] });

const replaceResult =
  (result: object) =>
  (message: JsonObject): JsonObject =>
    resultMessage(idOf(message) ?? 0, result);

export const FAULTS = {
  401: { on: 'any', error: () => unauthorized('fault: 401') },
  403: { on: 'any', error: () => httpError(403, 'forbidden', 'fault: 403') },
  429: { on: 'any', error: () => tooManyRequests('fault: 429', 1) },
  500: { on: 'any', error: () => httpError(500, 'internal', 'fault: 500') },
  503: { on: 'any', error: () => httpError(503, 'unavailable', 'fault: 503', { 'Retry-After': '1' }) },
  reset: { on: 'any', send: async ({ socket }) => socket?.resetAndDestroy(), isSilent: true },
  hang: { on: 'any', send: (response) => once(response, 'close'), isSilent: true },
  slow: { on: 'request', send: drip },
  truncate: { on: 'request', send: truncate },
  html: {
    on: 'request',
    payload: () => ({ status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE }),
  },
  'bad-json': {
    on: 'request',
    payload: (payload) => ({ ...payload, body: isStream(payload) ? formatEvent(CUT) : CUT }),
  },
  'bad-text': { on: 'tool', message: replaceResult(toolOutput('Here is what I found: {not JSON')) },
  'tool-error': {
    on: 'tool',
    message: replaceResult({
      ...toolOutput('{"status":"error","message":"fault: tool-error"}'),
      isError: true,
    }),
  },
  'rpc-error': { on: 'request', error: () => rpcError(INTERNAL_ERROR, 'fault: rpc-error') },
  'sse-cut': { on: 'request', send: cutStream },
  'wrong-id': {
    on: 'request',
    message: (message) => ({
      ...message,
      id: typeof message.id === 'number' ? message.id + 1000 : `${message.id}-other`,
    }),
  },
  huge: { on: 'request', send: flood },
} satisfies Record<string, Injection & { readonly on: 'any' | 'request' | 'tool' }>;

export type FaultKind = `${keyof typeof FAULTS}`;
export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

export interface Fault {
  readonly kind: FaultKind;
  /** Share of the requests, 0 to 1. */
  readonly rate: number;
  /** Limits the fault to the first requests. */
  readonly first?: number;
}

/** Parses `<kind>`, `<kind>:<rate>` (0 to 1) or `<kind>:<n>x` (the first n requests). @throws {AppError} `usage` */
export function parseFault(text: string): Fault {
  const [, name = text, often = '1'] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const kind = FAULT_KINDS.find((known) => known === name);
  if (kind === undefined) {
    throw unknownFault(name);
  }
  if (/^[1-9]\d{0,8}x$/.test(often)) return { kind, rate: 1, first: Number.parseInt(often, 10) };
  if (/^(0|1|0?\.\d{1,9}|[01]\.0*)$/.test(often)) return { kind, rate: Number(often) };
  throw usageError(
    `invalid rate ${JSON.stringify(often)} for the fault ${kind}: use 0 to 1, or 3x for the first three requests`,
  );
}

export function createFaults<Request = void>(
  faults: readonly Fault[],
  random: (request: Request) => number,
): (received: 'tool' | 'request' | 'other', request: Request) => FaultKind | undefined {
  const unknown = faults.find(({ kind }) => !FAULT_KINDS.includes(kind));
  if (unknown !== undefined) throw unknownFault(unknown.kind);
  const counted = faults.map((fault) => ({ ...fault, seen: 0 }));
  return (received, request) => {
    for (const fault of counted) {
      const { kind, rate, first } = fault;
      const { on } = FAULTS[kind];
      if (on !== 'any' && on !== received && !(on === 'request' && received === 'tool')) continue;
      fault.seen += 1;
      if (first !== undefined ? fault.seen <= first : random(request) < rate) return kind;
    }
    return undefined;
  };
}

const unknownFault = (kind: string): AppError =>
  usageError(`unknown fault ${JSON.stringify(kind)}; known faults: ${FAULT_KINDS.join(', ')}`);

function usageError(message: string): AppError {
  return usage(message, { command: restaurant('sandbox', '--fault', '503:0.2') });
}

async function drip(response: ServerResponse, payload: Payload): Promise<void> {
  const bytes = startBody(response, payload);
  await sendAll(response, async function* () {
    for (const byte of bytes) {
      yield Buffer.of(byte);
      await sleep(DRIP_MS);
    }
  });
}

async function truncate(response: ServerResponse, payload: Payload): Promise<void> {
  const bytes = startBody(response, payload);
  await new Promise<void>((resolve) => {
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => resolve());
  });
  response.socket?.destroySoon();
}

function startBody(response: ServerResponse, { status, headers, body }: Payload): Buffer {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  return bytes;
}

async function cutStream(response: ServerResponse, payload: Payload): Promise<void> {
  const stream = isStream(payload) ? payload.body : formatEvent(payload.body);
  const lastEvent = stream.lastIndexOf('event: message');
  response.writeHead(200, { ...payload.headers, 'Content-Type': SSE_TYPE });
  response.end(stream.slice(0, lastEvent + Math.floor((stream.length - lastEvent) / 2)));
}

async function flood(response: ServerResponse, payload: Payload): Promise<void> {
  const [before, after] = JSON.stringify(resultMessage(1, toolOutput('#'))).split('#');
  const [prefix, suffix] = isStream(payload) ? ['event: message\ndata: ', '\n\n'] : ['', ''];
  const filler = Buffer.alloc(64 * 1024, 'x');
  response.writeHead(200, { ...payload.headers });
  await sendAll(response, async function* () {
    yield `${prefix}${before}`;
    for (let sent = 0; sent < HUGE_BYTES; sent += filler.length) yield filler;
    yield `${after}${suffix}`;
  });
}

const sendAll = (response: ServerResponse, pieces: () => AsyncGenerator<string | Buffer>): Promise<void> =>
  pipeline(pieces, response).catch(() => undefined);

const isStream = ({ headers }: Payload): boolean => headers['Content-Type'] === SSE_TYPE;

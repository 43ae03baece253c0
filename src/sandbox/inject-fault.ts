import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultKind } from './faults.ts';
import {
  formatEvent,
  httpError,
  INTERNAL_ERROR,
  idOf,
  type Payload,
  type ReplyError,
  type RpcObject,
  resultMessage,
  rpcError,
  SSE_TYPE,
} from './messages.ts';
import { tooManyRequests, unauthorized } from './request-guard.ts';

const DRIP_MS = 100;
/** More than the largest body that a careful client accepts (64 MiB). */
const HUGE_BYTES = 72 * 1024 * 1024;
const CUT = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":';
const PAGE =
  '<!doctype html><html><head><title>Sign in to the network</title></head><body>Welcome</body></html>\n';

/** Returns the HTTP error that a fault causes. */
export function faultError(fault: FaultKind | undefined): ReplyError | undefined {
  if (fault === '401') return unauthorized('fault: 401');
  if (fault === '403') return httpError(403, 'forbidden', 'fault: 403');
  if (fault === '429') return tooManyRequests('fault: 429', 1);
  if (fault === '500') return httpError(500, 'internal', 'fault: 500');
  if (fault === '503') return httpError(503, 'unavailable', 'fault: 503', { 'Retry-After': '1' });
  return undefined;
}

/** Changes a response as the fault says: still well-formed JSON-RPC, but wrong. */
export function corruptMessage(
  message: RpcObject | undefined,
  fault: FaultKind | undefined,
): RpcObject | undefined {
  if (message === undefined) return undefined;
  const id = idOf(message) ?? 0;
  if (fault === 'rpc-error') return rpcError(INTERNAL_ERROR, 'fault: rpc-error').answer(id).message;
  if (fault === 'wrong-id') return { ...message, id: typeof id === 'number' ? id + 1000 : `${id}-other` };
  if (fault === 'bad-text') return resultMessage(id, text('Here is what I found: {not JSON'));
  if (fault === 'tool-error') {
    const output = { status: 'error', message: 'fault: tool-error' };
    return resultMessage(id, { ...text(JSON.stringify(output)), isError: true });
  }
  return message;
}

/** Changes a reply as the fault says: complete HTTP with an unreadable body. */
export function corruptPayload(payload: Payload, fault: FaultKind | undefined): Payload {
  if (fault === 'html')
    return { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE };
  if (fault === 'bad-json') return { ...payload, body: isStream(payload) ? formatEvent(CUT) : CUT };
  return payload;
}

/** Sends a reply in a broken way; returns undefined if the fault does not affect sending. */
export function sendBroken(
  response: ServerResponse,
  payload: Payload,
  fault: FaultKind | undefined,
): Promise<unknown> | undefined {
  if (fault === 'reset') return Promise.resolve(response.socket?.resetAndDestroy());
  if (fault === 'hang') return once(response, 'close');
  if (fault === 'slow') return drip(response, payload);
  if (fault === 'truncate') return truncate(response, payload);
  if (fault === 'sse-cut') return cutStream(response, payload);
  if (fault === 'huge') return flood(response, payload);
  return undefined;
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

/** Sends the head of a reply. @returns the bytes of its body */
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
  const [before, after] = JSON.stringify(resultMessage(1, text('#'))).split('#');
  const [prefix, suffix] = isStream(payload) ? ['event: message\ndata: ', '\n\n'] : ['', ''];
  const filler = Buffer.alloc(64 * 1024, 'x');
  response.writeHead(200, { ...payload.headers });
  await sendAll(response, async function* () {
    yield `${prefix}${before}`;
    for (let sent = 0; sent < HUGE_BYTES; sent += filler.length) yield filler;
    yield `${after}${suffix}`;
  });
}

/** Sends the pieces one by one, until the reader disconnects. */
const sendAll = (response: ServerResponse, pieces: () => AsyncGenerator<string | Buffer>): Promise<void> =>
  pipeline(pieces, response).catch(() => undefined);

const isStream = ({ headers }: Payload): boolean => headers['Content-Type'] === SSE_TYPE;

const text = (content: string) => ({ content: [{ type: 'text', text: content }] });

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from './reply.ts';

/** Maximum size of a request body, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** How much is still read, and discarded, of a request that was rejected. */
const MAX_DRAIN_BYTES = 8 * MAX_BODY_BYTES;

const CLOSE = { Connection: 'close' };

/**
 * Reads a request body. Resolves with an error, 413 above the limit and 408 after `timeoutMs`, or with undefined if the
 * caller disconnected before the request was complete.
 */
export function readBody(
  request: IncomingMessage,
  timeoutMs: number,
): Promise<Buffer | HttpError | undefined> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: Buffer | HttpError | undefined) => {
      clearTimeout(timer);
      chunks = [];
      resolve(outcome);
    };
    const tooSlow = () => settle(new HttpError(408, 'timeout', 'the request arrived too slowly', CLOSE));
    const tooLarge = () =>
      settle(new HttpError(413, 'too_large', `more than ${MAX_BODY_BYTES} bytes`, CLOSE));
    const timer = setTimeout(tooSlow, timeoutMs);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) tooLarge();
      else chunks.push(chunk);
    });
    request.on('end', () => settle(Buffer.concat(chunks)));
    request.on('error', () => settle(undefined));
    request.on('close', () => settle(undefined));
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) tooLarge();
  });
}

/**
 * Discards the rest of a request, for at most `ms` and 8 MiB: closing a connection while the caller sends would reset it,
 * and the reply would be lost.
 */
export async function drain(request: IncomingMessage, ms: number): Promise<void> {
  if (request.complete || request.destroyed) return;
  const stop = new AbortController();
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DRAIN_BYTES) stop.abort();
  });
  request.once('end', () => stop.abort()).once('close', () => stop.abort());
  await sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
}

/** Waits `ms`, or until the caller disconnects. */
export async function pause(response: ServerResponse, ms: number): Promise<void> {
  if (ms <= 0 || response.destroyed) return;
  const stop = new AbortController();
  const { signal } = stop;
  const first = Promise.race([sleep(ms, undefined, { signal }), once(response, 'close', { signal })]);
  await first.catch(() => undefined);
  stop.abort();
}

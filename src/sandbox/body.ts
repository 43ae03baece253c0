import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './refusal.ts';
import type { Standing } from './reply.ts';

/** Largest request body that is read, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

const CLOSE = { Connection: 'close' };

/**
 * Reads a request body. Resolves with a refusal, 413 above the limit and 408 after `timeoutMs`, or with undefined when
 * the caller went away before its request was whole: there is nobody to answer.
 */
export function readBody(request: IncomingMessage, timeoutMs: number): Promise<Buffer | Refusal | undefined> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: Buffer | Refusal | undefined) => {
      clearTimeout(timer);
      chunks = [];
      resolve(outcome);
    };
    const tooSlow = () => settle(new Refusal(408, 'timeout', 'the request came too slowly', CLOSE));
    const tooLarge = () => settle(new Refusal(413, 'too_large', `more than ${BODY_LIMIT} bytes`, CLOSE));
    const timer = setTimeout(tooSlow, timeoutMs);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT) tooLarge();
      else chunks.push(chunk);
    });
    request.on('end', () => settle(Buffer.concat(chunks)));
    request.on('error', () => settle(undefined));
    request.on('close', () => settle(undefined));
    if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT) tooLarge();
  });
}

/** So much is still taken of what nobody wants, in bytes. */
const DRAIN_LIMIT = 8 * BODY_LIMIT;

/**
 * Discards what a caller still sends, for at most `ms` and 8 MiB. A connection that is closed on one who is still sending is
 * reset, and the reply is lost with it.
 */
export function drain(request: IncomingMessage, ms: number): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, ms);
    let seen = 0;
    request.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > DRAIN_LIMIT) done();
    });
    request.once('end', done).once('close', done).resume();
  });
}

/** Waits `ms`, or until the caller went away. */
export function pause(response: ServerResponse, ms: number): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
}

/** Waits until a standing stream is ended, or its reader went away. */
export function holdOpen(response: ServerResponse, { until, over }: Standing): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      until.removeEventListener('abort', done);
      response.off('close', done);
      over();
      resolve();
    };
    if (until.aborted || response.destroyed) return done();
    until.addEventListener('abort', done);
    response.on('close', done);
  });
}

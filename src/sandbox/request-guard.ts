import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../util/url.ts';
import { httpError, type ReplyError } from './messages.ts';
import type { Access, KeyKind, SandboxKeys } from './types.ts';

export const PATH = '/api/mcp';

export const KEYS: SandboxKeys = {
  free: 'sk_service_demo_free',
  paid: 'sk_service_demo_paid',
  revoked: 'sk_service_demo_revoked',
};

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

const KEY_PROBLEMS = {
  none: 'the Authorization header is missing',
  revoked: 'this API key was revoked',
  unknown: 'the API key is unknown, or the Authorization header is not "Bearer <key>" with one space',
} as const;

/** Keeps pages in a browser out (DNS rebinding, cross-site requests). @throws {ReplyError} 400, 403, 404 or 405 */
export function checkOrigin(request: IncomingMessage, port: number, methods: readonly string[]): void {
  const { host: hosts = [], origin: origins = [] } = request.headersDistinct;
  if (hosts.length > 1) throw httpError(400, 'bad_request', 'more than one Host header');
  if (!isLoopbackHost(hosts[0] ?? '', port)) throw forbidden('the Host header is not this server');
  if (!origins.every(isLoopbackOrigin)) throw forbidden('the Origin header is not of this machine');
  const { method = '', url = '' } = request;
  if (method === 'OPTIONS') throw forbidden('cross-origin requests are not allowed');
  if (url.split('?', 1)[0] !== PATH) throw httpError(404, 'not_found', `the service is at ${PATH}`);
  if (!methods.includes(method)) {
    throw httpError(405, 'method_not_allowed', `use ${methods[0]}`, { Allow: methods.join(', ') });
  }
}

export function checkContentType({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (type !== 'application/json' || encoding.trim().toLowerCase() !== 'identity') {
    throw httpError(415, 'unsupported_media_type', 'send Content-Type: application/json');
  }
}

/** Classifies the `Authorization` headers of a request. Only a single `Bearer <key>`, with one space, is valid. */
export function keyKind(headers: readonly string[] = []): KeyKind {
  const [header, second] = headers;
  if (header === undefined) return 'none';
  const key = /^Bearer ([\x21-\x7e]+)$/.exec(header)?.[1];
  const known = (['free', 'paid', 'revoked'] as const).find((kind) => KEYS[kind] === key);
  return second === undefined ? (known ?? 'unknown') : 'unknown';
}

export function authorize(kind: KeyKind, auth: boolean): Access {
  if (!auth) return { paid: true, account: 'open' };
  if (kind === 'free' || kind === 'paid') return { paid: kind === 'paid', account: kind };
  throw unauthorized(KEY_PROBLEMS[kind]);
}

export function unauthorized(message: string): ReplyError {
  return httpError(401, 'unauthorized', message, { 'WWW-Authenticate': 'Bearer' });
}

function isLoopbackHost(host: string, port: number): boolean {
  const lower = host.toLowerCase();
  return LOOPBACK.some((name) => lower === `${name}:${port}` || (port === 80 && lower === name));
}

function isLoopbackOrigin(origin: string): boolean {
  const url = /^https?:\/\//i.test(origin) ? parseUrl(origin) : undefined;
  return url !== undefined && url.origin === origin.toLowerCase() && LOOPBACK.includes(url.hostname);
}

function forbidden(message: string): ReplyError {
  return httpError(403, 'forbidden', message);
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Counts the requests of each account in sliding windows of 60 seconds and 24 hours. Those it rejects with 429 are not
 * counted, so `Retry-After` stays correct. @param now returns milliseconds
 */
export function createRateLimiter(
  perMinute: number,
  perDay: number,
  now: () => number,
): (account: string) => void {
  const requests = new Map<string, number[]>();
  const windows = [
    { lengthMs: MINUTE_MS, limit: perMinute, name: 'minute' },
    { lengthMs: DAY_MS, limit: perDay, name: 'day' },
  ].filter(({ limit }) => limit > 0);
  const keepMs = Math.max(0, ...windows.map(({ lengthMs }) => lengthMs));

  return (account) => {
    const time = now();
    const times = (requests.get(account) ?? []).filter((at) => at > time - keepMs && at <= time);
    requests.set(account, times);
    let waitMs = 0;
    let reason = '';
    for (const { lengthMs, limit, name } of windows) {
      const inWindow = times.filter((at) => at > time - lengthMs);
      const blocking = inWindow[inWindow.length - limit];
      if (blocking === undefined) continue;
      waitMs = Math.max(waitMs, blocking + lengthMs - time);
      reason = `more than ${limit} ${limit === 1 ? 'request' : 'requests'} in a ${name}`;
    }
    if (waitMs > 0) throw tooManyRequests(reason, Math.max(1, Math.ceil(waitMs / 1000)));
    if (windows.length > 0) times.push(time);
  };
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ReplyError {
  return httpError(429, 'rate_limited', message, { 'Retry-After': String(retryAfterSeconds) });
}

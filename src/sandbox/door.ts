import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** The one path of the service. */
export const PATH = '/api/mcp';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Looks at who asks, before what is asked: a page in a browser must not reach a server on this machine
 * (DNS rebinding, cross-site requests).
 * @throws {Refusal} 400, 403, 404 or 405.
 */
export function checkDoor(request: IncomingMessage, port: number, methods: readonly string[]): void {
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length > 1) throw new Refusal(400, 'bad_request', 'more than one Host header');
  const { authority, path } = targetOf(request.url ?? '');
  if (![hosts[0] ?? '', authority ?? hosts[0] ?? ''].every((host) => isLoopbackHost(host, port)))
    throw forbidden('the Host header is not this server');
  const origins = request.headersDistinct.origin ?? [];
  if (!origins.every(isLoopbackOrigin)) throw forbidden('the Origin header is not of this machine');
  const method = request.method ?? '';
  if (method === 'OPTIONS') throw forbidden('no cross-origin requests here');
  if (path !== PATH) throw new Refusal(404, 'not_found', `the service is at ${PATH}`);
  if (!methods.includes(method)) {
    throw new Refusal(405, 'method_not_allowed', `use ${methods[0]}`, { Allow: methods.join(', ') });
  }
}

/** @throws {Refusal} 415 unless the body says it is plain JSON. */
export function checkContentType(request: IncomingMessage): void {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (type !== 'application/json' || encoding.trim().toLowerCase() !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'send Content-Type: application/json');
  }
}

/** A target may be a whole URL, as to a proxy (RFC 9112, section 3.2.2). Its host counts as the Host header does. */
function targetOf(target: string): { authority?: string; path: string } {
  const [, authority, path = '/'] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)/i.exec(target) ?? [];
  return authority === undefined ? { path: target.split('?', 1)[0] ?? '' } : { authority, path };
}

function isLoopbackHost(host: string, port: number): boolean {
  const lower = host.toLowerCase();
  if (port === 80 && LOOPBACK.includes(lower)) return true;
  return LOOPBACK.some((name) => lower === `${name}:${port}`);
}

function isLoopbackOrigin(origin: string): boolean {
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return LOOPBACK.includes(url.hostname) && url.username === '';
}

function forbidden(message: string): Refusal {
  return new Refusal(403, 'forbidden', message);
}

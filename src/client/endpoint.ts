import { AppError } from '../errors.ts';
import { redactor } from './key.ts';

const PATH = '/api/mcp';
/** As a URL writes it: a host whose last label is a number is an IPv4 address (WHATWG URL, section 3.5). */
const LOOPBACK_IPV4 = /^127(?:\.\d+){3}$/;

/**
 * The endpoint of the service at a base URL: its path and `/api/mcp`. A URL that already ends so is taken as it is.
 * @throws {AppError} `usage` for what is not a plain http(s) URL.
 */
export function endpointFromBase(baseUrl: string): URL {
  const url = httpUrl(baseUrl, 'base URL', '--base-url');
  if (url.href.includes('?')) {
    throw refusal('base URL', baseUrl, 'it has a query', `--endpoint takes an exact URL`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(PATH) ? path : path + PATH;
  return url;
}

/**
 * An exact endpoint.
 * @throws {AppError} `usage` for what is not an http(s) URL.
 */
export function parseEndpoint(url: string): URL {
  return httpUrl(url, 'endpoint', '--endpoint');
}

/** Is the host this machine: `localhost`, 127.0.0.0/8 or `[::1]`? */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || LOOPBACK_IPV4.test(host);
}

/**
 * Holds the key back from an unprotected way: it travels over https or to this machine.
 * @throws {AppError} `usage` for http to another host, unless `insecureHttp`.
 */
export function assertMayCarryKey(url: URL, insecureHttp: boolean): void {
  if (url.protocol === 'https:' || insecureHttp || isLoopback(url)) return;
  throw new AppError('usage', `the key is not sent over plain http to ${url.host}`, {
    hint: `use https://${url.host}, or add --insecure-http if the network is yours`,
  });
}

/**
 * Adds the scheme that an address lacks: https, or http for this machine. Anything that cannot be an address stays as
 * it is.
 */
export function withScheme(address: string): string {
  const text = address.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const rest = text.replace(/^\/+/, '');
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(rest)) return text;
  const plain = parse(`http://${rest}`);
  if (plain === undefined || plain.username !== '' || plain.password !== '') return text;
  return `${isLoopback(plain) ? 'http' : 'https'}://${rest}`;
}

function httpUrl(raw: string, what: string, flag: string): URL {
  const text = withScheme(raw);
  const use = (url: string) => `restaurant status ${flag} ${url}`;
  if (text === '') throw refusal(what, raw, 'it is empty', use('https://<host>'));
  if (/[\u0000-\u0020\u007f]/.test(text))
    throw refusal(what, raw, 'it has a blank or control character inside');
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) throw refusal(what, raw, 'it has no http:// or https://');
  const url = parse(text);
  if (url === undefined) throw refusal(what, raw, 'it is not a valid URL');
  if (redactor(undefined)(text) !== text) throw refusal(what, raw, 'it contains an API key');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refusal(what, raw, 'only http and https are spoken');
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('usage', `the ${what} for ${url.host} holds a user name or password`, {
      hint: `leave it out: ${use(url.origin)}; the key comes from restaurant login`,
    });
  }
  if (text.includes('#'))
    throw refusal(what, raw, 'it has a fragment', use(text.slice(0, text.indexOf('#'))));
  return url;
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function refusal(what: string, raw: string, why: string, hint?: string): AppError {
  const redact = redactor(undefined);
  const shown = redact(raw.trim()).replace(/\/\/[^/@]*@/, '//…@');
  return new AppError('usage', `"${shown.slice(0, 200)}" cannot be the ${what}: ${why}`, {
    hint: redact(hint ?? 'give one like https://<host>; restaurant status shows the one in use'),
  });
}

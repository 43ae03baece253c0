import { AppError, type ErrorDetails } from '../errors.ts';
import { maskUrl, parseUrl } from '../util/url.ts';
import { redactor } from './key.ts';

const PATH = '/api/mcp';
const HAS_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
/** 127.0.0.0/8 as the URL parser normalizes it (WHATWG URL, section 3.5). */
const LOOPBACK_IPV4 = /^127(?:\.\d+){3}$/;

/** Adds `/api/mcp`, unless the path ends that way. @throws {AppError} `usage` for anything but a plain http(s) URL */
export function endpointFromBase(baseUrl: string): URL {
  const url = parseHttpUrl(baseUrl, 'baseUrl');
  if (url.href.includes('?')) {
    throw refusal('baseUrl', baseUrl, 'it has a query', { reason: 'has_query' });
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  url.pathname = path.endsWith(PATH) ? path : path + PATH;
  return url;
}

export function parseEndpoint(url: string): URL {
  return parseHttpUrl(url, 'endpoint');
}

export interface Address {
  readonly endpoint?: URL | string;
  /** The service; its endpoint is `<baseUrl>/api/mcp`. */
  readonly baseUrl?: URL | string;
}

/** @throws {AppError} `no_service` for neither; `usage` for an invalid URL */
export function endpointOf({ endpoint, baseUrl }: Address): URL {
  if (endpoint !== undefined) return parseEndpoint(String(endpoint));
  if (baseUrl !== undefined) return endpointFromBase(String(baseUrl));
  throw new AppError('no_service', 'neither an endpoint nor a base URL is given');
}

export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === 'localhost' || host === '[::1]' || LOOPBACK_IPV4.test(host);
}

/** @throws {AppError} `usage` for http to another host, unless `insecureHttp` */
export function assertMayCarryKey(url: URL, insecureHttp: boolean): void {
  if (url.protocol === 'https:' || insecureHttp || isLoopback(url)) return;
  throw new AppError('usage', `the key is not sent over plain HTTP to ${url.host}`, {
    reason: 'plain_http',
    host: url.host,
  });
}

/** Adds the scheme to an address without one: https, or http for this machine. Other text is not changed. */
export function withScheme(address: string): string {
  const text = address.trim();
  if (HAS_SCHEME.test(text)) return text;
  const rest = text.replace(/^\/+/, '');
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(rest)) return text;
  const plain = parseUrl(`http://${rest}`);
  if (plain === undefined || plain.username !== '' || plain.password !== '') return text;
  return `${isLoopback(plain) ? 'http' : 'https'}://${rest}`;
}

function parseHttpUrl(raw: string, option: UrlOption): URL {
  const text = withScheme(raw);
  const refuse = (problem: string, valid?: string) =>
    refusal(option, raw, problem, valid === undefined ? {} : { url: valid });
  const url = /[\u0000-\u0020\u007f]/.test(text) ? undefined : parseUrl(text);
  if (url === undefined || !/^https?:\/\//i.test(text)) throw refuse('it is not a valid http or https URL');
  if (redactor()(text) !== text) throw refuse('it contains an API key');
  if (url.username !== '' || url.password !== '')
    throw refuse('it contains a user name or password', url.origin);
  if (text.includes('#')) throw refuse('it has a fragment', text.slice(0, text.indexOf('#')));
  return url;
}

type UrlOption = NonNullable<ErrorDetails['option']>;

function refusal(option: UrlOption, raw: string, problem: string, facts: ErrorDetails): AppError {
  const shown = redactor()(maskUrl(raw.trim())).slice(0, 200);
  const name = option === 'baseUrl' ? 'base URL' : 'endpoint';
  const message = `"${shown}" cannot be the ${name}: ${problem}`;
  return new AppError('usage', message, { reason: 'invalid_url', option, ...facts });
}

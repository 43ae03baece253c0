import { BlockList, isIP } from 'node:net';
import { AppError, attempt } from '../../errors.ts';
import { parseUrl } from '../../util/url.ts';
import { isLoopback } from '../endpoint.ts';

export type ProxyVariables = Readonly<Record<string, string | undefined>>;

export interface ProxyServer {
  /** `socks5` resolves host names on this machine, `socks5h` in the proxy, as curl does. */
  readonly kind: 'http' | 'socks5' | 'socks5h';
  /** Without credentials. */
  readonly url: URL;
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** HTTPS_PROXY or HTTP_PROXY, else ALL_PROXY; none if NO_PROXY lists the host, or for loopback. @throws {AppError} `usage` */
export function proxyFor(target: URL, env: ProxyVariables): ProxyServer | undefined {
  const variable = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const name = [target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY', 'ALL_PROXY'].find(variable);
  if (name === undefined || isLoopback(target) || isExcluded(target, variable('NO_PROXY') ?? '')) {
    return undefined;
  }
  return parseProxy(variable(name) ?? '', name);
}

const KINDS: Readonly<Record<string, ProxyServer['kind']>> = {
  'http:': 'http',
  'https:': 'http',
  'socks5:': 'socks5',
  'socks5h:': 'socks5h',
};

function parseProxy(value: string, name: string): ProxyServer {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = parseUrl(text);
  const kind = url && KINDS[url.protocol];
  if (url === undefined || kind === undefined || url.hostname === '') {
    throw new AppError('usage', `${name} is not an http, https, socks5 or socks5h URL`, {
      reason: 'invalid_proxy',
      variable: name,
    });
  }
  const server = { kind, url: new URL(`${url.protocol}//${url.host}`) };
  if (url.username === '' && url.password === '') return server;
  return { ...server, credentials: { username: decode(url.username), password: decode(url.password) } };
}

const decode = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text;

/** Whether NO_PROXY lists the host: `*`, a domain with its subdomains, an address, or a range; each with a port or not. */
function isExcluded(target: URL, list: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  const host = withoutDot(target.hostname.replace(/^\[|\]$/g, ''));
  return list.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', onlyPort = port] = ENTRY.exec(entry) ?? [];
    return onlyPort === port && matches(host, withoutDot(name.replace(/^\[|\]$/g, '').toLowerCase()));
  });
}

/** An entry with colons is an IPv6 address without a port, unless the address is in brackets. */
const ENTRY = /^([^[:]+|\[[^\]]+\](?:\/\d+)?|[^[:]*:[^[:]*:[^[]*)(?::(\d+))?$/;

/** The dot at the end of a full name says that it is one. */
const withoutDot = (name: string): string => name.replace(/\.$/, '');

function matches(host: string, name: string): boolean {
  const [address = '', length] = name.split('/');
  if (isIP(address) === 0) {
    const domain = name.replace(/^\*?\./, '');
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  }
  const bits = isIP(address) === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(/^\d+$/.exec(length)?.[0] ?? Number.NaN);
  if (isIP(host) === 0 || !(prefix <= bits)) return false;
  const range = new BlockList();
  range.addSubnet(address, prefix, bits === 32 ? 'ipv4' : 'ipv6');
  return range.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

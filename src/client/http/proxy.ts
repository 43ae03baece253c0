import { AppError, attempt } from '../../errors.ts';
import { parseUrl } from '../../util/url.ts';
import { isLoopback } from '../endpoint.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface ProxyServer {
  /** `socks5` resolves host names on this machine, `socks5h` in the proxy, as curl does. */
  readonly kind: 'http' | 'socks5' | 'socks5h';
  /** Without credentials. */
  readonly url: URL;
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** HTTPS_PROXY or HTTP_PROXY, else ALL_PROXY; none if NO_PROXY lists the host, or for loopback. @throws {AppError} `usage` */
export function proxyFor(target: URL, env: Env): ProxyServer | undefined {
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

/** Whether NO_PROXY lists the host: `*`, a domain with its subdomains, or `host:port`. */
function isExcluded(target: URL, list: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const parts = /^(.+?)(?::(\d+))?$/.exec(/^[^[].*:.*:/.test(entry) ? `[${entry}]` : entry);
    if (parts === null || (parts[2] !== undefined && parts[2] !== port)) return false;
    const domain = (parts[1] ?? '').replace(/^\*?\./, '').toLowerCase();
    return domain !== '' && (target.hostname === domain || target.hostname.endsWith(`.${domain}`));
  });
}

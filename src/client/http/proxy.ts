import { AppError } from '../../errors.ts';
import { isLoopback } from '../endpoint.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The proxy that requests to a service go through. */
export interface ProxyServer {
  /** Without credentials. */
  readonly url: URL;
  /** Value of `Proxy-Authorization` (RFC 7617), where the variable holds credentials. */
  readonly token?: string;
}

/**
 * The proxy that the environment names for `target`: HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY excepts the host.
 * The lower-case variable wins, an empty one is unset, this machine is never reached through a proxy.
 * @throws {AppError} `usage` for a proxy that is no http(s) URL
 */
export function proxyFor(target: URL, env: Env): ProxyServer | undefined {
  const name = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = variable(env, name);
  if (value === undefined || isLoopback(target) || isExcepted(target, variable(env, 'no_proxy') ?? '')) {
    return undefined;
  }
  return parseProxy(value, name.toUpperCase());
}

function variable(env: Env, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

function parseProxy(value: string, name: string): ProxyServer {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const what =
      url === undefined ? 'is no valid URL' : `names a proxy of the kind ${url.protocol.slice(0, -1)}`;
    throw new AppError('usage', `${name} ${what}; only http and https proxies can be used`, {
      hint: `unset it for one call: ${name}= restaurant status --check`,
    });
  }
  const { username, password } = url;
  const bare = new URL(url.origin);
  if (username === '' && password === '') return { url: bare };
  const credentials = `${decode(username)}:${decode(password)}`;
  return { url: bare, token: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Does NO_PROXY name the host: `*`, a domain with all below it, or `host:port`? */
function isExcepted(target: URL, list: string): boolean {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const parts = /^(.+?)(?::(\d+))?$/.exec(/^[^[].*:.*:/.test(entry) ? `[${entry}]` : entry);
    if (parts === null || (parts[2] !== undefined && parts[2] !== port)) return false;
    const domain = (parts[1] ?? '').replace(/^\*?\./, '').toLowerCase();
    return domain !== '' && (target.hostname === domain || target.hostname.endsWith(`.${domain}`));
  });
}

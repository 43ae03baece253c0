import { lookup } from 'node:dns/promises';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import { Socks5Client } from 'undici/lib/core/socks5-client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { ServiceError } from '../service-error.ts';
import type { ProxyServer } from './proxy.ts';

/** `CONNECT` of HTTP (RFC 9110, section 9.3.6) or SOCKS 5 (RFC 1928). @param connecting sockets whose tunnels are not open */
export function openTunnels(proxy: ProxyServer, direct: buildConnector.connector, connecting: Set<Socket>) {
  const pool = proxy.kind === 'http' ? new Pool(proxy.url.origin, { connect: direct }) : undefined;
  const open: buildConnector.connector = (options, callback) => {
    const { hostname, protocol } = options;
    const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
    const opened =
      pool === undefined
        ? socksTunnel(proxy, direct, connecting, hostname, port)
        : httpTunnel(pool, proxy, `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`);
    opened.then(
      (socket) => {
        if (protocol === 'https:') direct({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error) => callback(proxyError(error, proxy, hostname), null),
    );
  };
  return { connect: open, close: async () => pool?.destroy() };
}

async function httpTunnel(pool: Pool, { credentials }: ProxyServer, path: string): Promise<Socket> {
  const token =
    credentials && Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  const headers = { host: path, ...(token && { 'proxy-authorization': `Basic ${token}` }) };
  const { statusCode, socket } = await connect.call(pool, { path, headers });
  if (statusCode === 200) return socket as Socket;
  socket.on('error', () => {}).destroy();
  throw Object.assign(new Error(`HTTP ${statusCode}`), { statusCode });
}

async function socksTunnel(
  { url, kind, credentials }: ProxyServer,
  direct: buildConnector.connector,
  connecting: Set<Socket>,
  hostname: string,
  port: number,
): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const target = kind === 'socks5' ? (await lookup(host)).address : host;
  const socket = await new Promise<Socket>((resolve, reject) => {
    const at = { hostname: url.hostname, host: url.host, port: url.port || '1080', protocol: 'http:' };
    direct(at, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  connecting.add(socket);
  const client = new Socks5Client(socket, { ...credentials });
  // The client emits every later error of the socket, too.
  client.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    client.once('error', reject);
    client.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    client.once('authenticated', () => client.connect(target, port));
    client.once('connected', () => resolve());
    client.handshake();
  }).finally(() => connecting.delete(socket));
  return socket;
}

function proxyError(error: unknown, proxy: ProxyServer, target: string): ServiceError {
  const { code = '', statusCode: status, hostname } = error as ProxyFailure;
  const isUnknownName = hostname === target;
  const isRejected = status === 401 || status === 407 || code.startsWith('UND_ERR_SOCKS5_AUTH');
  const problem = isUnknownName
    ? `the host name ${target} does not exist on this machine (${code})`
    : `the proxy ${proxy.url.host} ${proxyProblem(error, code, status)}`;
  return new ServiceError('network', {
    reason: isUnknownName ? 'proxied_dns' : 'proxy',
    problem,
    ...(isUnknownName && { url: `socks5h://${proxy.url.host}` }),
    ...(status !== undefined && { status }),
    ...((isRejected || isUnknownName) && { retryable: false }),
    cause: error,
  });
}

/** An error of the system, of undici, or of {@link httpTunnel}. */
interface ProxyFailure {
  readonly code?: string;
  readonly statusCode?: number;
  /** The name that was not resolved. */
  readonly hostname?: string;
}

function proxyProblem(error: unknown, code: string, status: number | undefined): string {
  if (status !== undefined)
    return status === 407 ? 'requires credentials (407)' : `refused with HTTP ${status}`;
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code.startsWith('UND_ERR_SOCKS5_AUTH')) return 'rejected the credentials';
  if (code.startsWith('UND_ERR_SOCKS5_REPLY_') && error instanceof Error) {
    return `failed: ${error.message.replace(/^.*failed: /, '')}`;
  }
  return `cannot be used${code === '' ? '' : ` (${code})`}`;
}

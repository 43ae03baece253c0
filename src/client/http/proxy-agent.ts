import type { buildConnector, Dispatcher } from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { ExchangeError } from './network-error.ts';
import type { ProxyServer } from './proxy.ts';

/** What the connections through a proxy share with direct ones. */
interface Connecting {
  readonly connectMs: number;
  readonly limits: Pool.Options;
  /** A new one for each tunnel, as undici does. */
  connector(): buildConnector.connector;
}

/** Opens connections to one service through a proxy. */
export function openProxyAgent(proxy: ProxyServer, { connectMs, limits, connector }: Connecting): Dispatcher {
  return new ProxyAgent({
    ...limits,
    uri: proxy.url.href,
    ...(proxy.token === undefined ? {} : { token: proxy.token }),
    requestTls: { timeout: connectMs },
    clientFactory: (origin, given) => new TunnelPool(origin, { ...given, ...limits, connect: connector() }),
  });
}

/** Connections to a proxy. One that refuses the tunnel says so with its status, which undici would swallow. */
class TunnelPool extends Pool {
  override connect(options: Parameters<Pool['connect']>[0]): Promise<Dispatcher.ConnectData>;
  override connect(
    options: Parameters<Pool['connect']>[0],
    callback: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): void;
  override connect(
    options: Parameters<Pool['connect']>[0],
    callback?: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): Promise<Dispatcher.ConnectData> | undefined {
    if (callback !== undefined) {
      connect.call(this, options, callback);
      return undefined;
    }
    return connect.call(this, options).then((data) => {
      if (data.statusCode === 200) return data;
      data.socket.on('error', () => {}).destroy();
      const needs =
        data.statusCode === 407 ? 'wants credentials (407)' : `refused with HTTP ${data.statusCode}`;
      throw new ExchangeError('network', 'proxy', needs);
    });
  }
}

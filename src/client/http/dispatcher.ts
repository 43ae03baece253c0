import { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import openConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { ProxyServer } from './proxy.ts';

/** undici as this program uses it. */
export interface HttpDispatcher {
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** What undici alone knows about an error. */
  judge(error: unknown): Judgement;
  /** Drops every connection. */
  close(): Promise<void>;
}

/** `malformed`: what came is no HTTP. `cut_off`: HTTP that stops too early. */
export type Judgement = 'malformed' | 'cut_off' | undefined;

/** Time for one of several addresses of a host; Node's 250 ms are too short for slow networks. */
const ADDRESS_MS = 1000;

/** Opens connections to one service, directly or through a proxy. */
export async function openDispatcher(options: {
  connectMs: number;
  proxy: ProxyServer | undefined;
}): Promise<HttpDispatcher> {
  const { connectMs, proxy } = options;
  const watch = socketWatch(connectMs);
  const connector = () =>
    watch.connector(openConnector({ timeout: 0, autoSelectFamilyAttemptTimeout: ADDRESS_MS }));
  const limits = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };
  const agent =
    proxy === undefined
      ? new Agent({ ...limits, connect: connector() })
      : (await import('./proxy-agent.ts')).openProxyAgent(proxy, { connectMs, limits, connector });
  return {
    dispatch: (request, handler) => {
      agent.dispatch(request, handler);
    },
    judge: (error) => {
      if (error instanceof errors.HTTPParserError) {
        // An error at the end of the input has no rest of the input to show.
        return 'data' in error && typeof error.data === 'string' && error.data !== ''
          ? 'malformed'
          : 'cut_off';
      }
      return watch.violations.has(error as object) ? 'malformed' : undefined;
    },
    close: async () => {
      watch.destroyConnecting();
      await agent.destroy();
    },
  };
}

/** Follows the sockets of a connector: those that are still connecting, and errors that are the peer's fault. */
function socketWatch(connectMs: number) {
  const connecting = new Set<Socket>();
  const violations = new WeakSet<object>();

  function limitConnecting(socket: Socket): void {
    connecting.add(socket);
    // undici's own timer is a second late.
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error('connect timeout'), { code: 'UND_ERR_CONNECT_TIMEOUT' }));
    }, connectMs);
    // A TLS socket says so; asking for its class would load all of TLS.
    for (const event of ['encrypted' in socket ? 'secureConnect' : 'connect', 'close']) {
      socket.once(event, () => {
        clearTimeout(timer);
        connecting.delete(socket);
      });
    }
  }

  return {
    violations,
    destroyConnecting: () => {
      for (const socket of connecting) socket.destroy();
    },
    connector(connect: buildConnector.connector): buildConnector.connector {
      return (options, callback) => {
        const socket: unknown = connect(options, callback);
        if (!(socket instanceof Socket)) return;
        limitConnecting(socket);
        socket.on('error', (error: NodeJS.ErrnoException) => {
          // undici gave up on what it read while the peer had not closed: a switch of protocols, a second answer.
          if (error.code === 'UND_ERR_SOCKET' && !socket.readableEnded) violations.add(error);
        });
      };
    },
  };
}

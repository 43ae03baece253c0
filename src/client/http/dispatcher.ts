import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import openConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { Fault } from './network-error.ts';
import type { ProxyServer } from './proxy.ts';

export type HttpDispatcher = Awaited<ReturnType<typeof openDispatcher>>;

/** Time for one of several addresses of a host; Node's 250 ms are too short for slow networks. */
const ADDRESS_MS = 1000;

/** Opens connections to one service, directly or through a proxy. */
export async function openDispatcher(connectMs: number, proxy: ProxyServer | undefined) {
  const watch = socketWatch();
  // Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says, because the server receives the key.
  const direct = watch.connector(
    openConnector({
      timeout: connectMs,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      rejectUnauthorized: true,
    }),
  );
  const limits = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };
  const tunnels = proxy && (await import('./tunnel.ts')).openTunnels(proxy, direct);
  const agent = new Agent({ ...limits, connect: tunnels?.connect ?? direct });
  return {
    dispatch: agent.dispatch.bind(agent),
    /** Classifies an error of the HTTP parser. */
    faultOf(error: unknown): Fault {
      if (error instanceof errors.HTTPParserError) {
        // `data` is the rest of the input; at the end of the input there is none.
        return 'data' in error && error.data ? 'malformed' : 'cut_off';
      }
      return watch.violations.has(error as object) ? 'malformed' : undefined;
    },
    /** Closes every connection. */
    async close(): Promise<void> {
      watch.destroyConnecting();
      await Promise.all([agent.destroy(), tunnels?.close()]);
    },
  };
}

/** Follows the sockets of a connector: those that are still connecting, and errors that are the server's fault. */
function socketWatch() {
  const connecting = new Set<Socket>();
  const violations = new WeakSet<object>();

  return {
    violations,
    destroyConnecting: () => {
      for (const socket of connecting) socket.destroy();
    },
    connector(connect: buildConnector.connector): buildConnector.connector {
      return (options, callback) => {
        const socket: unknown = connect(options, callback);
        if (!(socket instanceof Socket)) return;
        connecting.add(socket);
        // Checking for the class of a TLS socket would load all of TLS.
        for (const event of ['encrypted' in socket ? 'secureConnect' : 'connect', 'close']) {
          socket.once(event, () => connecting.delete(socket));
        }
        skipContinue(socket);
        socket.on('error', (error: NodeJS.ErrnoException) => {
          // The connection was still open, so undici rejected what it read: a protocol switch, a second response.
          if (error.code === 'UND_ERR_SOCKET' && !socket.readableEnded) violations.add(error);
        });
      };
    },
  };
}

const CONTINUE = /^(?:HTTP\/1\.[01] 100[ \r][\s\S]*?\r\n\r\n)+/;
const MAX_CONTINUE_BYTES = 1024;

/** Removes a `100 Continue` in front of a response: undici, which never asks for one, takes it for an attack. */
function skipContinue(socket: Socket): void {
  const { read, write } = socket;
  let isResponseStart = false;
  socket.write = (...args: unknown[]): boolean => {
    isResponseStart = true;
    return Reflect.apply(write, socket, args);
  };
  socket.read = (size?: number): unknown => {
    const chunk: unknown = Reflect.apply(read, socket, [size]);
    if (!isResponseStart || !Buffer.isBuffer(chunk)) return chunk;
    const start = chunk.subarray(0, MAX_CONTINUE_BYTES).toString('latin1');
    const rest = chunk.subarray(CONTINUE.exec(start)?.[0].length ?? 0);
    isResponseStart = rest.length === 0;
    return isResponseStart ? null : rest;
  };
}

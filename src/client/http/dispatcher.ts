import { type LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import openConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { UNEXPECTED_DATA } from './network-error.ts';
import type { ProxyServer } from './proxy.ts';

export type HttpDispatcher = Awaited<ReturnType<typeof openDispatcher>>;

/** Time limit for one of several addresses of a host. Node's default of 250 ms is too short for slow networks. */
const ADDRESS_MS = 1000;

/** Resolves `localhost` to this machine, whatever the resolver says (RFC 6761, section 6.3). */
const lookupLocalhost: LookupFunction = (_host, { all }, callback) => {
  if (all !== true) return callback(null, '127.0.0.1', 4);
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
};

export async function openDispatcher(hostname: string, connectMs: number, proxy: ProxyServer | undefined) {
  const connecting = new Set<Socket>();
  const direct = watchSockets(
    // Certificates are always verified, despite NODE_TLS_REJECT_UNAUTHORIZED, because the server receives the key.
    openConnector({
      timeout: connectMs,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS,
      rejectUnauthorized: true,
      ...(hostname === 'localhost' && { lookup: lookupLocalhost }),
    }),
    connecting,
  );
  const limits = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };
  const tunnels = proxy && (await import('./tunnel.ts')).openTunnels(proxy, direct, connecting);
  const agent = new Agent({ ...limits, connect: tunnels?.connect ?? direct });
  return {
    dispatch: agent.dispatch.bind(agent),
    async close(): Promise<void> {
      for (const socket of connecting) socket.destroy();
      await Promise.all([agent.destroy(closed()), tunnels?.close()]);
    },
  };
}

/** The error of undici, without its stack: Node reads that for each socket, and finding its lines takes long in a bundle. */
const closed = () =>
  Object.assign(new Error('The client is destroyed'), {
    name: 'ClientDestroyedError',
    code: 'UND_ERR_DESTROYED',
    stack: '',
  });

/** Prepares the sockets of a connector. `connecting` contains each socket until it is connected. */
function watchSockets(connect: buildConnector.connector, connecting: Set<Socket>): buildConnector.connector {
  return (options, callback) => {
    const socket: unknown = connect(options, callback);
    if (!(socket instanceof Socket)) return;
    connecting.add(socket);
    // Checking for the class of a TLS socket would load all of TLS.
    for (const event of ['encrypted' in socket ? 'secureConnect' : 'connect', 'close']) {
      socket.once(event, () => connecting.delete(socket));
    }
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The connection was still open, so undici rejected the data: a protocol switch, or a second response. The code is
      // kept, because after UND_ERR_SOCKET undici sends the requests that wait for this connection on another one.
      if (error.code === 'UND_ERR_SOCKET' && !socket.readableEnded) error.name = UNEXPECTED_DATA;
    });
  };
}

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { UNTRUSTED } from '../unit/client/certificate.ts';
import type { Fault } from './fault.ts';

export interface FaultServer {
  readonly port: number;
  /** First lines of the requests so far. */
  readonly requests: readonly string[];
  /** How many connections there were. */
  connections(): number;
  close(): Promise<void>;
}

/** Serves a fault over raw sockets: what it says is what travels. */
export async function serveFault(
  { talk, tls, banner }: Pick<Fault, 'talk' | 'tls' | 'banner'>,
  address = '127.0.0.1',
): Promise<FaultServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();

  function serve(socket: Socket): void {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let request = take(); request !== undefined; request = take()) answer(request);
    });

    /** The first whole request of what came. */
    function take(): { head: string; body: string } | undefined {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return undefined;
      const head = received.subarray(0, end).toString('latin1');
      const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + length) return undefined;
      const body = received.subarray(end + 4, end + 4 + length).toString();
      received = received.subarray(end + 4 + length);
      return { head, body };
    }

    function answer({ head, body }: { head: string; body: string }): void {
      const count = requests.push(head.split('\r\n', 1)[0] ?? '') - 1;
      const id: unknown = body === '' ? undefined : JSON.parse(body).id;
      const said = talk({ id, count, head, body, socket });
      if (said !== undefined) socket.end(said);
    }
  }

  const server = tls === undefined ? createServer(serve) : createTlsServer(UNTRUSTED, serve);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    if (banner !== undefined) socket.end(banner);
  });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket: Socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

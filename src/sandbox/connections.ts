import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps a server to so many connections: a new one takes the place of the one that has been idle longest, so that
 * callers who open and never ask shut nobody out. Where each has a request under way, the new one is closed.
 */
export function limitConnections(server: Server, most: number): void {
  /** Requests under way on each connection; those that wait longest for one come first. */
  const open = new Map<Socket, number>();
  const close = (socket: Socket) => {
    open.delete(socket);
    socket.destroy();
  };
  const change = (socket: Socket, by: 1 | -1) => {
    const count = open.get(socket);
    if (count === undefined) return;
    open.delete(socket);
    open.set(socket, count + by);
  };
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => open.delete(socket));
    if (open.size >= most) {
      const idle = [...open].find(([, count]) => count === 0);
      close(idle?.[0] ?? socket);
      if (idle === undefined) return;
    }
    open.set(socket, 0);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    change(socket, 1);
    response.once('close', () => change(socket, -1));
  });
}

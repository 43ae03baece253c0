// The parts of undici that a POST needs. Its index loads ten times as much: fetch, WebSocket, a cache, and mocks.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
/** `connect` of a dispatcher, which undici's index adds to its classes. */
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const connect: {
    call(
      dispatcher: Dispatcher,
      options: Parameters<import('undici').Pool['connect']>[0],
    ): Promise<Dispatcher.ConnectData>;
  };
  export default connect;
}
declare module 'undici/lib/core/socks5-client.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  export class Socks5Client extends EventEmitter {
    constructor(socket: Socket, options: { username?: string; password?: string });
    handshake(): void;
    connect(address: string, port: number): void;
  }
}

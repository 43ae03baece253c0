// The parts of undici that a POST needs. Its index loads ten times as much: fetch, WebSocket, a cache, mocks.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export default errors;
}
/** `connect` of a dispatcher, which undici's index adds to its classes. */
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  type Options = Parameters<import('undici').Pool['connect']>[0];
  type Connected = (error: Error | null, data: Dispatcher.ConnectData) => void;
  interface Connect {
    call(dispatcher: Dispatcher, options: Options): Promise<Dispatcher.ConnectData>;
    call(dispatcher: Dispatcher, options: Options, callback: Connected): void;
  }
  const connect: Connect;
  export default connect;
}

import type { Call, Channel, ChannelAnswer } from './channel.ts';
import type { RequestHeaders } from './headers.ts';
import { request } from './rpc.ts';
import type { RpcRequest } from './types.ts';

/** Which protocol to speak: found out, plain JSON-RPC, or a revision of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

/** What an endpoint was found to speak. */
export interface Remembered {
  readonly era: string;
  /** Revision that was agreed on. */
  readonly version?: string;
}

/** Keeps what an endpoint speaks between runs. */
export interface SessionMemory {
  read(): Remembered | undefined;
  write(value: Remembered): void;
  forget(): void;
}

/** A call as a caller means it, whatever the protocol. */
export interface Wanted {
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders;
}

export interface Session {
  /** Makes a call in the protocol that the service speaks. */
  call(call: Call, wanted: Wanted): Promise<ChannelAnswer>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly channel: Channel;
  readonly protocol: Protocol;
  readonly memory?: SessionMemory | undefined;
}

export function openSession({ channel }: SessionOptions): Session {
  return {
    call: (call, { method, params, headers = {} }) =>
      channel.request(call, { build: (id) => ({ ...request(id, method, params) }), headers }),
    close: async () => {},
  };
}

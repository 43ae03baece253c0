import type { Restaurant } from '../client/types.ts';

/** A restaurant of the sandbox, as returned by a search. Its details are derived from it. */
export interface SandboxRestaurant extends Restaurant {
  city: string;
}

/** Format of the replies: one JSON body, or a stream of server-sent events. */
export type ReplyForm = 'json' | 'sse';

/** `service`: only `tools/call` without a handshake, as documented. `mcp`: a full MCP server. */
export type Mode = 'service' | 'mcp';

export type KeyKind = 'free' | 'paid' | 'revoked' | 'none' | 'unknown';

export interface Access {
  /** True if the levels `standard` and `premium` are allowed. */
  readonly paid: boolean;
  /** The account whose quota the request uses. */
  readonly account: string;
}

/** An exchange, for the log. */
export interface RequestEntry extends Pick<SandboxRequest, 'key' | 'status'> {
  /** JSON-RPC method of the body. */
  readonly method?: string;
  readonly tool?: string;
  /** Duration in milliseconds. */
  readonly ms: number;
}

/** A received request, for tests. */
export interface SandboxRequest {
  /** HTTP method. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** All headers except `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeyKind;
  /** The body parsed as JSON, else its text; undefined without a body. */
  readonly body: unknown;
  /** HTTP status that was sent; 0 before, and if a fault sent none. */
  readonly status: number;
  /** Time of arrival, by the clock of the sandbox. */
  readonly time: number;
}

export interface SandboxKeys {
  readonly free: string;
  readonly paid: string;
  readonly revoked: string;
}

export interface Sandbox {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** `baseUrl` and `/api/mcp`. */
  readonly endpoint: string;
  readonly keys: SandboxKeys;
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly SandboxRequest[];
  /** Stops immediately, even with open connections. */
  close(): Promise<void>;
}

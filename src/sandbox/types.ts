import type { Restaurant } from '../client/types.ts';
import type { Fault } from './faults.ts';

/** A restaurant of the sandbox, as a search returns it. The details are derived from it. */
export interface SandboxRestaurant extends Restaurant {
  city: string;
}

/** Format of the replies: one JSON body, or a stream of server-sent events. */
export type ReplyForm = 'json' | 'sse';

/** `service`: only `tools/call` without a handshake, as documented. `mcp`: a full MCP server. */
export type Mode = 'service' | 'mcp';

/** The kind of key in the `Authorization` header of a request. */
export type KeyKind = 'free' | 'paid' | 'revoked' | 'none' | 'unknown';

/** Rights of a caller. */
export interface Access {
  /** True if the levels `standard` and `premium` are allowed. */
  readonly paid: boolean;
  /** The account whose quota the request uses. */
  readonly account: string;
}

export interface SandboxOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  readonly reply?: ReplyForm;
  readonly mode?: Mode;
  /** False: no key is required and every level is allowed. */
  readonly auth?: boolean;
  /** Requests per key in 60 seconds; 0 = no limit. Default 100. */
  readonly perMinute?: number;
  /** Requests per key in 24 hours; 0 = no limit. Default 2000. */
  readonly perDay?: number;
  /** Delay before each reply, in milliseconds. */
  readonly latencyMs?: number;
  readonly faults?: readonly Fault[];
  /** Default: the sample data. */
  readonly restaurants?: readonly SandboxRestaurant[];
  /** Clock of the limits, in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Random numbers in [0, 1) for the faults. */
  readonly random?: () => number;
  /** Maximum time for a request to arrive, in milliseconds. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Called after each exchange. Never receives a key. */
  readonly onRequest?: (entry: RequestEntry) => void;
}

/** An exchange, for the log. */
export interface RequestEntry {
  /** JSON-RPC method of the body. */
  readonly method?: string;
  /** Tool of a `tools/call`. */
  readonly tool?: string;
  /** HTTP status that was sent; 0 if a fault sent none. */
  readonly status: number;
  readonly key?: KeyKind;
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
  /** HTTP status that was sent; 0 before. */
  readonly status: number;
  /** Time of arrival, by the clock of the sandbox. */
  readonly time: number;
}

export interface SandboxKeys {
  readonly free: string;
  readonly paid: string;
  readonly revoked: string;
}

/** A running sandbox. */
export interface Sandbox {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** `baseUrl` and `/api/mcp`. */
  readonly endpoint: string;
  readonly keys: SandboxKeys;
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly SandboxRequest[];
  /** Stops at once, even with open connections. */
  close(): Promise<void>;
}

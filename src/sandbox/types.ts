import type { Restaurant } from '../client/types.ts';
import type { Fault } from './faults.ts';

/** A restaurant that the sandbox serves: what a search returns. The rest is derived from it. */
export interface SandboxRestaurant extends Restaurant {
  city: string;
}

/** Form of the answers: one JSON body, or a stream of server-sent events. */
export type ReplyForm = 'json' | 'sse';

/** `service`: bare `tools/call` alone, as documented. `mcp`: a full MCP server. */
export type Mode = 'service' | 'mcp';

/** The two ways of speaking MCP: with a handshake, or with metadata in every request. */
export type Era = 'legacy' | 'modern';

/** What the `Authorization` header of a request was worth. */
export type KeyKind = 'free' | 'paid' | 'revoked' | 'none' | 'unknown';

export interface SandboxOptions {
  /** 0 (the default) takes any free port. */
  readonly port?: number;
  readonly reply?: ReplyForm;
  readonly mode?: Mode;
  /** False: no key is asked and every level is open. */
  readonly auth?: boolean;
  /** Requests a key may make in 60 seconds; 0 = no limit. Default 100. */
  readonly perMinute?: number;
  /** Requests a key may make in 24 hours; 0 = no limit. Default 2000. */
  readonly perDay?: number;
  /** Milliseconds before each answer. */
  readonly latencyMs?: number;
  readonly faults?: readonly Fault[];
  /** Default: the sample data. */
  readonly restaurants?: readonly SandboxRestaurant[];
  /** Milliseconds since the epoch, for the limits. */
  readonly now?: () => number;
  /** A number in [0, 1), for the faults. */
  readonly random?: () => number;
  /** Milliseconds a request may take to arrive. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Called when an exchange is over. Never sees a key. */
  readonly onRequest?: (entry: RequestEntry) => void;
  /** Mode `mcp`, legacy: give out session ids. Default true. */
  readonly sessions?: boolean;
  /** Mode `mcp`: how many tools a page of `tools/list` holds. Default: all. */
  readonly pageSize?: number;
  /** Mode `mcp`: the eras spoken. Default both. */
  readonly eras?: readonly Era[];
}

/** One line of the sandbox's log. */
export interface RequestEntry {
  /** JSON-RPC method, where the body had one. */
  readonly method?: string;
  /** Tool of a `tools/call`. */
  readonly tool?: string;
  /** HTTP status sent; 0 where a fault sent none. */
  readonly status: number;
  readonly key?: KeyKind;
  /** How long the exchange took, in milliseconds. */
  readonly ms: number;
}

/** What came in, for tests and for whoever looks. */
export interface SandboxRequest {
  /** HTTP method. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** All headers but `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeyKind;
  /** The body parsed as JSON; the text where it is none; undefined where there is no body. */
  readonly body: unknown;
  /** HTTP status sent; 0 as long as none was. */
  readonly status: number;
  /** When it came, by the injected clock. */
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
  /** Ends at once, also with open connections. */
  close(): Promise<void>;
}

import type { Env } from './proxy.ts';
import type { SseEvent } from './sse.ts';
import type { TraceEvent } from './trace.ts';

/** Header fields by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first value of a header field. */
export function firstValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

export interface TransportOptions {
  readonly endpoint: URL;
  /** For the proxy variables. */
  readonly env: Env;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Time to connect in, ms. */
  readonly connectMs?: number;
  /** Largest body, both as it travels and decoded. */
  readonly maxBodyBytes?: number;
  trace?(event: TraceEvent): void;
}

export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the exchange; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** The time of the whole call, for messages. Default: what is left until the deadline. */
  readonly totalMs?: number;
  /** The body is not wanted: it may end within so many ms, else it is dropped. */
  readonly bodyMs?: number;
  /** Gets each event of a stream. With `stop` nothing more is read and the connection is dropped. */
  onEvent?(event: SseEvent): 'stop' | undefined;
}

export interface Reply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The body; empty where it was a stream of events. */
  readonly text: string;
  readonly isStream: boolean;
  /** Did `onEvent` stop it? */
  readonly stopped: boolean;
}

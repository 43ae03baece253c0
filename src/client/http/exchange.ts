import type { SseEvent } from './body.ts';
import type { Env } from './proxy.ts';

/** Header fields by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header field: name and value. */
export type Field = readonly [name: string, value: string];

/** Returns the first value of a header field. */
export function firstValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

/** Lists header fields one by one, a repeated field once for each value. */
export function fieldList(headers: HeaderFields): Field[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): Field => [name, each]),
  );
}

export interface TransportOptions {
  readonly endpoint: URL;
  /** Environment with the proxy variables. */
  readonly env: Env;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Maximum time to connect, ms. Default: 10,000. */
  readonly connectMs?: number;
  /** Maximum size of a body in bytes, both as transferred and decoded. Default: 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  trace?(event: TraceEvent): void;
}

/** One HTTP request and how to read its response. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the exchange; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Time limit of the whole call for messages, ms. Default: the time until the deadline. */
  readonly totalMs?: number;
  /** The body is not needed: its end is awaited for at most so many ms. */
  readonly bodyMs?: number;
  /** Gets each event of a stream. After `stop` nothing more is read and the connection is closed. */
  onEvent?(event: SseEvent): 'stop' | undefined;
}

/** An HTTP response. */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The body; empty for a stream of events. The readable part of it when the status is an error. */
  readonly text: string;
  readonly isStream: boolean;
}

/** A part of an exchange as it happens, for `--verbose`. Never holds the key. */
export type TraceEvent =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: readonly Field[];
      readonly body?: string;
    }
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly statusText: string;
      readonly headers: readonly Field[];
    }
  /** A body, or one event of a stream. */
  | { readonly kind: 'body'; readonly text: string }
  /** A decision of this program. */
  | { readonly kind: 'note'; readonly text: string };

/** Formats an event as its lines. */
export function eventText({ event, id, retry, data }: SseEvent): string {
  const fields = Object.entries({ event, id, retry }).filter(([, value]) => value !== undefined);
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  return [...lines, ...data.split('\n').map((line) => `data: ${line}`)].join('\n');
}

/** Applies `change` to every text of a trace event; to the value of a header field with its name. */
export function mapTrace(event: TraceEvent, change: (text: string, field?: string) => string): TraceEvent {
  const fields = (headers: readonly Field[]) =>
    headers.map(([name, value]): Field => [change(name), change(value, name)]);
  switch (event.kind) {
    case 'request':
      return {
        ...event,
        url: change(event.url),
        headers: fields(event.headers),
        ...(event.body === undefined ? {} : { body: change(event.body) }),
      };
    case 'response':
      return { ...event, statusText: change(event.statusText), headers: fields(event.headers) };
    default:
      return { ...event, text: change(event.text) };
  }
}

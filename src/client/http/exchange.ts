import type { Env } from './proxy.ts';
import type { SseEvent } from './sse.ts';

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

/** A header field, name and value. */
export type Field = readonly [name: string, value: string];

/** A part of an exchange as it passes, for a person who wants to see it. Holds no key. */
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
  /** What this program did about it. */
  | { readonly kind: 'note'; readonly text: string };

/** Header fields one by one; of a repeated one each value. */
export function fieldList(headers: HeaderFields): Field[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = typeof value === 'string' ? [value] : (value ?? []);
    return values.map((each): Field => [name, each]);
  });
}

/** An event as its lines. */
export function eventText({ event, id, retry, data }: SseEvent): string {
  const fields = [
    ['event', event],
    ['id', id],
    ['retry', retry],
  ];
  const lines = fields.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}`);
  return [...lines, ...data.split('\n').map((line) => `data: ${line}`)].join('\n');
}

/** Passes each text of an event through `change`. */
export function mapTrace(event: TraceEvent, change: (text: string) => string): TraceEvent {
  const fields = (headers: readonly Field[]) =>
    headers.map(([name, value]): Field => [change(name), change(value)]);
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

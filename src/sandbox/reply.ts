import type { RpcObject } from './rpc.ts';
import type { ReplyForm } from './types.ts';

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

/** A reply that is ready to be sent. */
export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A rejection by HTTP itself: the body is `{"error":{"code","message"}}`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly payload: Payload;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    const body = JSON.stringify({ error: { code, message } });
    this.payload = { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body };
  }
}

/** An event of a stream (WHATWG HTML, section 9.2). */
export interface SseEvent {
  readonly id?: string;
  readonly data: string;
  /** Milliseconds before the client reconnects to a stream that was cut off. */
  readonly retry?: number;
}

/** The answer of a protocol, before it is encoded as JSON or as a stream. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON-RPC response. Without `message` and `events` the body is empty. */
  readonly message?: RpcObject;
  /** Events of a stream: those in front of the response, or without a response all of them. */
  readonly events?: readonly SseEvent[];
  /** Id of the event that holds the response. */
  readonly eventId?: string;
}

/** Encodes an answer. Responses with another status than 200 are not streamed. */
export function encode(answer: Answer, form: ReplyForm): Payload {
  const { status, headers, message, events = [], eventId } = answer;
  if (message === undefined && answer.events === undefined)
    return { status, headers: { ...headers }, body: '' };
  if (message !== undefined && (form === 'json' || status !== 200)) {
    return { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body: JSON.stringify(message) };
  }
  const id = eventId === undefined ? {} : { id: eventId };
  const response = message === undefined ? [] : [{ ...id, data: JSON.stringify(message) }];
  return {
    status,
    headers: { 'Content-Type': SSE_TYPE, 'Cache-Control': 'no-cache', ...headers },
    body: [...events, ...response].map(formatEvent).join(''),
  };
}

/** Formats an event. JSON has no line breaks, so `data` is one line. */
export function formatEvent({ id, data, retry }: SseEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  const retryLine = retry === undefined ? '' : `retry: ${retry}\n`;
  return `${idLine}${retryLine}${data === '' ? '' : 'event: message\n'}data: ${data}\n\n`;
}

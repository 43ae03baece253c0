import type { RpcObject } from './rpc.ts';
import type { ReplyForm } from './types.ts';

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

/** A rejection by HTTP itself: the body is `{"error":{"code","message"}}`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  toPayload(): Payload {
    const { status, code, message, headers } = this;
    const body = JSON.stringify({ error: { code, message } });
    return { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body };
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
  /** The JSON-RPC response. Without `message` and `replay` the body is empty. */
  readonly message?: RpcObject;
  /** Events of a stream in front of the response. */
  readonly before?: readonly SseEvent[];
  /** Id of the event that holds the response. */
  readonly eventId?: string;
  /** The events of a stream, in place of a response. */
  readonly replay?: readonly SseEvent[];
}

/** A reply that is ready to be sent. */
export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Encodes an answer. Only answers with status 200 are streamed. */
export function encode(answer: Answer, form: ReplyForm): Payload {
  const { status, headers, message, before = [], eventId, replay } = answer;
  const stream = { 'Content-Type': SSE_TYPE, 'Cache-Control': 'no-cache', ...headers };
  if (replay !== undefined) return { status, headers: stream, body: replay.map(formatEvent).join('') };
  if (message === undefined) return { status, headers: { ...headers }, body: '' };
  const data = JSON.stringify(message);
  if (form === 'json' || status !== 200) {
    return { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body: data };
  }
  const response: SseEvent = eventId === undefined ? { data } : { id: eventId, data };
  return { status, headers: stream, body: [...before, response].map(formatEvent).join('') };
}

/** Formats an event. JSON has no line breaks, so `data` is one line. */
export function formatEvent({ id, data, retry }: SseEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(data === '' ? [] : ['event: message']),
    `data: ${data}`,
  ];
  return `${lines.join('\n')}\n\n`;
}

import type { RpcObject } from './rpc.ts';
import type { ReplyForm } from './types.ts';

/** An event of a stream (WHATWG HTML, section 9.2). */
export interface SseEvent {
  readonly id?: string;
  readonly data: string;
}

/** What a protocol answers, before it takes a form. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON-RPC response. Without one the body is empty. */
  readonly message?: RpcObject;
}

/** A reply ready to be sent. */
export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

/** Gives an answer its form. Only answers with status 200 are streamed. */
export function encode({ status, headers, message }: Answer, form: ReplyForm): Payload {
  if (message === undefined) return { status, headers: { ...headers }, body: '' };
  const text = JSON.stringify(message);
  if (form === 'json' || status !== 200) return { status, headers: typed(JSON_TYPE, headers), body: text };
  const streamed = { ...typed(SSE_TYPE, headers), 'Cache-Control': 'no-cache' };
  return { status, headers: streamed, body: formatEvent({ data: text }) };
}

/** One event as it stands in the stream. JSON has no line breaks of its own, so `data` is one line. */
export function formatEvent({ id, data }: SseEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
}

function typed(type: string, headers: Answer['headers']): Record<string, string> {
  return { 'Content-Type': type, ...headers };
}

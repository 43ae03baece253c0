import type { RpcObject } from './rpc.ts';
import type { ReplyForm } from './types.ts';

/** An event of a stream (WHATWG HTML, section 9.2). */
export interface SseEvent {
  readonly id?: string;
  readonly data: string;
  /** Milliseconds after which a cut stream may be taken up again. */
  readonly retry?: number;
}

/** A stream that stays open. */
export interface Standing {
  /** Ends the stream. */
  readonly until: AbortSignal;
  /** Called when the stream is over, whoever ended it. */
  over(): void;
}

/** What a protocol answers, before it takes a form. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON-RPC response. Without one, and without `replay`, the body is empty. */
  readonly message?: RpcObject;
  /** In a stream: what goes before the response. */
  readonly before?: readonly SseEvent[];
  /** In a stream: the id of the event that holds the response. */
  readonly eventId?: string;
  /** A stream that holds these events instead of a response, whatever the form. */
  readonly replay?: readonly SseEvent[];
  readonly standing?: Standing;
}

/** A reply ready to be sent. */
export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly standing?: Standing;
}

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

/** Gives an answer its form. Only answers with status 200 are streamed. */
export function encode(answer: Answer, form: ReplyForm): Payload {
  const { status, headers, message, before = [], eventId, replay, standing } = answer;
  const streamed = { 'Content-Type': SSE_TYPE, 'Cache-Control': 'no-cache', ...headers };
  if (replay !== undefined) {
    const body = `: open\n\n${replay.map(formatEvent).join('')}`;
    return { status, headers: streamed, body, ...(standing && { standing }) };
  }
  if (message === undefined) return { status, headers: { ...headers }, body: '' };
  const data = JSON.stringify(message);
  if (form === 'json' || status !== 200) {
    return { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body: data };
  }
  const response: SseEvent = eventId === undefined ? { data } : { id: eventId, data };
  return { status, headers: streamed, body: [...before, response].map(formatEvent).join('') };
}

/** One event as it stands in the stream. JSON has no line breaks of its own, so `data` is one line. */
export function formatEvent({ id, data, retry }: SseEvent): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(data === '' ? [] : ['event: message']),
    `data: ${data}`,
  ];
  return `${lines.join('\n')}\n\n`;
}

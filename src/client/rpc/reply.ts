import { AppError } from '../../errors.ts';
import { excerpt, htmlTitle, isHtml, kindOf } from '../../util/excerpt.ts';
import { mediaType, type SseEvent } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
import { ExchangeError } from '../http/network-error.ts';
import type { Reply } from '../http/transport.ts';
import {
  findReply,
  isObject,
  isReply,
  type JsonObject,
  type RpcError,
  type RpcReply,
  readReply,
} from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { parseJson } from './json.ts';

/** The response to request `id`. It has `reply` or `error`, or both for a refusal in JSON-RPC. */
export interface RpcResponse {
  readonly id: number;
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The envelope's JSON text as received, or the body that holds none. */
  readonly text: string;
  readonly envelope?: JsonObject;
  readonly reply?: RpcReply;
  /** Why there is no good response. A JSON-RPC error in a 2xx response is not one of these. */
  readonly error?: AppError;
  /** The result has a `resultType` (MCP 2026-07-28). */
  readonly typed?: true;
}

/** An envelope and its text. */
interface Found {
  readonly envelope: JsonObject;
  readonly text: string;
}

/** Looks for the response to request `id` among the events of a stream. */
export class EventReader {
  found: Found | undefined;
  /** Whether there was a response to another request. */
  sawOtherId = false;
  /** Id of the last event, from which a stream is resumed, and the wait before it that the service names. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #id: number;
  readonly #mask: (text: string) => string;
  readonly #onMessage: ((message: JsonObject) => void) | undefined;

  constructor(id: number, mask: (text: string) => string, onMessage?: (message: JsonObject) => void) {
    this.#id = id;
    this.#mask = mask;
    this.#onMessage = onMessage;
  }

  /** @returns `stop` when the response is found */
  onEvent(event: SseEvent): 'stop' | undefined {
    this.lastEventId = event.id ?? this.lastEventId;
    this.retryMs = event.retry ?? this.retryMs;
    if (event.data.trim() === '' || (event.event ?? 'message') !== 'message') return undefined;
    const text = this.#mask(event.data);
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      // An event that the end of the stream cut off counts only if it is complete.
      if (event.unfinished === true) return undefined;
      throw error;
    }
    const envelope = findReply(value, this.#id, 'stream');
    if (envelope !== undefined) {
      this.found = { envelope, text };
      return 'stop';
    }
    for (const message of [value].flat()) {
      if (isReply(message)) this.sawOtherId = true;
      else if (isObject(message) && typeof message.method === 'string') this.#onMessage?.(message);
    }
    return undefined;
  }
}

/**
 * Parses an HTTP response to request `id`.
 * @param reader holds the envelope if it arrived as an event; else it is looked for in the body
 */
export function parseReply(
  reply: Reply,
  id: number,
  reader: EventReader,
  context: StatusContext,
): RpcResponse {
  const { status, statusText, headers } = reply;
  const isOk = status >= 200 && status < 300;
  const base = { id, status, statusText, headers };
  const found = reader.found ?? readBody(reply, id, isOk, reader, context.host);
  if (found instanceof AppError) {
    return { ...base, text: reply.text, error: isOk ? found : statusError(reply, context) };
  }
  const { envelope, text } = found;
  const rpcReply = readReply(envelope);
  const parsed = { text, envelope, reply: rpcReply, ...base };
  if (isOk) return parsed;
  const rpc = 'error' in rpcReply ? rpcReply.error : undefined;
  return { ...parsed, error: statusError({ ...reply, text, rpc }, context) };
}

/** Returns the envelope in a body, or the reason why there is none. */
function readBody(
  { status, headers, text, isStream }: Reply,
  id: number,
  isOk: boolean,
  reader: EventReader,
  host: string,
): Found | AppError {
  const expected = `expected a JSON-RPC response with id ${id} from ${host}`;
  if (isStream) {
    return reader.sawOtherId
      ? new AppError('bad_response', `${expected}, got one with another id`)
      : new ExchangeError('network', 'incomplete', `${host} ended its stream without a response`);
  }
  if (text.trim() === '') {
    const message = `${host} sent an empty response (${status})`;
    // 204 and 205 are empty on purpose; another attempt would bring the same.
    return status === 200
      ? new ExchangeError('bad_response', 'incomplete', message)
      : new AppError('bad_response', message);
  }
  const isPage = isHtml(text) || mediaType(firstValue(headers['content-type']) ?? '') === 'text/html';
  if (isPage && !/^\s*[{[]/.test(text)) return webPage(text, host);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Without a length, a body that is not complete was cut off by the end of the connection.
    const endsByClosing =
      headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
    if (!endsByClosing || !(error instanceof ExchangeError)) return error;
    const message = `${host} closed the connection in the middle of its response`;
    return new ExchangeError('network', 'cut_off', message, { cause: error });
  }
  const envelope = findReply(value, id, isOk ? 'body' : 'refusal');
  if (envelope !== undefined) return { envelope, text };
  return new AppError('bad_response', `${expected}, got ${kindOf(value)}: ${excerpt(text)}`);
}

function webPage(text: string, host: string): AppError {
  const title = htmlTitle(text);
  const named = title === undefined ? '' : ` ("${excerpt(title, 80)}")`;
  return new AppError('bad_response', `got a web page${named} from ${host}, not the API`, {
    hint: 'check the base URL, and whether this network requires a login first: restaurant status',
  });
}

/** Returns the JSON-RPC error in a response, if it is one. */
export function rpcErrorOf({ reply }: RpcResponse): RpcError | undefined {
  return reply !== undefined && 'error' in reply ? reply.error : undefined;
}

/** Lists the protocol violations of a response that is accepted all the same, for `--verbose`. */
export function protocolWarnings({ headers, text, envelope }: RpcResponse, isStream: boolean): string[] {
  if (envelope === undefined) return [];
  const warnings: string[] = [];
  const type = mediaType(firstValue(headers['content-type']) ?? '');
  const fits = isStream ? type === 'text/event-stream' : /^application\/(?:[^/]*\+)?json$/.test(type);
  if (!fits) {
    const label = type === '' ? 'has no Content-Type' : `is labeled ${excerpt(type, 60)}`;
    warnings.push(`the response ${label}, but is ${isStream ? 'an event stream' : 'JSON'}`);
  }
  if (text.includes('\uFFFD')) {
    warnings.push('the response contains U+FFFD: a byte that is not UTF-8, or that character');
  }
  return warnings;
}

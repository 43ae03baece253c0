import { AppError } from '../../errors.ts';
import { excerpt, htmlTitle, isHtml, kindOf } from '../../util/excerpt.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { mediaType, type SseEvent } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
import type { Reply } from '../http/transport.ts';
import { errorIn, findReply, isReply, type RpcError } from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { parseJson } from './json.ts';

/** The response to request `id`. */
export interface RpcResponse {
  readonly id: number;
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The envelope's JSON text as received, or the body if it contains no envelope. */
  readonly text: string;
  readonly envelope?: JsonObject;
  readonly rpcError?: RpcError;
}

/** The result of an attempt, or of a call with all its attempts. A failure may have a response, too. */
export type Outcome =
  | {
      readonly response: RpcResponse & { readonly envelope: JsonObject };
      readonly failure?: undefined;
    }
  | { readonly response?: RpcResponse; readonly failure: AppError };

/** An envelope and its text. */
interface Found {
  readonly envelope: JsonObject;
  readonly text: string;
}

/** The relevant content of a stream's events so far. */
export interface Seen {
  found?: Found;
  /** Whether there was a response to another request. */
  sawOtherId?: true;
  /** Id of the last event, after which a stream is resumed, and the wait before resuming that the service requests. */
  lastEventId?: string;
  retryMs?: number;
}

/**
 * Creates a reader that looks for the response to request `id` in the events of a stream. `onEvent` returns `stop` once
 * it is found.
 */
export function eventReader(
  id: number,
  mask: (text: string) => string,
  onMessage: (message: JsonObject) => void,
) {
  const seen: Seen = {};
  return {
    seen,
    onEvent(event: SseEvent): 'stop' | undefined {
      // An event that was cut off by the end of the stream must be sent again.
      if (event.id !== undefined && event.unfinished !== true) seen.lastEventId = event.id;
      if (event.retry !== undefined) seen.retryMs = event.retry;
      if (event.data.trim() === '' || (event.event ?? 'message') !== 'message') return undefined;
      const text = mask(event.data);
      let value: unknown;
      try {
        value = parseJson(text);
      } catch (error) {
        // An event that was cut off by the end of the stream counts only if its message is complete.
        if (event.unfinished === true) return undefined;
        throw error;
      }
      const envelope = findReply(value, id, 'stream');
      if (envelope !== undefined) {
        seen.found = { envelope, text };
        return 'stop';
      }
      for (const message of [value].flat()) {
        if (isReply(message)) seen.sawOtherId = true;
        else if (isObject(message) && typeof message.method === 'string') onMessage(message);
      }
      return undefined;
    },
  };
}

/**
 * Parses an HTTP response to request `id`.
 * @param seen contains the envelope if it arrived as an event; otherwise the body is searched
 */
export function parseReply(
  reply: Reply,
  id: number,
  seen: Seen,
  context: StatusContext,
): Outcome & { readonly response: RpcResponse } {
  const { status, statusText, headers } = reply;
  const isOk = status >= 200 && status < 300;
  const base = { id, status, statusText, headers };
  const found = seen.found ?? readBody(reply, id, isOk, seen, context.host);
  if (found instanceof AppError) {
    return { response: { ...base, text: reply.text }, failure: isOk ? found : statusError(reply, context) };
  }
  const { envelope, text } = found;
  const rpcError = errorIn(envelope);
  if (rpcError === undefined && isOk) return { response: { text, envelope, ...base } };
  const failure = statusError({ ...reply, text, rpc: rpcError }, context);
  return { response: { text, envelope, ...(rpcError && { rpcError }), ...base }, failure };
}

/** Returns the envelope in a body, or the error if there is none. */
function readBody(
  { status, headers, text, isStream }: Reply,
  id: number,
  isOk: boolean,
  { sawOtherId }: Seen,
  host: string,
): Found | AppError {
  const expected = `expected a JSON-RPC response with id ${id} from ${host}`;
  if (isStream) {
    return sawOtherId
      ? new AppError('bad_response', `${expected}, got one with another id`, { host })
      : new AppError('network', `${host} ended its stream without a response`, {
          reason: 'incomplete',
          host,
        });
  }
  if (text.trim() === '') {
    const message = `${host} sent an empty response (${status})`;
    // 204 and 205 are empty by definition, so a retry would not help.
    return new AppError('bad_response', message, { host, ...(status === 200 && { reason: 'incomplete' }) });
  }
  const isPage = isHtml(text) || mediaType(firstValue(headers['content-type']) ?? '') === 'text/html';
  if (isPage && !/^\s*[{[]/.test(text)) return webPage(text, host);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // An incomplete body without a length was cut off by the end of the connection.
    const endsByClosing =
      headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
    if (!endsByClosing || error.details.reason !== 'incomplete') return error;
    const message = `${host} closed the connection in the middle of its response`;
    return new AppError('network', message, { reason: 'cut_off', host, cause: error });
  }
  const envelope = findReply(value, id, isOk ? 'body' : 'refusal');
  if (envelope !== undefined) return { envelope, text };
  return new AppError('bad_response', `${expected}, got ${kindOf(value)}: ${excerpt(text)}`, { host });
}

function webPage(text: string, host: string): AppError {
  const title = htmlTitle(text);
  const named = title === undefined ? '' : ` ("${excerpt(title, 80)}")`;
  return new AppError('bad_response', `got a web page${named} from ${host}, not the API`, {
    reason: 'web_page',
    host,
  });
}

/** Lists the protocol violations of a response that is accepted nevertheless, for `--verbose`. */
export function protocolWarnings({ headers, text, envelope }: RpcResponse, isStream: boolean): string[] {
  if (envelope === undefined) return [];
  const warnings: string[] = [];
  const type = mediaType(firstValue(headers['content-type']) ?? '');
  const isExpectedType = isStream
    ? type === 'text/event-stream'
    : /^application\/(?:[^/]*\+)?json$/.test(type);
  if (!isExpectedType) {
    const label = type === '' ? 'has no Content-Type' : `is labeled ${excerpt(type, 60)}`;
    warnings.push(`the response ${label}, but is ${isStream ? 'an event stream' : 'JSON'}`);
  }
  if (text.includes('\uFFFD')) {
    warnings.push('the response contains U+FFFD: a byte that is not UTF-8, or that character');
  }
  return warnings;
}

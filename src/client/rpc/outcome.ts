import { excerpt, kindOf } from '../../util/format.ts';
import { isObject, type JsonObject, parseJsonOrNone, readJson } from '../../util/json.ts';
import { type HttpResponse, mediaType, type ResponseHead, type SseEvent } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
import { badResponse, ServiceError } from '../service-error.ts';
import { errorIn, findReply, isReply, type RpcError } from './envelope.ts';
import { htmlTitle, isHtml, type StatusContext, statusError } from './errors.ts';

export interface RpcResponse extends ResponseHead {
  readonly id: number;
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
  | { readonly response?: RpcResponse; readonly failure: ServiceError };

interface ReplyText {
  readonly envelope: JsonObject;
  readonly text: string;
}

export class EventReader {
  found: ReplyText | undefined;
  sawOtherId = false;
  lastEventId: string | undefined;
  retryMs: number | undefined;
  readonly #id: number;
  readonly #mask: (text: string) => string;
  readonly #onMessage: (message: JsonObject) => void;

  constructor(id: number, mask: (text: string) => string, onMessage: (message: JsonObject) => void) {
    this.#id = id;
    this.#mask = mask;
    this.#onMessage = onMessage;
  }

  /** @returns `stop` once the response is found */
  readonly onEvent = ({ id, retry, event = 'message', data, unfinished }: SseEvent): 'stop' | undefined => {
    // An event that was cut off by the end of the stream must be sent again.
    if (unfinished !== true) this.lastEventId = id ?? this.lastEventId;
    this.retryMs = retry ?? this.retryMs;
    if (event === 'message' && data.trim() !== '') this.#read(this.#mask(data), unfinished === true);
    return this.found && 'stop';
  };

  #read(text: string, isCut: boolean): void {
    // An event that was cut off counts only if its message is complete.
    const { value, fault, isCut: endsEarly } = readJson(text);
    if (fault !== undefined && !isCut)
      throw badResponse(`the response ${fault}`, endsEarly ? { reason: 'incomplete' } : {});
    const envelope = findReply(value, this.#id, 'stream');
    if (envelope !== undefined) {
      this.found = { envelope, text };
      return;
    }
    for (const message of [value].flat()) {
      if (isReply(message)) this.sawOtherId = true;
      else if (isObject(message) && typeof message.method === 'string') this.#onMessage(message);
    }
  }
}

/** The status is looked at first: the body of a failed request only explains it. @param seen the events of a stream */
export function outcomeOf(
  http: HttpResponse,
  id: number,
  seen: EventReader,
  context: StatusContext,
): Outcome & { readonly response: RpcResponse } {
  const { status, statusText, headers } = http;
  const isOk = status >= 200 && status < 300;
  const base = { id, status, statusText, headers };
  const found = seen.found ?? (isOk ? readBody(http, id, seen, context.host) : refusalIn(http, id));
  if (found === undefined || found instanceof ServiceError)
    return { response: { ...base, text: http.text }, failure: found ?? statusError(http, context) };
  const { envelope, text } = found;
  const rpcError = errorIn(envelope);
  if (rpcError === undefined && isOk) return { response: { text, envelope, ...base } };
  const failure = statusError({ ...http, text, rpc: rpcError }, context);
  return { response: { text, envelope, ...(rpcError && { rpcError }), ...base }, failure };
}

/** Returns the envelope of a response whose status is an error, if it has one. */
function refusalIn({ text, isStream }: HttpResponse, id: number): ReplyText | undefined {
  const envelope = isStream ? undefined : findReply(parseJsonOrNone(text), id, 'refusal');
  return envelope && { envelope, text };
}

function readBody(http: HttpResponse, id: number, seen: EventReader, host: string): ReplyText | ServiceError {
  const { status, headers, text, isStream } = http;
  if (isStream) return seen.sawOtherId ? otherReply(id, 'one with another id') : noReply(host);
  // 204 and 205 are empty by definition, so a retry would not help.
  if (text.trim() === '')
    return badResponse(`the response is empty (${status})`, status === 200 ? { reason: 'incomplete' } : {});
  const isPage = isHtml(text) || mediaType(firstValue(headers['content-type']) ?? '') === 'text/html';
  if (isPage && !/^\s*[{[]/.test(text))
    return badResponse(`got a web page${titled(text)}, not the API`, { reason: 'web_page' });
  return readEnvelope(http, id, host);
}

function readEnvelope({ headers, text }: HttpResponse, id: number, host: string): ReplyText | ServiceError {
  const { value, fault, isCut } = readJson(text);
  if (isCut && !isMeasured(headers)) return new ServiceError('network', { reason: 'cut_off', host });
  if (fault !== undefined) return badResponse(`the response ${fault}`, isCut ? { reason: 'incomplete' } : {});
  const envelope = findReply(value, id, 'body');
  return envelope === undefined ? otherReply(id, `${kindOf(value)}: ${excerpt(text)}`) : { envelope, text };
}

const otherReply = (id: number, got: string): ServiceError =>
  badResponse(`expected a JSON-RPC response with id ${id}, got ${got}`);

const noReply = (host: string): ServiceError =>
  new ServiceError('network', { reason: 'incomplete', host, problem: 'the stream ended without a response' });

/** Whether the end of the body was marked. Otherwise, the end of the connection is the end of the body. */
const isMeasured = (headers: HeaderFields): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function titled(page: string): string {
  const title = htmlTitle(page);
  return title === undefined ? '' : ` ("${excerpt(title, 80)}")`;
}

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

import { AppError } from '../../errors.ts';
import { excerpt, kindOf } from '../../util/format.ts';
import { isObject, type JsonObject, parseJson, parseJsonOrNone } from '../../util/json.ts';
import { type HttpResponse, mediaType, type ResponseHead, type SseEvent } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
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
  | { readonly response?: RpcResponse; readonly failure: AppError };

interface Found {
  readonly envelope: JsonObject;
  readonly text: string;
}

export class EventReader {
  found: Found | undefined;
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
    const value = isCut ? parseJsonOrNone(text) : parseJson(text);
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

/** @param seen contains the envelope if it arrived as an event; otherwise the body is searched */
export function outcomeOf(
  http: HttpResponse,
  id: number,
  seen: EventReader,
  context: StatusContext,
): Outcome & { readonly response: RpcResponse } {
  const { status, statusText, headers } = http;
  const isOk = status >= 200 && status < 300;
  const base = { id, status, statusText, headers };
  const found = seen.found ?? (http.isStream ? noReply(id, seen, context) : readBody(http, id, context));
  if (found instanceof AppError) {
    return { response: { ...base, text: http.text }, failure: isOk ? found : statusError(http, context) };
  }
  const { envelope, text } = found;
  const rpcError = errorIn(envelope);
  if (rpcError === undefined && isOk) return { response: { text, envelope, ...base } };
  const failure = statusError({ ...http, text, rpc: rpcError }, context);
  return { response: { text, envelope, ...(rpcError && { rpcError }), ...base }, failure };
}

const expected = (id: number, host: string): string =>
  `expected a JSON-RPC response with id ${id} from ${host}`;

function noReply(id: number, { sawOtherId }: EventReader, { host }: StatusContext): AppError {
  if (sawOtherId)
    return new AppError('bad_response', `${expected(id, host)}, got one with another id`, { host });
  const message = `${host} ended its stream without a response`;
  return new AppError('network', message, { reason: 'incomplete', host });
}

function readBody(http: HttpResponse, id: number, { host }: StatusContext): Found | AppError {
  const { status, headers, text } = http;
  if (text.trim() === '') {
    const message = `${host} sent an empty response (${status})`;
    // 204 and 205 are empty by definition, so a retry would not help.
    return new AppError('bad_response', message, { host, ...(status === 200 && { reason: 'incomplete' }) });
  }
  const isPage = isHtml(text) || mediaType(firstValue(headers['content-type']) ?? '') === 'text/html';
  if (isPage && !/^\s*[{[]/.test(text)) return webPage(text, host);
  try {
    const value = parseJson(text);
    const envelope = findReply(value, id, status < 300 ? 'body' : 'refusal');
    if (envelope !== undefined) return { envelope, text };
    const message = `${expected(id, host)}, got ${kindOf(value)}: ${excerpt(text)}`;
    return new AppError('bad_response', message, { host });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return isCutOff(error, headers) ? cutOff(error, host) : error;
  }
}

const isCutOff = ({ details }: AppError, headers: HeaderFields): boolean =>
  details.reason === 'incomplete' &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined;

function cutOff(cause: AppError, host: string): AppError {
  const message = `${host} closed the connection in the middle of its response`;
  return new AppError('network', message, { reason: 'cut_off', host, cause });
}

function webPage(text: string, host: string): AppError {
  const title = htmlTitle(text);
  const named = title === undefined ? '' : ` ("${excerpt(title, 80)}")`;
  return new AppError('bad_response', `got a web page${named} from ${host}, not the API`, {
    reason: 'web_page',
    host,
  });
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

import { AppError } from '../../errors.ts';
import { excerpt, htmlTitle, isHtml, kindOf } from '../../util/excerpt.ts';
import { mediaType } from '../http/body.ts';
import { firstValue, type HeaderFields, type Reply } from '../http/exchange.ts';
import { ExchangeError } from '../http/network-error.ts';
import type { SseEvent } from '../http/sse.ts';
import { findReply, isObject, isReply, type JsonObject, type RpcReply, readReply } from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { duplicateKey, parseJson } from './json.ts';

/** What came back for one request. `reply` or `error` or, for a refusal in JSON-RPC, both. */
export interface ParsedReply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The envelope's JSON text as it came, or the body that holds none. */
  readonly text: string;
  readonly envelope?: JsonObject;
  readonly reply?: RpcReply;
  /** Why there is no good answer. A JSON-RPC error in a 2xx answer is none of these. */
  readonly error?: AppError;
}

/** An envelope that came as an event, with its text. */
export interface Found {
  readonly envelope: JsonObject;
  readonly text: string;
}

/** What a stream of events held. */
export interface Streamed {
  found(): Found | undefined;
  /** Was there a response to another request? */
  sawOtherId(): boolean;
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

type Reading = { found: Found } | { error: AppError };

/**
 * Judges an HTTP reply to request `id`.
 * @param streamed where the envelope is, if it came as an event; else it is looked for in the body
 */
export function parseReply(
  reply: Reply,
  id: number,
  streamed: Streamed,
  context: StatusContext,
): ParsedReply {
  const { status, statusText, headers } = reply;
  const ok = isOk(status);
  const reading = read(reply, id, streamed, context.host);
  const found = 'found' in reading ? reading.found : undefined;
  const base = { status, statusText, headers, text: found?.text ?? reply.text };
  if (found === undefined) {
    const error = ok && 'error' in reading ? reading.error : statusError({ ...reply }, context);
    return { ...base, error };
  }
  const rpcReply = readReply(found.envelope);
  const answer = { ...base, envelope: found.envelope, reply: rpcReply };
  if (ok) return answer;
  const rpc = 'error' in rpcReply ? rpcReply.error : undefined;
  return { ...answer, error: statusError({ ...reply, text: found.text, rpc }, context) };
}

function read(reply: Reply, id: number, streamed: Streamed, host: string): Reading {
  const found = streamed.found();
  if (found !== undefined) return { found };
  return reply.isStream ? { error: noAnswerIn(streamed, id, host) } : readBody(reply, id, host);
}

function readBody(reply: Reply, id: number, host: string): Reading {
  const { status, text } = reply;
  if (text.trim() === '') return { error: emptyAnswer(status, host) };
  if (isHtml(text) || mediaType(firstValue(reply.headers['content-type']) ?? '') === 'text/html') {
    if (!/^\s*[{[]/.test(text)) return { error: webPage(text, host) };
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { error: endsByClosing(reply) ? cutOff(error, host) : error };
  }
  const envelope = findReply(value, id, isOk(status) ? 'body' : 'refusal');
  if (envelope !== undefined) return { found: { envelope, text } };
  const message = `expected a JSON-RPC response with id ${id} from ${host}, got ${kindOf(value)}: ${excerpt(text)}`;
  return { error: new AppError('bad_response', message) };
}

function noAnswerIn({ sawOtherId }: Streamed, id: number, host: string): AppError {
  return sawOtherId()
    ? new AppError(
        'bad_response',
        `expected a JSON-RPC response with id ${id} from ${host}, got one with another`,
      )
    : new ExchangeError('network', 'incomplete', `${host} ended its stream without an answer`);
}

function emptyAnswer(status: number, host: string): AppError {
  const message = `${host} sent an empty answer (${status})`;
  // 204 and 205 are empty on purpose; asking again would bring the same.
  return status === 200
    ? new ExchangeError('bad_response', 'incomplete', message)
    : new AppError('bad_response', message);
}

function webPage(text: string, host: string): AppError {
  const title = htmlTitle(text);
  const named = title === undefined ? '' : ` ("${excerpt(title, 80)}")`;
  return new AppError('bad_response', `got a web page${named} from ${host}, not the API`, {
    hint: 'check the base URL, and whether this network wants a login first: restaurant status',
  });
}

/** Does the end of the connection alone mark the end of the body? Then a body that is not all there was cut off. */
function endsByClosing({ headers }: Reply): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

function cutOff(error: AppError, host: string): AppError {
  if (!(error instanceof ExchangeError)) return error;
  return new ExchangeError(
    'network',
    'cut_off',
    `${host} closed the connection in the middle of its response`,
    {
      cause: error,
    },
  );
}

/** What is left of a stream that ended without our response: enough to take it up again. */
export interface ResumePoint {
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
}

export interface EventReader extends Streamed {
  /** @returns `stop` when the response was among them */
  onEvent(event: SseEvent): 'stop' | undefined;
  resumePoint(): ResumePoint;
}

/** Looks for the response to request `id` among the events of a stream. */
export function eventReader(
  id: number,
  erase: (text: string) => string,
  onMessage?: (message: JsonObject) => void,
): EventReader {
  let found: Found | undefined;
  let strayed = false;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  return {
    onEvent(event: SseEvent): 'stop' | undefined {
      lastEventId = event.id ?? lastEventId;
      retryMs = event.retry ?? retryMs;
      if (event.data === '' || (event.event ?? 'message') !== 'message') return undefined;
      const text = erase(event.data);
      const value = parseEvent(text, event.unfinished === true);
      const envelope = findReply(value, id, 'stream');
      if (envelope !== undefined) {
        found = { envelope, text };
        return 'stop';
      }
      for (const message of Array.isArray(value) ? value : [value]) {
        if (isReply(message)) strayed = true;
        else if (isObject(message) && typeof message.method === 'string') onMessage?.(message);
      }
      return undefined;
    },
    found: () => found,
    sawOtherId: () => strayed,
    resumePoint: (): ResumePoint => ({ lastEventId, retryMs }),
  };
}

/** What an unfinished event holds counts only if it is whole. */
function parseEvent(text: string, unfinished: boolean): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (unfinished) return undefined;
    throw error;
  }
}

/** What is odd about an answer that is taken all the same, for those who want to know. */
export function protocolWarnings({ headers, text, envelope }: ParsedReply, isStream: boolean): string[] {
  if (envelope === undefined) return [];
  const type = mediaType(firstValue(headers['content-type']) ?? '');
  const fits = isStream ? type === 'text/event-stream' : /^application\/(?:[^/]*\+)?json$/.test(type);
  const called = type === '' ? 'has no Content-Type' : `is called ${excerpt(type, 60)}`;
  const twice = duplicateKey(text);
  return [
    fits ? undefined : `the answer ${called}, but is ${isStream ? 'a stream of events' : 'JSON'}`,
    twice === undefined
      ? undefined
      : `the key ${JSON.stringify(excerpt(twice, 60))} stands twice in one object of the answer; the last one counts`,
    text.includes('\uFFFD')
      ? 'the answer holds U+FFFD: a byte that is not UTF-8, or that character itself'
      : undefined,
  ].filter((remark) => remark !== undefined);
}

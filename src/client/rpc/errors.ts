import { AppError, type Code } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { excerpt, isHtml, stripHtml } from '../../util/excerpt.ts';
import { firstValue } from '../http/headers.ts';
import type { Reply } from '../http/transport.ts';
import { INVALID_PARAMS } from '../mcp/protocol.ts';
import { isObject, type RpcError } from './envelope.ts';
import { parseJson } from './json.ts';
import { parseRetryAfter } from './retry.ts';

/** Start of a message that repeats the service's own words. */
export const SERVICE_SAYS = 'the service says: ';

/** Tokens of refusals and our codes. They are compared with fields made for programs, never with prose. */
const TOKENS: ReadonlyMap<string, Code> = new Map([
  ['not_found', 'not_found'],
  ['plan_required', 'plan_required'],
  ['payment_required', 'plan_required'],
  ['upgrade_required', 'plan_required'],
  ['paid_key_required', 'plan_required'],
  ['paid_plan_required', 'plan_required'],
  ['unauthorized', 'unauthorized'],
  ['invalid_key', 'unauthorized'],
  ['invalid_api_key', 'unauthorized'],
  ['rate_limited', 'rate_limited'],
]);

/** Converts a JSON-RPC `error`. @param status HTTP status of the response it was in */
export function rpcError(error: RpcError, status?: number): AppError {
  const data = isObject(error.data) ? error.data : {};
  const code = codeOf([error.code, data.code, data.status, data.reason]) ?? 'rpc_error';
  const number = error.code === undefined ? '' : ` (JSON-RPC error ${excerpt(String(error.code), 40)})`;
  return new AppError(code, `${SERVICE_SAYS}${excerpt(error.message + argumentIn(error))}${number}`, {
    ...(error.code === undefined ? {} : { rpcCode: error.code }),
    ...(status === undefined ? {} : { status }),
  });
}

/** Returns the invalid argument in parentheses, where the data of an error names it and the message does not. */
function argumentIn({ code, message, data }: RpcError): string {
  if (code !== INVALID_PARAMS) return '';
  const first: unknown = [data].flat()[0];
  const value = isObject(first)
    ? ['argument', 'parameter', 'param', 'field', 'property', 'path', 'name'].map((name) => first[name])
    : [first];
  const [argument] = value
    .map((each) => [each].flat())
    .filter((path) => path.every((part) => typeof part === 'string' && part !== '') && path.length > 0)
    .map((path) => path.join('.'));
  return argument === undefined || message.includes(argument) ? '' : ` (${excerpt(argument, 80)})`;
}

/** Converts the output of a failed tool: `output` where its text is JSON, else the text alone. */
export function toolError(output: unknown, text: string): AppError {
  const object = isObject(output) ? output : {};
  const inner = isObject(object.error) ? object.error : {};
  const code = codeOf([object.status, object.code, object.error, inner.code, inner.status]);
  const message = [inner.message, object.message, object.error, text].find(
    (part) => typeof part === 'string' && part.trim() !== '',
  );
  return new AppError(
    code ?? 'tool_error',
    typeof message === 'string'
      ? `${SERVICE_SAYS}${excerpt(message)}`
      : 'the tool failed without an error message',
  );
}

/** Finds a token of TOKENS, however it is written: `Not Found`, `notFound`, `NOT-FOUND`. */
function codeOf(tokens: readonly unknown[]): Code | undefined {
  for (const token of tokens) {
    if (typeof token !== 'string' || token.length > 40) continue;
    const words = token.trim().replace(/([a-z0-9])([A-Z])/g, '$1_$2');
    const code = TOKENS.get(words.replace(/[\s-]+/g, '_').toLowerCase());
    if (code !== undefined) return code;
  }
  return undefined;
}

/** An HTTP response that is not 2xx, with the JSON-RPC error in its body, if there is one. */
type FailedResponse = Pick<Reply, 'status' | 'statusText' | 'headers' | 'text'> & {
  readonly rpc?: RpcError | undefined;
};

export interface StatusContext {
  /** host:port of the service, for messages. */
  readonly host: string;
  /** Last characters of the key that was sent. */
  readonly keySuffix?: string | undefined;
  /** Advice for when the key is refused, with a command to run. */
  readonly keyHint?: string | undefined;
  /** Returns the time, ms since the epoch. */
  now(): number;
}

interface StatusMeaning {
  readonly code: Code;
  /** @param wait seconds of Retry-After */
  message(context: StatusContext, wait?: number): string;
  hint?(context: StatusContext): string | undefined;
}

const STATUSES: Readonly<Record<number, StatusMeaning>> = {
  401: {
    code: 'unauthorized',
    message: ({ host, keySuffix }) =>
      `${host} rejected the API key${keySuffix === undefined ? '' : ` ending in ${keySuffix}`} (401)`,
    hint: ({ keyHint }) => keyHint,
  },
  402: { code: 'plan_required', message: ({ host }) => `${host} requires a paid key for this (402)` },
  403: {
    code: 'forbidden',
    message: ({ host }) => `${host} does not allow this with the current key (403)`,
  },
  404: {
    code: 'http_error',
    message: ({ host }) => `${host} returned HTTP 404`,
    hint: () => 'check the base URL: restaurant status',
  },
  407: {
    code: 'network',
    message: ({ host }) => `the proxy in front of ${host} requires credentials (407)`,
    hint: () => 'put user and password into the URL in HTTPS_PROXY, then: restaurant status --check',
  },
  429: {
    code: 'rate_limited',
    message: ({ host }, wait) =>
      `${host}: too many requests (429${wait === undefined ? '' : `, wait ${formatDuration(wait * 1000)}`})`,
  },
};

/** Statuses after which a later attempt may succeed. */
const TEMPORARY: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Converts a response that is not 2xx. */
export function statusError(response: FailedResponse, context: StatusContext): AppError {
  const { status, rpc, headers } = response;
  const { code, message, hint }: StatusMeaning = STATUSES[status] ?? {
    code: 'http_error',
    message: ({ host }) => `${host} returned HTTP ${status}`,
  };
  if (rpc !== undefined && code === 'http_error' && status < 500) return rpcError(rpc, status);
  const retryAfter = parseRetryAfter(headers['retry-after'], context.now());
  const requestId = firstValue(headers['x-request-id'] ?? headers['request-id']);
  const advice = hint?.(context);
  const summary = message(context, retryAfter);
  const detail = detailOf(response);
  return new AppError(code, detail === '' ? summary : `${summary}: ${detail}`, {
    status,
    retryable: TEMPORARY.includes(status),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(rpc?.code === undefined ? {} : { rpcCode: rpc.code }),
    ...(requestId ? { requestId: requestId.slice(0, 200) } : {}),
    ...(advice === undefined ? {} : { hint: advice }),
  });
}

/** Returns the explanation in a response: a JSON-RPC error, an OAuth or a plain error object, text, or the status text. */
function detailOf({ rpc, text, statusText }: FailedResponse): string {
  const line = excerpt(rpc?.message ?? messageIn(text) ?? (isHtml(text) ? stripHtml(text) : text));
  return line === '' ? excerpt(statusText) : line;
}

function messageIn(text: string): string | undefined {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(body)) return undefined;
  const { error, error_description: description, message, detail } = body;
  if (isObject(error) && typeof error.message === 'string') return error.message;
  const isFilled = (part: unknown): part is string => typeof part === 'string' && part !== '';
  if (typeof error === 'string') return [error, description].filter(isFilled).join(': ') || undefined;
  return [description, message, detail].find(isFilled);
}

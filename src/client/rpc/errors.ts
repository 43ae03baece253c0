import { AppError, type Code, type ErrorDetails } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { excerpt, isHtml, stripHtml } from '../../util/excerpt.ts';
import type { HeaderFields } from '../http/exchange.ts';
import { INVALID_PARAMS } from '../mcp/protocol.ts';
import { isObject, type RpcError } from './envelope.ts';
import { parseJson } from './json.ts';
import { parseRetryAfter } from './retry.ts';

/** How a message begins that repeats the service's own words. */
export const SERVICE_SAYS = 'the service says: ';

/** Words of a refusal that mean one of our codes. They are compared with fields made for programs, never with prose. */
const TOKENS: Readonly<Record<string, Code>> = {
  not_found: 'not_found',
  plan_required: 'plan_required',
  payment_required: 'plan_required',
  upgrade_required: 'plan_required',
  paid_key_required: 'plan_required',
  paid_plan_required: 'plan_required',
  unauthorized: 'unauthorized',
  invalid_key: 'unauthorized',
  invalid_api_key: 'unauthorized',
  rate_limited: 'rate_limited',
};

/** A JSON-RPC `error` as ours. `status` is that of the HTTP answer it came in. */
export function rpcError(error: RpcError, status?: number): AppError {
  const data = isObject(error.data) ? error.data : {};
  const code = codeOf([error.code, data.code, data.status, data.reason]) ?? 'rpc_error';
  const number = error.code === undefined ? '' : ` (JSON-RPC error ${excerpt(String(error.code), 40)})`;
  const about = argumentIn(error);
  const what = excerpt(about === undefined ? error.message : `${error.message} (${about})`);
  return new AppError(code, `${SERVICE_SAYS}${what}${number}`, {
    ...(error.code === undefined ? {} : { rpcCode: error.code }),
    ...(status === undefined ? {} : { status }),
  });
}

/** Under these names data tells what is wrong with the parameters. */
const ARGUMENT_NAMES = ['argument', 'parameter', 'param', 'field', 'property', 'path', 'name'];

/** The argument that invalid parameters are about, where the data names it and the message does not. */
function argumentIn({ code, message, data }: RpcError): string | undefined {
  if (code !== INVALID_PARAMS) return undefined;
  const [first = undefined] = Array.isArray(data) ? data : [data];
  const named = isObject(first) ? ARGUMENT_NAMES.map((name) => first[name]) : [first];
  const told = named.map((value) => (Array.isArray(value) ? value.join('.') : value));
  const argument = told.find((value) => typeof value === 'string' && value !== '');
  return typeof argument === 'string' && !message.includes(argument) ? excerpt(argument, 80) : undefined;
}

/** The output of a tool that failed, as ours: `output` where its text is JSON, else the text alone. */
export function toolError(output: unknown, text: string): AppError {
  const object = isObject(output) ? output : {};
  const inner = isObject(object.error) ? object.error : {};
  const code = codeOf([object.status, object.code, object.error, inner.code, inner.status]);
  const told = [inner.message, object.message, object.error, text].find(
    (part) => typeof part === 'string' && part.trim() !== '',
  );
  const says =
    typeof told === 'string' ? `${SERVICE_SAYS}${excerpt(told)}` : 'the tool failed without a word';
  return new AppError(code ?? 'tool_error', says);
}

function codeOf(tokens: readonly unknown[]): Code | undefined {
  for (const token of tokens) {
    if (typeof token !== 'string' || token.length > 40) continue;
    const code = Object.hasOwn(TOKENS, normal(token)) ? TOKENS[normal(token)] : undefined;
    if (code !== undefined) return code;
  }
  return undefined;
}

/** `Not Found`, `notFound` and `NOT-FOUND` are `not_found`. */
function normal(token: string): string {
  return token
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();
}

/** What a failed HTTP answer is judged by. */
export interface FailedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  readonly text: string;
  /** The JSON-RPC error in its body, where there is one. */
  readonly rpc?: RpcError | undefined;
}

export interface StatusContext {
  /** host:port of the service, for messages. */
  readonly host: string;
  /** Last characters of the key that was sent. */
  readonly keySuffix?: string | undefined;
  /** What to do when it is refused, with a command to run. */
  readonly keyHint?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const CODES: Readonly<Record<number, Code>> = {
  401: 'unauthorized',
  402: 'plan_required',
  403: 'forbidden',
  407: 'network',
  429: 'rate_limited',
};

/** Statuses of which a later try may succeed. */
const PASSING: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** The error that a non-2xx answer means. */
export function statusError(answer: FailedResponse, context: StatusContext): AppError {
  const { host, keySuffix, keyHint, now } = context;
  const { status, rpc } = answer;
  if (rpc !== undefined && CODES[status] === undefined && status < 500) return rpcError(rpc, status);
  const code = CODES[status] ?? 'http_error';
  const details: ErrorDetails = {
    status,
    retryable: PASSING.includes(status),
    ...optional('retryAfter', parseRetryAfter(answer.headers['retry-after'], now)),
    ...optional('rpcCode', rpc?.code),
    ...optional('requestId', requestId(answer.headers)),
    ...optional('hint', status === 401 ? keyHint : hintFor(status)),
  };
  const detail = detailOf(answer);
  const what = describe(status, host, keySuffix, details.retryAfter);
  return new AppError(code, detail === '' ? what : `${what}: ${detail}`, details);
}

function describe(status: number, host: string, keyEnd?: string, retryAfter?: number): string {
  if (status === 401) {
    return `${host} refused the API key${keyEnd === undefined ? '' : ` that ends in ${keyEnd}`} (401)`;
  }
  if (status === 402) return `${host} wants a paid key for this (402)`;
  if (status === 403) return `${host} does not allow this with the key in use (403)`;
  if (status === 407) return `the proxy on the way to ${host} wants credentials (407)`;
  if (status === 429) {
    const wait = retryAfter === undefined ? '' : `, wait ${formatDuration(retryAfter * 1000)}`;
    return `${host}: too many requests (429${wait})`;
  }
  return `${host} answered with HTTP ${status}`;
}

function hintFor(status: number): string | undefined {
  if (status === 404) return 'check the base URL: restaurant status';
  if (status === 407)
    return 'put user and password into the URL in HTTPS_PROXY, then: restaurant status --check';
  return undefined;
}

/** What the answer itself says: a JSON-RPC error, an OAuth or a plain error object, text, or the reason phrase. */
function detailOf({ rpc, text, statusText }: FailedResponse): string {
  const told = rpc?.message ?? messageIn(text) ?? (isHtml(text) ? stripHtml(text) : text);
  const line = excerpt(told);
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
  const parts = typeof error === 'string' ? [error, description] : [description, message, detail];
  const told = parts.filter((part) => typeof part === 'string' && part !== '');
  return told.length === 0 ? undefined : typeof error === 'string' ? told.join(': ') : String(told[0]);
}

/** The id that the service gave the request, for a report to its makers. */
export function requestId(headers: HeaderFields): string | undefined {
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined;
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

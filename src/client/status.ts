import { AppError, type Code, type ErrorDetails } from '../errors.ts';
import { inWords } from './duration.ts';
import { excerpt, isHtml, stripHtml } from './excerpt.ts';
import type { HeaderFields } from './exchange.ts';
import { parseJson } from './json.ts';
import { rpcFailure } from './refusal.ts';
import { parseRetryAfter } from './retry.ts';
import { isObject, type RpcError } from './rpc.ts';

/** What a failed HTTP answer is judged by. */
export interface FailedAnswer {
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
  readonly keyEnd?: string | undefined;
  /** What to do when it is refused, with a command to run. */
  readonly keyRemedy?: string | undefined;
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
export function statusError(answer: FailedAnswer, context: StatusContext): AppError {
  const { host, keyEnd, keyRemedy, now } = context;
  const { status, rpc } = answer;
  if (rpc !== undefined && CODES[status] === undefined && status < 500) return rpcFailure(rpc, status);
  const code = CODES[status] ?? 'http_error';
  const details: ErrorDetails = {
    status,
    retryable: PASSING.includes(status),
    ...optional('retryAfter', parseRetryAfter(answer.headers['retry-after'], now)),
    ...optional('rpcCode', rpc?.code),
    ...optional('requestId', requestId(answer.headers)),
    ...optional('hint', status === 401 ? keyRemedy : hintFor(status)),
  };
  const detail = detailOf(answer);
  const what = describe(status, host, keyEnd, details.retryAfter);
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
    const wait = retryAfter === undefined ? '' : `, wait ${inWords(retryAfter * 1000)}`;
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
function detailOf({ rpc, text, statusText }: FailedAnswer): string {
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

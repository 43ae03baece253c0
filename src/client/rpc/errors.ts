import type { Code } from '../../errors.ts';
import { excerpt } from '../../util/format.ts';
import { isFilled, isObject, parseJsonOrNone } from '../../util/json.ts';
import type { HttpResponse } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
import { ServiceError } from '../service-error.ts';
import { INVALID_PARAMS, type RpcError } from './envelope.ts';
import { parseRetryAfter, RETRYABLE } from './retry.ts';

/** Error tokens and our codes for them. They are compared only with machine-readable fields, never with messages. */
const TOKENS: readonly (readonly [RegExp, Code])[] = [
  [/^not_found$/, 'not_found'],
  [/^(?:plan|payment|upgrade|paid_key|paid_plan)_required$/, 'plan_required'],
  [/^(?:unauthorized|invalid_key|invalid_api_key)$/, 'unauthorized'],
  [/^rate_limited$/, 'rate_limited'],
];

export function rpcError(
  error: RpcError,
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
): ServiceError {
  const data = isObject(error.data) ? error.data : {};
  const code = codeOf([error.code, data.code, data.status, data.reason]) ?? 'rpc_error';
  return new ServiceError(code, {
    layer: 'rpc',
    serviceMessage: excerpt(error.message + argumentIn(error)),
    rpcCode: error.code,
    status: status < 300 ? undefined : status,
    requestId: requestIdIn(headers),
  });
}

/** Returns the name of the invalid argument in parentheses if the error's data contains it and its message does not. */
function argumentIn({ code, message, data }: RpcError): string {
  if (code !== INVALID_PARAMS) return '';
  const first: unknown = [data].flat()[0];
  const names = ['argument', 'parameter', 'param', 'field', 'property', 'path', 'name'];
  const paths = isObject(first) ? names.map((name) => [first[name]].flat()) : [[first].flat()];
  const argument = paths.find((path) => path.length > 0 && path.every(isFilled))?.join('.');
  return argument === undefined || message.includes(argument) ? '' : ` (${excerpt(argument, 80)})`;
}

/** Converts the result of a failed tool. @param output its parsed text, or its structured content */
export function toolError(output: unknown, text: string, tool?: string): ServiceError {
  const object = isObject(output) ? output : {};
  const inner = isObject(object.error) ? object.error : {};
  const code = codeOf([object.status, object.code, object.error, inner.code, inner.status]);
  const texts = [inner.message, object.message, object.error, text].filter(isFilled);
  const message = texts.find((each) => each.trim() !== '');
  return new ServiceError(code ?? 'tool_error', {
    layer: 'tool',
    serviceMessage: message && excerpt(message),
    tool: code === undefined ? tool : undefined,
  });
}

/** Finds one of TOKENS in any spelling: `Not Found`, `notFound`, `NOT-FOUND`. */
function codeOf(tokens: readonly unknown[]): Code | undefined {
  for (const token of tokens) {
    if (typeof token !== 'string' || token.length > 40) continue;
    const words = token.trim().replace(/([a-z0-9])([A-Z])/g, '$1_$2');
    const word = words.replace(/[\s-]+/g, '_').toLowerCase();
    const [, code] = TOKENS.find(([form]) => form.test(word)) ?? [];
    if (code !== undefined) return code;
  }
  return undefined;
}

type FailedResponse = Pick<HttpResponse, 'status' | 'statusText' | 'headers' | 'text'> & {
  readonly rpc?: RpcError | undefined;
};

export interface StatusContext {
  /** host:port of the service, for messages. */
  readonly host: string;
  readonly keySuffix?: string | undefined;
  /** The requested details, if they may require a paid key. */
  readonly level?: string | undefined;
  /** Returns the time, ms since the epoch. */
  now(): number;
}

const CODES: Readonly<Record<number, Code>> = {
  401: 'unauthorized',
  402: 'plan_required',
  403: 'forbidden',
  407: 'network',
  429: 'rate_limited',
};

/** Converts a failed response. The status determines the code; if the status is not specific, the JSON-RPC error does. */
export function statusError(response: FailedResponse, context: StatusContext): ServiceError {
  const { status, rpc, headers } = response;
  const { host, keySuffix, level } = context;
  // The error for details that require a paid key is not documented, so a 403 is treated as that error.
  const isPaid = status === 403 && level !== undefined;
  const code = isPaid ? 'plan_required' : (CODES[status] ?? 'http_error');
  if (rpc !== undefined && code === 'http_error' && status < 500) return rpcError(rpc, { status, headers });
  return new ServiceError(code, {
    status,
    host,
    serviceMessage: detailOf(response) || undefined,
    retryable: RETRYABLE.read.includes(status),
    retryAfter: parseRetryAfter(headers['retry-after'], context.now()),
    ...(status === 401 && { keySuffix }),
    rpcCode: rpc?.code,
    requestId: requestIdIn(headers),
  });
}

function requestIdIn(headers: HeaderFields): string | undefined {
  return firstValue(headers['x-request-id'] ?? headers['request-id'])?.slice(0, 200) || undefined;
}

/** Returns the explanation in a response: a JSON-RPC error, an OAuth or a plain error object, text, or the status text. */
function detailOf({ rpc, text, statusText }: FailedResponse): string {
  const line = excerpt(rpc?.message ?? messageIn(text) ?? (isHtml(text) ? stripHtml(text) : text));
  return line === '' ? excerpt(statusText) : line;
}

function messageIn(text: string): string | undefined {
  const body = parseJsonOrNone(text);
  if (!isObject(body)) return undefined;
  const { error, error_description: description, message, detail } = body;
  if (isObject(error) && typeof error.message === 'string') return error.message;
  if (typeof error === 'string') return [error, description].filter(isFilled).join(': ') || undefined;
  return [description, message, detail].find(isFilled);
}

function stripHtml(page: string): string {
  return page
    .slice(0, 20_000)
    .replace(/<(script|style|head)\b[^<>]*>.*?(?:<\/\1>|$)/gis, ' ')
    .replace(/<!--.*?(?:-->|$)/gs, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ');
}

export function isHtml(text: string): boolean {
  return /^\uFEFF?\s*<[!?a-z]/i.test(text.slice(0, 500));
}

export function htmlTitle(page: string): string | undefined {
  const title = /<title[^<>]*>([^<]*)/i.exec(page.slice(0, 20_000))?.[1]?.trim();
  return title === '' ? undefined : title;
}

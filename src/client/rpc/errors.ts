import { AppError, type Code } from '../../errors.ts';
import { excerpt, formatDuration } from '../../util/format.ts';
import { isFilled, isObject, parseJsonOrNone } from '../../util/json.ts';
import type { HttpResponse } from '../http/body.ts';
import { firstValue, type HeaderFields } from '../http/headers.ts';
import { INVALID_PARAMS, type RpcError } from './envelope.ts';
import { parseRetryAfter } from './retry.ts';

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
): AppError {
  const data = isObject(error.data) ? error.data : {};
  const code = codeOf([error.code, data.code, data.status, data.reason]) ?? 'rpc_error';
  const number = error.code === undefined ? '' : ` (JSON-RPC error ${excerpt(String(error.code), 40)})`;
  const serviceMessage = excerpt(error.message + argumentIn(error));
  return new AppError(code, serviceMessage + number, {
    serviceMessage,
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
export function toolError(output: unknown, text: string, tool?: string): AppError {
  const object = isObject(output) ? output : {};
  const inner = isObject(object.error) ? object.error : {};
  const code = codeOf([object.status, object.code, object.error, inner.code, inner.status]);
  const texts = [inner.message, object.message, object.error, text].filter(isFilled);
  const message = texts.find((each) => each.trim() !== '');
  const serviceMessage = message && excerpt(message);
  return new AppError(code ?? 'tool_error', serviceMessage ?? 'the tool failed without an error message', {
    serviceMessage,
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
  /** Returns the time, ms since the epoch. */
  now(): number;
}

const RETRYABLE_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Converts a failed response. The status determines the code; if the status is not specific, the JSON-RPC error does. */
export function statusError(response: FailedResponse, context: StatusContext): AppError {
  const { status, rpc, headers } = response;
  const retryAfter = parseRetryAfter(headers['retry-after'], context.now());
  const { code, message } = meaningOf(status, context, retryAfter);
  if (rpc !== undefined && code === 'http_error' && status < 500) return rpcError(rpc, { status, headers });
  const detail = detailOf(response);
  return new AppError(code, detail === '' ? message : `${message}: ${detail}`, {
    status,
    host: context.host,
    serviceMessage: detail || undefined,
    retryable: RETRYABLE_STATUSES.includes(status),
    retryAfter,
    rpcCode: rpc?.code,
    requestId: requestIdIn(headers),
  });
}

function requestIdIn(headers: HeaderFields): string | undefined {
  return firstValue(headers['x-request-id'] ?? headers['request-id'])?.slice(0, 200) || undefined;
}

function meaningOf(
  status: number,
  { host, keySuffix }: StatusContext,
  wait: number | undefined,
): { code: Code; message: string } {
  switch (status) {
    case 401: {
      const what =
        keySuffix === undefined ? 'request, which had no API key' : `API key ending in ${keySuffix}`;
      return { code: 'unauthorized', message: `${host} rejected the ${what} (401)` };
    }
    case 402:
      return { code: 'plan_required', message: `${host} requires a paid key for this (402)` };
    case 403:
      return { code: 'forbidden', message: `${host} does not allow this with the current key (403)` };
    case 407:
      return { code: 'network', message: `the proxy in front of ${host} requires credentials (407)` };
    case 429: {
      const pause = wait === undefined ? '' : `, wait ${formatDuration(wait * 1000)}`;
      return { code: 'rate_limited', message: `${host}: too many requests (429${pause})` };
    }
    default:
      return { code: 'http_error', message: `${host} returned HTTP ${status}` };
  }
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
    .replace(/<(script|style|head)\b[^>]*>.*?(?:<\/\1>|$)/gis, ' ')
    .replace(/<!--.*?(?:-->|$)/gs, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ');
}

export function isHtml(text: string): boolean {
  return /^\uFEFF?\s*<[!?a-z]/i.test(text.slice(0, 500));
}

export function htmlTitle(page: string): string | undefined {
  const title = /<title[^>]*>([^<]*)/i.exec(page.slice(0, 20_000))?.[1]?.trim();
  return title === '' ? undefined : title;
}

import { isFilled, isObject, type JsonObject } from '../../util/json.ts';
import type { RpcRequest } from '../types.ts';

/** JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** "Server not initialized", as the Language Server Protocol numbers it. */
export const NOT_INITIALIZED = -32002;

/** Error codes of MCP 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** `error` of a JSON-RPC response, without invalid members (JSON-RPC 2.0, section 5.1). */
export interface RpcError {
  readonly code?: number | string | undefined;
  readonly message: string;
  readonly data?: unknown;
}

export function request(id: number, method: string, params?: RpcRequest['params']): RpcRequest {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}

/** Adds `_meta` keys to named parameters. Positional parameters cannot have metadata. */
export function withMeta(params: RpcRequest['params'], meta: JsonObject): RpcRequest['params'] {
  if (Array.isArray(params) || Object.keys(meta).length === 0) return params;
  return { ...params, _meta: { ...(isObject(params?._meta) ? params._meta : {}), ...meta } };
}

export function progressIn({ method, params }: JsonObject): JsonObject | undefined {
  return method === 'notifications/progress' && isObject(params) ? params : undefined;
}

/** An event of a stream, the body of a 2xx response, or the body of any other response. */
type ReplySource = 'stream' | 'body' | 'refusal';

/** The id may be text. An error that is alone in a body may lack it. In a refusal, the id is not compared. */
export function findReply(value: unknown, id: number, source: ReplySource): JsonObject | undefined {
  const candidates = Array.isArray(value) ? value : [value];
  const replies = candidates.filter(isReply);
  const ours = replies.find((reply) => isReplyTo(reply, id));
  if (ours !== undefined || source === 'stream') return ours;
  return replies.find((reply) => {
    if (!('error' in reply)) return false;
    // Other protocols (OAuth) send error objects that only have an `error`.
    if (source === 'refusal') return 'jsonrpc' in reply || 'id' in reply;
    return (reply.id ?? null) === null;
  });
}

/** Returns whether an envelope has the id of a request. Some servers return it as a string. */
export function isReplyTo(envelope: JsonObject | undefined, id: number): boolean {
  return envelope?.id === id || envelope?.id === String(id);
}

/** Returns the error in an envelope. It takes precedence over a result, unless it is null and there is a result. */
export function errorIn(envelope: JsonObject): RpcError | undefined {
  const { error } = envelope;
  if (error === undefined || (error === null && Object.hasOwn(envelope, 'result'))) return undefined;
  const { code, message, data }: JsonObject = isObject(error) ? error : { message: error };
  return {
    code: typeof code === 'number' || typeof code === 'string' ? code : undefined,
    message: isFilled(message) ? message : 'an error without a message',
    data,
  };
}

export function isReply(value: unknown): value is JsonObject {
  return (
    isObject(value) &&
    !Object.hasOwn(value, 'method') &&
    (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
  );
}

/** Trace context of a caller (W3C Trace Context and Baggage). */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

const TRACE_FIELDS = ['traceparent', 'tracestate', 'baggage'] as const;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAX_LENGTH = 8192;

/** The trace of a caller; headers that name one replace it as a whole, because its fields belong together. */
export function traceOf(
  context: TraceContext | undefined,
  headers: Readonly<Record<string, string>> = {},
): TraceContext | undefined {
  const named = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return TRACE_FIELDS.some((name) => named[name] !== undefined) ? named : context;
}

/** Adds a trace to `_meta` (MCP SEP-414), unless it has one. @returns the parameters, and the trace to send as headers */
export function withTrace(
  trace: TraceContext = {},
  params: RpcRequest['params'],
): { params: RpcRequest['params']; headers: Record<string, string> } {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {};
  if (TRACE_FIELDS.some((name) => meta[name] !== undefined)) {
    return { params, headers: validTrace(meta) };
  }
  const headers = validTrace({ ...trace });
  return { params: withMeta(params, headers), headers };
}

/** Returns the valid fields of a trace. The specification requires that invalid ones are ignored. */
function validTrace({ traceparent, tracestate, baggage }: JsonObject): Record<string, string> {
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_LENGTH;
  const hasParent = isText(traceparent) && TRACEPARENT.test(traceparent);
  return {
    ...(hasParent ? { traceparent } : {}),
    ...(hasParent && isText(tracestate) ? { tracestate } : {}),
    ...(isText(baggage) ? { baggage } : {}),
  };
}

import type { RpcRequest } from '../types.ts';

/** `error` of a JSON-RPC response, as far as it can be read (JSON-RPC 2.0, section 5.1). */
export interface RpcError {
  readonly code?: number | string;
  readonly message: string;
  readonly data?: unknown;
}

export type RpcReply = { readonly result: unknown } | { readonly error: RpcError };

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Is it a JSON object, neither null nor an array? */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON-RPC 2.0 request. `params` that are undefined are left out. */
export function request(id: number, method: string, params?: RpcRequest['params']): RpcRequest {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}

/** `params` of `tools/call`. */
export function toolCall(name: string, args: JsonObject): { name: string; arguments: JsonObject } {
  return { name, arguments: args };
}

/**
 * How much is known about where a message came from: `stream` is one of many (server-sent events), `body` stands
 * alone in a 2xx answer, `refusal` alone in another one.
 */
export type Origin = 'stream' | 'body' | 'refusal';

/**
 * Finds the response to request `id` in a message or a batch of them. An id may come back as a string; alone in a
 * body an error may lack it; with a refusal ids are not compared.
 * @returns the envelope, or undefined where there is none for us
 */
export function findReply(value: unknown, id: number, origin: Origin): JsonObject | undefined {
  const candidates = Array.isArray(value) ? value : [value];
  const replies = candidates.filter(isReply);
  const ours = replies.find((reply) => reply.id === id || reply.id === String(id));
  if (ours !== undefined || origin === 'stream') return ours;
  return replies.find((reply) => {
    if (!('error' in reply)) return false;
    // An object with an `error` alone is what other protocols refuse with (OAuth).
    if (origin === 'refusal') return 'jsonrpc' in reply || 'id' in reply;
    return (reply.id ?? null) === null;
  });
}

/** Reads an envelope: `error` wins over `result`, unless it is null beside a result. */
export function readReply(envelope: JsonObject): RpcReply {
  const hasResult = Object.hasOwn(envelope, 'result');
  const error = Object.hasOwn(envelope, 'error') ? envelope.error : undefined;
  if (error === undefined || (error === null && hasResult)) return { result: envelope.result };
  if (!isObject(error)) {
    return { error: { message: typeof error === 'string' ? error : 'an error without a message' } };
  }
  const { code, message, data } = error;
  return {
    error: {
      ...(typeof code === 'number' || typeof code === 'string' ? { code } : {}),
      message: typeof message === 'string' && message !== '' ? message : 'an error without a message',
      ...(data === undefined ? {} : { data }),
    },
  };
}

/** Is it a response, whoever it is for? */
export function isReply(value: unknown): value is JsonObject {
  return (
    isObject(value) &&
    !Object.hasOwn(value, 'method') &&
    (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
  );
}

/** The parameters of a request that wants to hear of its progress, under its id. */
export function withProgress(
  params: RpcRequest['params'],
  id: number,
  listener: unknown,
): RpcRequest['params'] {
  if (listener === undefined || Array.isArray(params)) return params;
  const meta = isObject(params?._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, progressToken: id } };
}

/** `params` of a message that tells how far a tool has come (`notifications/progress`), or undefined. */
export function progressIn({ method, params }: JsonObject): JsonObject | undefined {
  return method === 'notifications/progress' && isObject(params) ? params : undefined;
}

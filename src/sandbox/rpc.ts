/** JSON-RPC 2.0 error codes, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export type RpcId = number | string;
export type RpcObject = Record<string, unknown>;

/** A well-formed body: a request; without `id` a notification, without `method` a response. */
export interface RpcMessage {
  readonly id: RpcId | undefined;
  readonly method: string | undefined;
  readonly params: unknown;
}

/** A JSON-RPC error, with the HTTP status of its reply. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;
  readonly status: number;

  constructor(code: number, message: string, data?: unknown, status = 200) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/** The error for an argument that is missing or of the wrong type; `data` names it. */
export function badArgument(argument: string, problem: string): RpcError {
  return new RpcError(INVALID_PARAMS, `invalid params: ${argument} ${problem}`, { argument, problem });
}

/** -32600, sent with HTTP 400. */
export function invalidRequest(message: string): RpcError {
  return new RpcError(INVALID_REQUEST, `invalid request: ${message}`, undefined, 400);
}

/**
 * Classifies a body as request, notification or response. Ids are integers or strings (MCP), never null.
 * @throws {RpcError} -32600 for anything else, batches included.
 */
export function readMessage(value: unknown): RpcMessage {
  if (!isObject(value)) throw invalidRequest('the body is not one JSON-RPC object');
  if (value.jsonrpc !== '2.0') throw invalidRequest('jsonrpc is not "2.0"');
  const { id, method, params } = value;
  const isResponse = method === undefined && ('result' in value || 'error' in value);
  if (isResponse) return { id: undefined, method: undefined, params: undefined };
  if (typeof method !== 'string' || method === '') throw invalidRequest('method is not a string');
  if (params !== undefined && (typeof params !== 'object' || params === null)) {
    throw invalidRequest('params is not an object');
  }
  if (id !== undefined && !isId(id)) throw invalidRequest('id is not an integer');
  return { id, method, params };
}

export function resultMessage(id: RpcId, result: unknown): RpcObject {
  return { jsonrpc: '2.0', id, result };
}

/** An error response; `id` is null if that of the request could not be read. */
export function errorMessage(id: RpcId | null, { code, message, data }: RpcError): RpcObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** Returns the id that the reply to this body must have, or null. */
export function idOf(value: unknown): RpcId | null {
  return isObject(value) && isId(value.id) ? value.id : null;
}

/** True for a JSON object, false for an array or null. */
export function isObject(value: unknown): value is RpcObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isId = (value: unknown): value is RpcId => typeof value === 'string' || Number.isSafeInteger(value);

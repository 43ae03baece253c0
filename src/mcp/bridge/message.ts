import { parseJson } from '../../client/json.ts';
import { isObject, type JsonObject } from '../../client/rpc.ts';

/** Error codes of JSON-RPC 2.0 (section 5.1), and those of MCP that are used here. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const SERVER_BUSY = -32000;
export const UNSUPPORTED_VERSION = -32022;

/** What a host may choose as an id (MCP, base protocol): a string or an integer. */
export type RequestId = string | number;

/** A message of the host, as far as it concerns us. Its responses are none: nothing is ever asked of it. */
export type Incoming =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'response' };

/** A failure that is told as a JSON-RPC error. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Parses the text of a line. @throws {ProtocolError} -32700 */
export function parseMessage(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ProtocolError(PARSE_ERROR, 'Parse error: the line is no JSON');
  }
}

/** Reads a parsed message. @throws {ProtocolError} -32600, or -32602 for params that are no object */
export function readMessage(value: unknown): Incoming {
  if (!isObject(value)) throw invalid('a message is an object');
  const { id, method, params } = value;
  if (value.jsonrpc !== '2.0') throw invalid('jsonrpc is not "2.0"');
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (typeof method !== 'string') throw invalid('method is no string');
  if (!('id' in value)) return { kind: 'notification', method, params: isObject(params) ? params : {} };
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) throw invalid('id is no string and no integer');
  if (params !== undefined && !isObject(params)) {
    throw new ProtocolError(INVALID_PARAMS, 'Invalid params: params is no object');
  }
  return { kind: 'request', id: id as RequestId, method, params: params ?? {} };
}

/** The id to answer to, also where the rest of the message is wrong; null where there is none (JSON-RPC 2.0, section 5). */
export function answerableId(value: unknown): RequestId | null {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

const invalid = (why: string): ProtocolError => new ProtocolError(INVALID_REQUEST, `Invalid Request: ${why}`);

/** A response with a result. */
export function resultMessage(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

/** A response with an error. */
export function errorMessage(id: RequestId | null, error: ProtocolError): JsonObject {
  const { code, message, data } = error;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

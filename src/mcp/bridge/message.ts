import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from '../../client/mcp/protocol.ts';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { parseJson } from '../../client/rpc/json.ts';

/** The id of a host's request: a string or an integer (MCP, base protocol). */
export type RequestId = string | number;

/** A message of the host. The bridge sends no requests, so the contents of responses do not matter. */
export type Incoming =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'response' };

/** A failure that is sent as a JSON-RPC error. */
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

/** Creates the error -32602. */
export const invalidParams = (why: string): ProtocolError =>
  new ProtocolError(INVALID_PARAMS, `Invalid params: ${why}`);

const invalidRequest = (why: string): ProtocolError =>
  new ProtocolError(INVALID_REQUEST, `Invalid Request: ${why}`);

/** Parses the text of a line. @throws {ProtocolError} -32700 */
export function parseMessage(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ProtocolError(PARSE_ERROR, 'Parse error: the line is not valid JSON');
  }
}

/** Reads a parsed message. @throws {ProtocolError} -32600, or -32602 when params is not an object */
export function readMessage(value: unknown): Incoming {
  if (!isObject(value)) throw invalidRequest('the message must be an object');
  const { id, method, params } = value;
  if (value.jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0"');
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (typeof method !== 'string') throw invalidRequest('method must be a string');
  if (!('id' in value)) return { kind: 'notification', method, params: isObject(params) ? params : {} };
  if (!isRequestId(id)) throw invalidRequest('id must be a string or an integer');
  if (params !== undefined && !isObject(params)) throw invalidParams('params must be an object');
  return { kind: 'request', id, method, params: params ?? {} };
}

/** Returns the id to respond to, even when the rest of the message is wrong; null without one (JSON-RPC 2.0, section 5). */
export function responseId(value: unknown): RequestId | null {
  const id = isObject(value) ? value.id : undefined;
  return isRequestId(id) ? id : null;
}

const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

/** Creates a response with a result. */
export function resultMessage(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

/** Creates a response with an error. */
export function errorMessage(id: RequestId | null, error: ProtocolError): JsonObject {
  const { code, message, data } = error;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

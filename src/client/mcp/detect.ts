import { isObject, isReplyTo, type RpcError } from '../rpc/envelope.ts';
import type { RpcResponse } from '../rpc/reply.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  NOT_INITIALIZED,
  UNSUPPORTED_VERSION,
} from './protocol.ts';

/** Returns the JSON-RPC error in a response, if it is one. */
export function rpcErrorOf({ reply }: RpcResponse): RpcError | undefined {
  return reply !== undefined && 'error' in reply ? reply.error : undefined;
}

/** Whether the service did not understand the request. 401, 403, 429 and 5xx say nothing about the protocol. */
export function isRefusal({ status }: RpcResponse): boolean {
  return [400, 404, 422].includes(status);
}

/** Returns the protocol that the response to a call in another one demands, if it does. */
export function requiredProtocol(response: RpcResponse): 'legacy' | 'modern' | undefined {
  const error = rpcErrorOf(response);
  const isRefused = isRefusal(response);
  if (error !== undefined && (isRefused || response.status < 300)) {
    if (demandsModern(error)) return 'modern';
    if (demandsHandshake(error)) return 'legacy';
  }
  return isRefused ? 'legacy' : undefined;
}

/** Whether only a service of MCP 2026-07-28 sends this error. */
export function demandsModern({ code, data }: RpcError): boolean {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return true;
  if (!isObject(data)) return false;
  if (code === INVALID_PARAMS) return 'envelope' in data;
  return (
    code === UNSUPPORTED_VERSION && Array.isArray(data.supported) && data.supported.includes(MODERN_VERSION)
  );
}

/**
 * Whether an error says that the session is not initialized. The official SDKs have no code of their own for it, so
 * words count here: a wrong guess costs one request and changes no response.
 */
function demandsHandshake({ code, message }: RpcError): boolean {
  if (code === NOT_INITIALIZED || code === UNSUPPORTED_VERSION) return true;
  return (
    [0, -32000, INVALID_REQUEST, INVALID_PARAMS].includes(Number(code)) && /\binitiali[sz]/i.test(message)
  );
}

/**
 * Whether a refusal is about this request and not the protocol: an error with our id that every version knows.
 * @param era of the request: MCP servers use -32002 for an unknown resource, too
 */
export function isPlainRefusal(response: RpcResponse, era = 'bare'): boolean {
  const error = rpcErrorOf(response);
  if (error === undefined || demandsModern(error)) return false;
  const isUnknownResource =
    era !== 'bare' && error.code === NOT_INITIALIZED && !/\binitiali[sz]/i.test(error.message);
  if (demandsHandshake(error) && !isUnknownResource) return false;
  return isReplyTo(response.envelope, response.id);
}

/** Whether the service no longer knows the session of a request. */
export function isSessionExpired(response: RpcResponse): boolean {
  if (response.status === 404) return rpcErrorOf(response)?.code !== METHOD_NOT_FOUND;
  // With our id it is about the request; servers refuse a session without one.
  return response.status === 400 && response.envelope?.id !== response.id;
}

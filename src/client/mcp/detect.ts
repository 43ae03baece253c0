import type { RequestHeaders } from '../http/headers.ts';
import type { CallState, RpcResponse } from '../rpc/channel.ts';
import { isObject, isReplyTo, type JsonObject, type RpcError } from '../rpc/envelope.ts';
import type { ParsedReply } from '../rpc/reply.ts';
import type { RpcRequest, Tool } from '../types.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  MODERN_VERSIONS,
  NOT_INITIALIZED,
  UNSUPPORTED_VERSION,
} from './protocol.ts';

/** Which protocol to use: detected (`auto`), plain JSON-RPC (`bare`), or a version of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

/** A protocol that an endpoint was found to use. */
export interface DetectedProtocol {
  /** `bare`, `legacy` (with a handshake) or `modern`. */
  readonly era: string;
  /** The negotiated version. */
  readonly version?: string;
}

/** Stores the detected protocol of an endpoint between runs. */
export interface ProtocolMemory {
  read(): DetectedProtocol | undefined;
  write(value: DetectedProtocol): void;
  forget(): void;
}

/** A call, independent of the protocol. */
export interface RpcCall {
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders;
  /** The tool that is called, where its schema is known. */
  readonly tool?: Tool | undefined;
  /** Gets the notifications that precede the response; progress is requested where the protocol has it. */
  onMessage?(message: JsonObject): void;
}

/** Makes calls in one protocol. */
export interface ProtocolClient {
  call(state: CallState, call: RpcCall): Promise<RpcResponse>;
}

/** The protocol that a refusal demands. */
export type RequiredProtocol =
  | { readonly era: 'modern'; readonly version: string }
  | { readonly era: 'legacy' };

/** Statuses of a request that the service did not understand. 401, 403, 429 and 5xx say nothing about the protocol. */
const REFUSALS = [400, 404, 422];

/** Returns the JSON-RPC error in a response, if it is one. */
export function rpcErrorOf({ reply }: ParsedReply): RpcError | undefined {
  return reply !== undefined && 'error' in reply ? reply.error : undefined;
}

/** Whether the service refused the request itself, with or without its id. */
export function isRefusal({ status }: ParsedReply): boolean {
  return REFUSALS.includes(status);
}

/** Returns the protocol that the response to a plain call demands, if it does. */
export function requiredProtocol(response: ParsedReply): RequiredProtocol | undefined {
  const error = rpcErrorOf(response);
  const isRefused = isRefusal(response);
  const version = error === undefined ? undefined : modernVersion(error);
  if (version !== undefined && (isRefused || response.status < 300)) return { era: 'modern', version };
  if (isRefused) return { era: 'legacy' };
  return error !== undefined && response.status < 300 && demandsHandshake(error)
    ? { era: 'legacy' }
    : undefined;
}

/** Returns the version without handshake to use after an error that only such services send. */
export function modernVersion({ code, data }: RpcError): string | undefined {
  const newest = MODERN_VERSIONS[0];
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return newest;
  if (code === INVALID_PARAMS) return isObject(data) && 'envelope' in data ? newest : undefined;
  if (code !== UNSUPPORTED_VERSION) return undefined;
  const supported = isObject(data) && Array.isArray(data.supported) ? data.supported : [];
  return MODERN_VERSIONS.find((version) => supported.includes(version));
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
  if (error === undefined || modernVersion(error) !== undefined) return false;
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

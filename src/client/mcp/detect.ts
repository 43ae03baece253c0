import type { RequestHeaders } from '../http/headers.ts';
import type { CallState, RpcResponse } from '../rpc/channel.ts';
import { isObject, type JsonObject, type RpcError } from '../rpc/envelope.ts';
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

/** Which protocol to speak: found out, plain JSON-RPC, or a revision of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

/** What an endpoint was found to speak. */
export interface DetectedProtocol {
  readonly era: string;
  /** Revision that was agreed on. */
  readonly version?: string;
}

/** Keeps what an endpoint speaks between runs. */
export interface ProtocolMemory {
  read(): DetectedProtocol | undefined;
  write(value: DetectedProtocol): void;
  forget(): void;
}

/** A call as a caller means it, whatever the protocol. */
export interface RpcCall {
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders;
  /** The tool that is called, where its schema is known. */
  readonly tool?: Tool | undefined;
  /** Gets the notifications that precede the answer, and asks for those of progress where the protocol can. */
  onMessage?(message: JsonObject): void;
}

/** One way to make a call. */
export interface ProtocolClient {
  call(call: CallState, wanted: RpcCall): Promise<RpcResponse>;
  close(): Promise<void>;
}

/** What a service wants instead of a plain call. */
export type RequiredProtocol =
  | { readonly era: 'modern'; readonly version: string }
  | { readonly era: 'legacy' };

/** The error in an answer, where it is one in JSON-RPC. */
export function rpcErrorOf({ reply }: ParsedReply): RpcError | undefined {
  return reply !== undefined && 'error' in reply ? reply.error : undefined;
}

/**
 * Does the answer to a plain call ask for another protocol, and for which? 401, 403, 429 and 5xx say nothing
 * about it.
 */
export function requiredProtocol(answer: ParsedReply): RequiredProtocol | undefined {
  const error = rpcErrorOf(answer);
  const refused = [400, 404, 422].includes(answer.status);
  const modern = error === undefined ? undefined : modernVersion(error);
  if (modern !== undefined && (refused || answer.status < 300)) return { era: 'modern', version: modern };
  if (refused) return { era: 'legacy' };
  return error !== undefined && answer.status < 300 && wantsHandshake(error) ? { era: 'legacy' } : undefined;
}

/** The modern revision to speak after an error that only modern services know. */
export function modernVersion({ code, data }: RpcError): string | undefined {
  const newest = MODERN_VERSIONS[0];
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return newest;
  if (code === INVALID_PARAMS) return isObject(data) && 'envelope' in data ? newest : undefined;
  if (code !== UNSUPPORTED_VERSION) return undefined;
  const supported = isObject(data) && Array.isArray(data.supported) ? data.supported : [];
  return MODERN_VERSIONS.find((version) => supported.includes(version));
}

/**
 * Says the error that the session is not initialised? The official SDKs have no code of their own for it, so here
 * words count: a wrong guess costs one request and changes no answer.
 */
function wantsHandshake({ code, message }: RpcError): boolean {
  if (code === NOT_INITIALIZED || code === UNSUPPORTED_VERSION) return true;
  return (
    [0, -32000, INVALID_REQUEST, INVALID_PARAMS].includes(Number(code)) && /\binitiali[sz]/i.test(message)
  );
}

/**
 * Is a refusal the service's own word on this request, not on the protocol: an error with our id that every
 * era knows?
 */
export function isPlainRefusal(answer: ParsedReply, id: number): boolean {
  const error = rpcErrorOf(answer);
  if (error === undefined || modernVersion(error) !== undefined || wantsHandshake(error)) return false;
  return answer.envelope?.id === id || answer.envelope?.id === String(id);
}

/** Has the service forgotten the session that a request carried? */
export function sessionIsGone(answer: ParsedReply, id: number): boolean {
  if (answer.status === 404) return rpcErrorOf(answer)?.code !== METHOD_NOT_FOUND;
  // With our id it is an answer to the request; about the session servers answer without.
  return answer.status === 400 && answer.envelope?.id !== id;
}

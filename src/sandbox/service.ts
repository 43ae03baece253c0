import type { Access } from './auth.ts';
import type { Answer } from './reply.ts';
import {
  errorMessage,
  type Incoming,
  invalidRequest,
  METHOD_NOT_FOUND,
  RpcError,
  resultMessage,
} from './rpc.ts';
import { callTool, type ToolFunction } from './tools.ts';

/** A POST that passed the door, the key and the limits. */
export interface Post {
  readonly incoming: Incoming;
  readonly access: Access;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The documented service: `tools/call`, no handshake, nothing else.
 * @throws {RpcError} that goes to the caller as a JSON-RPC error.
 */
export function answerService(tools: ReadonlyMap<string, ToolFunction>, { incoming, access }: Post): Answer {
  if (incoming.kind === 'response') throw invalidRequest('a response answers nothing here');
  const { method, params } = incoming;
  if (incoming.kind === 'notification') {
    if (method === 'tools/call') throw invalidRequest('id is missing');
    return { status: 202 };
  }
  const { id } = incoming;
  if (typeof id === 'string') throw invalidRequest('id is not an integer');
  try {
    if (method !== 'tools/call')
      throw new RpcError(METHOD_NOT_FOUND, 'method not found: only tools/call is served');
    return { status: 200, message: resultMessage(id, callTool(tools, params, access.paid)) };
  } catch (error) {
    if (error instanceof RpcError) return { status: error.status, message: errorMessage(id, error) };
    throw error;
  }
}

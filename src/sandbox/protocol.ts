import { type Answer, HttpError } from './reply.ts';
import type { Access } from './request-guard.ts';
import {
  errorMessage,
  invalidRequest,
  isObject,
  METHOD_NOT_FOUND,
  RpcError,
  type RpcId,
  type RpcMessage,
  type RpcObject,
  resultMessage,
} from './rpc.ts';
import { callTool, type ToolFunction } from './tools.ts';

/** Protocol versions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** The protocol version without a handshake. */
export const MODERN_VERSION = '2026-07-28';

/** The name and the instructions of the server, as `initialize` returns them. */
export const SERVER = {
  serverInfo: { name: 'restaurant-sandbox', title: 'Restaurant sandbox', version: '1.0.0' },
  instructions:
    'Sample data, all invented. find_restaurant searches by name and city; lookup_restaurant takes a service_id from it.',
};

/** JSON-RPC error codes of MCP servers. */
export const SERVER_ERROR = -32000;
export const SESSION_NOT_FOUND = -32001;
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;

const PROGRESS_STEPS = ['searching', 'writing'];

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A POST that passed all checks of HTTP, key and limits. */
export interface Post {
  readonly incoming: RpcMessage;
  readonly access: Access;
  readonly headers: Headers;
}

/** The protocol of the sandbox. Both functions may throw an HttpError or an RpcError. */
export interface Protocol {
  /** Allowed HTTP methods. */
  readonly methods: readonly string[];
  post(post: Post): Answer;
  /** Handles the other methods, which have no body. */
  withoutBody(method: string, headers: Headers, access: Access): Answer;
}

/** The documented service: `tools/call`, no handshake, nothing else. */
export function createService(tools: ReadonlyMap<string, ToolFunction>): Protocol {
  return {
    methods: ['POST'],
    post({ incoming: { id, method, params }, access }) {
      if (method === undefined) throw invalidRequest('the server sent no request');
      if (id === undefined) {
        if (method === 'tools/call') throw invalidRequest('id is missing');
        return { status: 202 };
      }
      if (typeof id === 'string') throw invalidRequest('id is not an integer');
      return respond(id, () => {
        if (method === 'tools/call') return callTool(tools, params, access.paid);
        throw new RpcError(METHOD_NOT_FOUND, 'method not found: only tools/call is served');
      });
    },
    withoutBody: () => {
      throw methodNotAllowed();
    },
  };
}

/** Answers a request with the result of `run`, or under HTTP 200 with the JSON-RPC error that it throws. */
export function respond(id: RpcId, run: () => unknown): { status: number; message: RpcObject } {
  try {
    return { status: 200, message: resultMessage(id, run()) };
  } catch (error) {
    if (!(error instanceof RpcError) || error.status !== 200) throw error;
    return { status: 200, message: errorMessage(id, error) };
  }
}

/** 405 for everything but POST. */
export function methodNotAllowed(): HttpError {
  return new HttpError(405, 'method_not_allowed', 'use POST', { Allow: 'POST' });
}

/**
 * Returns the `notifications/progress` for `params._meta.progressToken`, as JSON. None if the token is missing, or neither
 * a string nor an integer.
 */
export function progressMessages(params: unknown): string[] {
  const meta = isObject(params) ? params._meta : undefined;
  const progressToken = isObject(meta) ? meta.progressToken : undefined;
  if (typeof progressToken !== 'string' && !Number.isSafeInteger(progressToken)) return [];
  return PROGRESS_STEPS.map((message, index) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: index + 1, total: PROGRESS_STEPS.length, message },
    }),
  );
}

import type { Catalog } from './catalog.ts';
import {
  type Answer,
  invalidRequest,
  METHOD_NOT_FOUND,
  type RpcMessage,
  resultMessage,
  rpcError,
} from './messages.ts';
import { callTool, createTools } from './tools.ts';
import type { Access } from './types.ts';

export type Headers = Readonly<Record<string, string>>;

export interface Post {
  readonly incoming: RpcMessage;
  readonly access: Access;
  readonly headers: Headers;
}

/** The protocol of the sandbox. Both functions may throw a ReplyError. */
export interface Protocol {
  readonly methods: readonly string[];
  post(post: Post): Answer;
  endSession?(headers: Headers, access: Access): Answer;
}

export function createService(catalog: Catalog): Protocol {
  const tools = createTools(catalog, 'service');
  return {
    methods: ['POST'],
    post({ incoming: { id, method, params }, access }) {
      if (method === undefined) throw invalidRequest('the server sent no request');
      if (id === undefined) {
        if (method === 'tools/call') throw invalidRequest('id is missing');
        return { status: 202 };
      }
      if (typeof id === 'string') throw invalidRequest('id is not an integer');
      if (method !== 'tools/call') {
        throw rpcError(METHOD_NOT_FOUND, 'method not found: only tools/call is served');
      }
      return { status: 200, message: resultMessage(id, callTool(tools, params, access.paid)) };
    },
  };
}

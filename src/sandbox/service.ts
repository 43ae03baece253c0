import { type Protocol, respond } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { invalidRequest, METHOD_NOT_FOUND, RpcError } from './rpc.ts';
import { callTool, type ToolFunction } from './tools.ts';

/** The documented service: `tools/call`, no handshake, nothing else. */
export function createService(tools: ReadonlyMap<string, ToolFunction>): Protocol {
  return {
    methods: ['POST'],
    post({ incoming, access }) {
      if (incoming.kind === 'response') throw invalidRequest('a response answers nothing here');
      const { method, params } = incoming;
      if (incoming.kind === 'notification') {
        if (method === 'tools/call') throw invalidRequest('id is missing');
        return { status: 202 };
      }
      const { id } = incoming;
      if (typeof id === 'string') throw invalidRequest('id is not an integer');
      const message = respond(id, () => {
        if (method === 'tools/call') return callTool(tools, params, access.paid);
        throw new RpcError(METHOD_NOT_FOUND, 'method not found: only tools/call is served');
      });
      return { status: 200, message };
    },
    bodiless: () => {
      throw new Refusal(405, 'method_not_allowed', 'use POST', { Allow: 'POST' });
    },
  };
}

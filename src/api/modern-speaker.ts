import type { Call, Channel, ChannelAnswer } from './channel.ts';
import { HEADER_MISMATCH, rpcErrorOf } from './era.ts';
import { type ClientInfo, modernHeaders, modernRequest } from './modern.ts';
import { headersOf, type ParamHeader, paramHeaders } from './param-headers.ts';
import { withProgress } from './progress.ts';
import { rpcFailure } from './refusal.ts';
import { isObject } from './rpc.ts';
import type { Speaker, Wanted } from './session.ts';
import { listAllTools } from './tool-list.ts';
import type { Tool } from './types.ts';

export interface ModernSpeaker extends Speaker {
  /** Keeps the tools that may be used, and what their calls need. */
  screen(tools: readonly Tool[]): Tool[];
}

/** Speaks MCP without handshake: every request says all about itself. */
export function modernSpeaker(
  channel: Channel,
  clientInfo: ClientInfo,
  version: string,
  warn: (text: string) => void,
): ModernSpeaker {
  let known: ReadonlyMap<string, readonly ParamHeader[]> | undefined;

  function send(call: Call, { method, params, headers = {}, onMessage }: Wanted): Promise<ChannelAnswer> {
    return channel.request(call, {
      build: (id) => ({
        ...modernRequest(id, method, withProgress(params, id, onMessage), version, clientInfo),
      }),
      headers: { ...modernHeaders(method, params, version), ...toolHeaders(method, params), ...headers },
      ...(onMessage === undefined ? {} : { onMessage: onMessage }),
    });
  }

  function toolHeaders(method: string, params: Wanted['params']): Record<string, string> {
    if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return {};
    return headersOf(known?.get(params.name) ?? [], params.arguments);
  }

  function screen(tools: readonly Tool[]): Tool[] {
    const headers = new Map<string, readonly ParamHeader[]>();
    const kept = tools.filter((tool) => {
      const found = paramHeaders(tool);
      if ('bad' in found) {
        warn(`the tool ${tool.name.slice(0, 60)} is left out: ${found.bad}`);
        return false;
      }
      headers.set(tool.name, found.headers);
      return true;
    });
    known = headers;
    return kept;
  }

  async function learnTools(call: Call): Promise<void> {
    const read: Call = { ...call, policy: 'read' };
    const tools = await listAllTools(async (params) => {
      const { reply, error } = await send(read, { method: 'tools/list', params });
      if (reply === undefined || 'error' in reply) {
        throw error ?? rpcFailure(reply?.error ?? { message: 'no list of tools' });
      }
      return reply.result;
    });
    call.deadline = read.deadline;
    screen(tools);
  }

  return {
    screen,
    async call(call, wanted) {
      const answer: ChannelAnswer = { ...(await send(call, wanted)), typed: true };
      const mismatch = rpcErrorOf(answer)?.code === HEADER_MISMATCH;
      if (!mismatch || wanted.method !== 'tools/call') return answer;
      // The tool wants headers that only its schema tells.
      await learnTools(call);
      return { ...(await send(call, wanted)), typed: true };
    },
    close: async () => {},
  };
}

import type { Call, Channel, ChannelAnswer } from './channel.ts';
import { HEADER_MISMATCH, modernVersion, rpcErrorOf, UNSUPPORTED_VERSION } from './era.ts';
import { type ClientInfo, modernHeaders, modernRequest } from './modern.ts';
import { headersOf, type ParamHeader, paramHeaders } from './param-headers.ts';
import { withProgress } from './progress.ts';
import { rpcFailure } from './refusal.ts';
import { isObject, type RpcError } from './rpc.ts';
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

  function send(call: Call, wanted: Wanted): Promise<ChannelAnswer> {
    const { method, params, headers = {}, onMessage } = wanted;
    return channel.request(call, {
      build: (id) => ({
        ...modernRequest(id, method, withProgress(params, id, onMessage), version, clientInfo),
      }),
      headers: { ...modernHeaders(method, params, version), ...toolHeaders(wanted), ...headers },
      ...(onMessage === undefined ? {} : { onMessage: onMessage }),
    });
  }

  function toolHeaders({ method, params, tool }: Wanted): Record<string, string> {
    if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return {};
    return headersOf(known?.get(params.name) ?? declaredHeaders(tool), params.arguments);
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

  /** Gives what a refusal asks for. Whether the call is worth making again. */
  async function mend(call: Call, { method }: Wanted, error: RpcError): Promise<boolean> {
    if (error.code === UNSUPPORTED_VERSION) return modernVersion(error) === version;
    if (error.code !== HEADER_MISMATCH || method !== 'tools/call') return false;
    // The tool wants headers that only its schema tells.
    await learnTools(call);
    return true;
  }

  return {
    screen,
    async call(call, wanted) {
      const answer: ChannelAnswer = { ...(await send(call, wanted)), typed: true };
      const error = rpcErrorOf(answer);
      if (error === undefined || !(await mend(call, wanted, error))) return answer;
      return { ...(await send(call, wanted)), typed: true };
    },
    close: async () => {},
  };
}

function declaredHeaders(tool: Tool | undefined): readonly ParamHeader[] {
  const found = tool === undefined ? { headers: [] } : paramHeaders(tool);
  return 'headers' in found ? found.headers : [];
}

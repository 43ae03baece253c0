import { isObject, type JsonObject } from '../../util/json.ts';
import { headerValue } from '../http/headers.ts';
import { send } from '../kernel.ts';
import { decodeToolPage, listAllTools, resultOf } from '../results.ts';
import { HEADER_MISMATCH, UNSUPPORTED_VERSION, withMeta } from '../rpc/envelope.ts';
import type { CallState, Channel, RpcCall, RpcMessage } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import type { RpcRequest, Tool } from '../types.ts';
import { ANNOTATION, headersOf, type ParamHeader, paramHeaders } from './param-headers.ts';
import { CLIENT_INFO, META_PREFIX, MODERN_VERSION, requiresModern } from './protocol.ts';

export function modernParams(
  params: RpcRequest['params'],
  capabilities: JsonObject = {},
): RpcRequest['params'] {
  return withMeta(params, {
    [`${META_PREFIX}protocolVersion`]: MODERN_VERSION,
    [`${META_PREFIX}clientCapabilities`]: capabilities,
    [`${META_PREFIX}clientInfo`]: CLIENT_INFO,
  });
}

/** The parameter that names what a method is about. */
const SUBJECTS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** Returns the headers that repeat the message for intermediaries that read only headers. */
export function modernHeaders(method: string, params: RpcRequest['params']): Record<string, string> {
  const key = SUBJECTS.get(method);
  const subject = key !== undefined && isObject(params) ? params[key] : undefined;
  return {
    'MCP-Protocol-Version': MODERN_VERSION,
    'Mcp-Method': headerValue(method),
    ...(typeof subject === 'string' ? { 'Mcp-Name': headerValue(subject) } : {}),
  };
}

export type ToolHeaders = ReadonlyMap<string, readonly ParamHeader[]>;

export function modernMessage(call: RpcCall, toolHeaders: ToolHeaders): RpcMessage {
  const { method, params, tool } = call;
  const isTool = method === 'tools/call' && isObject(params);
  const declared = isTool ? (toolHeaders.get(String(params.name)) ?? (tool && paramHeaders(tool)) ?? []) : [];
  const args = isTool ? params.arguments : undefined;
  return {
    ...call,
    params: modernParams(params, call.capabilities),
    wantsProgress: true,
    headers: { ...modernHeaders(method, params), ...headersOf(declared, args), ...call.headers },
  };
}

export function usableTools(
  tools: readonly Tool[],
  warn: (text: string) => void,
): { usable: Tool[]; headers: ToolHeaders } {
  const all = tools.map((tool) => ({ tool, headers: paramHeaders(tool) }));
  for (const { tool, headers } of all) {
    if (headers === undefined) {
      warn(`the tool ${tool.name.slice(0, 60)} is left out: its schema has an invalid ${ANNOTATION}`);
    }
  }
  return {
    usable: all.filter(({ headers }) => headers !== undefined).map(({ tool }) => tool),
    headers: new Map(all.map(({ tool, headers = [] }) => [tool.name, headers])),
  };
}

/** Returns whether the service reports wrong headers or an unsupported version, so that the call is repeated once. */
export function requiresRepeat({ method }: RpcCall, { response }: Outcome): boolean {
  const error = response?.rpcError;
  if (error?.code === HEADER_MISMATCH) return method === 'tools/call';
  return error?.code === UNSUPPORTED_VERSION && requiresModern(error);
}

/** Lists the tools, whose schemas name the headers of their calls, if the service reports wrong headers. */
export async function listHeaders(
  channel: Channel,
  state: CallState,
  { response }: Outcome,
): Promise<Tool[] | undefined> {
  if (response?.rpcError?.code !== HEADER_MISMATCH) return undefined;
  const { tools } = await listAllTools(async (params) => {
    const list = modernMessage({ method: 'tools/list', params }, new Map());
    return decodeToolPage(resultOf(await send(channel, state, { ...list, effect: 'read' }), true));
  });
  return tools;
}

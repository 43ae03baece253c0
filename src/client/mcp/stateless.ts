import { isObject, type JsonObject } from '../../util/json.ts';
import { headerValue, isHeaderName } from '../http/headers.ts';
import { send } from '../kernel.ts';
import { decodeToolPage, listAllTools, resultOf } from '../results.ts';
import { HEADER_MISMATCH, UNSUPPORTED_VERSION, withMeta } from '../rpc/envelope.ts';
import type { CallState, Channel, RpcCall, RpcMessage } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import type { RpcRequest, Tool } from '../types.ts';
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

/** Returns a call as MCP without handshake and session sends it: with its own metadata. */
export function modernMessage(call: RpcCall, toolHeaders: ToolHeaders): RpcMessage {
  const { method, params, tool } = call;
  const isTool = method === 'tools/call' && isObject(params);
  const declared = isTool ? (toolHeaders.get(String(params.name)) ?? (tool && paramHeaders(tool)) ?? []) : [];
  const args = isTool ? params.arguments : undefined;
  return {
    ...call,
    params: modernParams(params, call.input?.capabilities),
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
  return listAllTools(async (params) => {
    const list = modernMessage({ method: 'tools/list', params }, new Map());
    return decodeToolPage(resultOf(await send(channel, state, { ...list, effect: 'read' }), true));
  });
}

const ANNOTATION = 'x-mcp-header';
/** Keywords of a schema that contain data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

interface ParamHeader {
  readonly path: readonly string[];
  /** The part of the header name after `Mcp-Param-`. */
  readonly name: string;
}

/** MCP 2026-07-28, custom headers from tool parameters. @returns undefined if an annotation is invalid */
export function paramHeaders(tool: Tool): readonly ParamHeader[] | undefined {
  const headers = [...annotations(tool.inputSchema ?? {}, [])];
  const names = new Set(headers.map((header) => header?.name.toLowerCase()));
  return names.size === headers.length && !names.has(undefined) ? (headers as ParamHeader[]) : undefined;
}

/** @param path undefined if the schema is not reached through `properties` alone */
function* annotations(schema: unknown, path: Path): Generator<ParamHeader | undefined> {
  if (isObject(schema) && Object.hasOwn(schema, ANNOTATION)) yield annotation(schema, path);
  for (const [each, itsPath] of subschemas(schema, path)) yield* annotations(each, itsPath);
}

type Path = readonly string[] | undefined;

function annotation({ [ANNOTATION]: name, type }: JsonObject, path: Path): ParamHeader | undefined {
  const types = [type].flat().filter((each) => each !== 'null');
  const isScalar = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return path?.length && isHeaderName(name) && isScalar ? { path, name } : undefined;
}

function subschemas(schema: unknown, path: Path): readonly (readonly [unknown, Path])[] {
  if (Array.isArray(schema)) return schema.map((each) => [each, undefined]);
  if (!isObject(schema)) return [];
  const { properties, ...rest } = schema;
  const keywords = Object.entries(rest).filter(([key]) => !DATA.includes(key));
  const others = keywords.map(([, value]) => [value, undefined] as const);
  if (!isObject(properties)) return [[properties, undefined], ...others];
  const members = Object.entries(properties).map(([name, each]) => [each, path && [...path, name]] as const);
  return [...members, ...others];
}

/** Returns the headers for the arguments of a call. Null and missing arguments have no header. */
export function headersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<unknown>(
      (parent, key) => (isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
      args,
    );
    const isNumber = Number.isInteger(value);
    if (isNumber || typeof value === 'string' || typeof value === 'boolean') {
      fields[`Mcp-Param-${name}`] = headerValue(String(isNumber ? BigInt(value as number) : value));
    }
  }
  return fields;
}

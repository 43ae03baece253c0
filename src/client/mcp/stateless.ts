import { isObject, type JsonObject } from '../../util/object.ts';
import { headerValue, isHeaderName } from '../http/headers.ts';
import { decodeToolPage, listAllTools, resultOf } from '../results.ts';
import type { CallState, Channel, RpcCall } from '../rpc/channel.ts';
import { type RpcError, withMeta } from '../rpc/envelope.ts';
import type { RpcResponse } from '../rpc/reply.ts';
import type { RpcRequest, Tool } from '../types.ts';
import {
  CLIENT_INFO,
  HEADER_MISMATCH,
  INVALID_PARAMS,
  META_PREFIX,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
} from './protocol.ts';

/** Adds the metadata of MCP 2026-07-28 to the parameters of a request. */
export function modernParams(params: RpcRequest['params']): RpcRequest['params'] {
  return withMeta(params, {
    [`${META_PREFIX}protocolVersion`]: MODERN_VERSION,
    [`${META_PREFIX}clientCapabilities`]: {},
    [`${META_PREFIX}clientInfo`]: CLIENT_INFO,
  });
}

/** Returns the headers that repeat the message for intermediaries that read only headers. */
export function modernHeaders(method: string, params: RpcRequest['params']): Record<string, string> {
  const { name, uri }: JsonObject = isObject(params) ? params : {};
  const subject =
    method === 'tools/call' || method === 'prompts/get'
      ? name
      : method === 'resources/read'
        ? uri
        : undefined;
  return {
    'MCP-Protocol-Version': MODERN_VERSION,
    'Mcp-Method': headerValue(method),
    ...(typeof subject === 'string' ? { 'Mcp-Name': headerValue(subject) } : {}),
  };
}

/** Creates a client for MCP without handshake and session: every request carries its own metadata. */
export function statelessClient(channel: Channel, warn: (text: string) => void) {
  let headersByTool: ReadonlyMap<string, readonly ParamHeader[]> = new Map();

  async function send(state: CallState, call: RpcCall & { policy?: 'read' }): Promise<RpcResponse> {
    const { method, params } = call;
    const response = await channel.request(state, {
      ...call,
      params: modernParams(params),
      wantsProgress: true,
      headers: { ...modernHeaders(method, params), ...toolHeaders(call), ...call.headers },
    });
    return { typed: true, ...response };
  }

  function toolHeaders({ method, params, tool }: RpcCall): Record<string, string> {
    if (method !== 'tools/call' || !isObject(params)) return {};
    const declared = headersByTool.get(String(params.name)) ?? (tool && paramHeaders(tool)) ?? [];
    return headersOf(declared, params.arguments);
  }

  /** Returns the tools that may be used, and stores the headers that their calls need. */
  function filterUsable(tools: readonly Tool[]): Tool[] {
    const found = tools.map((tool) => ({ tool, headers: paramHeaders(tool) }));
    headersByTool = new Map(found.map(({ tool, headers = [] }) => [tool.name, headers]));
    for (const { tool, headers } of found) {
      if (headers === undefined) {
        warn(`the tool ${tool.name.slice(0, 60)} is left out: its schema has an invalid ${ANNOTATION}`);
      }
    }
    return found.filter(({ headers }) => headers !== undefined).map(({ tool }) => tool);
  }

  return {
    filterUsable,
    /** Makes a call, and repeats it once if the service reports wrong headers or an unsupported version. */
    async call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      const response = await send(state, call);
      const { rpcError: error } = response;
      if (error?.code === HEADER_MISMATCH && call.method === 'tools/call') {
        // The schemas of the tools name the headers of their calls.
        const tools = await listAllTools(async (params) =>
          decodeToolPage(resultOf(await send(state, { method: 'tools/list', params, policy: 'read' }))),
        );
        filterUsable(tools);
      } else if (error?.code !== UNSUPPORTED_VERSION || !demandsModern(error)) return response;
      return send(state, call);
    },
  };
}

/** Returns whether only a service of MCP 2026-07-28 sends this error. */
export function demandsModern({ code, data }: RpcError): boolean {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return true;
  if (!isObject(data)) return false;
  if (code === INVALID_PARAMS) return 'envelope' in data;
  return (
    code === UNSUPPORTED_VERSION && Array.isArray(data.supported) && data.supported.includes(MODERN_VERSION)
  );
}

const ANNOTATION = 'x-mcp-header';
/** Keywords of a schema that contain data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

/** A tool parameter that is also sent as a header. */
interface ParamHeader {
  /** Keys that lead to the parameter. */
  readonly path: readonly string[];
  /** The part of the header name after `Mcp-Param-`. */
  readonly name: string;
}

/**
 * Returns the parameters that a tool requires as headers (MCP 2026-07-28, custom headers from tool parameters).
 * @returns undefined if an annotation is invalid, so that the tool must not be used
 */
export function paramHeaders(tool: Tool): readonly ParamHeader[] | undefined {
  const headers = [...annotations(tool.inputSchema ?? {}, [])];
  const names = new Set(headers.map((header) => header?.name.toLowerCase()));
  return names.size === headers.length && !names.has(undefined) ? (headers as ParamHeader[]) : undefined;
}

/**
 * Finds the annotations in a schema; yields undefined for an invalid one.
 * @param path undefined if the schema is not reached through `properties` alone
 */
function* annotations(
  schema: unknown,
  path: readonly string[] | undefined,
): Generator<ParamHeader | undefined> {
  if (Array.isArray(schema)) for (const each of schema) yield* annotations(each, undefined);
  if (!isObject(schema)) return;
  if (Object.hasOwn(schema, ANNOTATION)) {
    const { [ANNOTATION]: name, type } = schema;
    const [only, ...others] = [type].flat().filter((each) => each !== 'null');
    const isScalar = ['string', 'integer', 'boolean'].includes(String(only)) && others.length === 0;
    yield path?.length && isHeaderName(name) && isScalar ? { path, name } : undefined;
  }
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, each] of Object.entries(value)) yield* annotations(each, path && [...path, name]);
    } else if (!DATA.includes(key)) yield* annotations(value, undefined);
  }
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

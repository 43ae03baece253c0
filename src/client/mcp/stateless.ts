import { headerValue } from '../http/headers.ts';
import { listAllTools } from '../results.ts';
import type { CallState, Channel, RpcCall } from '../rpc/channel.ts';
import { isObject, type JsonObject, type RpcError, withMeta } from '../rpc/envelope.ts';
import { rpcError } from '../rpc/errors.ts';
import { type RpcResponse, rpcErrorOf } from '../rpc/reply.ts';
import type { RpcRequest, Tool } from '../types.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  META_PREFIX,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
} from './protocol.ts';

/** Name and version of a client, as MCP sends them. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Returns this program as a client. */
export function clientInfo(version: string): ClientInfo {
  return { name: 'restaurant-data-cli', version };
}

/** Adds the metadata of MCP 2026-07-28 to the parameters of a request. */
export function modernParams(params: RpcRequest['params'], client: ClientInfo): RpcRequest['params'] {
  return withMeta(params, {
    [`${META_PREFIX}protocolVersion`]: MODERN_VERSION,
    [`${META_PREFIX}clientCapabilities`]: {},
    [`${META_PREFIX}clientInfo`]: client,
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

/** MCP without handshake and session: every request carries its own metadata. */
export function statelessClient(channel: Channel, client: ClientInfo, warn: (text: string) => void) {
  let headersByTool: ReadonlyMap<string, readonly ParamHeader[]> | undefined;

  async function send(state: CallState, call: RpcCall & { policy?: 'read' }): Promise<RpcResponse> {
    const { method, params } = call;
    const response = await channel.request(state, {
      ...call,
      params: modernParams(params, client),
      wantsProgress: call.onMessage !== undefined,
      headers: { ...modernHeaders(method, params), ...toolHeaders(call), ...call.headers },
    });
    return { typed: true, ...response };
  }

  function toolHeaders({ method, params, tool }: RpcCall): Record<string, string> {
    if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return {};
    const declared = headersByTool?.get(params.name) ?? (tool === undefined ? [] : paramHeaders(tool));
    return 'problem' in declared ? {} : headersOf(declared, params.arguments);
  }

  /** Returns the tools that may be used, and remembers the headers that their calls need. */
  function filterUsable(tools: readonly Tool[]): Tool[] {
    const headers = new Map<string, readonly ParamHeader[]>();
    const usable = tools.filter((tool) => {
      const found = paramHeaders(tool);
      if ('problem' in found) {
        warn(`the tool ${tool.name.slice(0, 60)} is left out: ${found.problem}`);
        return false;
      }
      headers.set(tool.name, found);
      return true;
    });
    headersByTool = headers;
    return usable;
  }

  /** Reads the tools, whose schemas name the headers of their calls. */
  async function loadTools(state: CallState): Promise<void> {
    const tools = await listAllTools(async (params) => {
      const { reply, error } = await send(state, { method: 'tools/list', params, policy: 'read' });
      if (reply !== undefined && 'result' in reply) return reply.result;
      throw error ?? rpcError(reply?.error ?? { message: 'no list of tools' });
    });
    filterUsable(tools);
  }

  return {
    filterUsable,
    /** Makes a call; repeats it once after an error that it can prevent. */
    async call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      const response = await send(state, call);
      const error = rpcErrorOf(response);
      if (error?.code === HEADER_MISMATCH && call.method === 'tools/call') await loadTools(state);
      else if (error?.code !== UNSUPPORTED_VERSION || !demandsModern(error)) return response;
      return send(state, call);
    },
  };
}

/** Whether only a service of MCP 2026-07-28 sends this error. */
export function demandsModern({ code, data }: RpcError): boolean {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return true;
  if (!isObject(data)) return false;
  if (code === INVALID_PARAMS) return 'envelope' in data;
  return (
    code === UNSUPPORTED_VERSION && Array.isArray(data.supported) && data.supported.includes(MODERN_VERSION)
  );
}

const ANNOTATION = 'x-mcp-header';
/** Members of a schema that hold data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

/** A tool parameter that is also sent as a header. */
interface ParamHeader {
  /** Keys that lead to the parameter. */
  readonly path: readonly string[];
  /** The part of the header name after `Mcp-Param-`. */
  readonly name: string;
}

/**
 * Returns the parameters that a tool wants as headers (MCP 2026-07-28, custom headers from tool parameters).
 * @returns `problem` with the reason if the tool must not be used
 */
export function paramHeaders(tool: Tool): readonly ParamHeader[] | { readonly problem: string } {
  const found = [...annotatedSchemas(tool.inputSchema ?? {}, [], true)];
  const problem = found.map(annotationProblem).find((each) => each !== undefined);
  if (problem !== undefined) return { problem };
  const headers = found.map(({ path, schema }) => ({ path, name: String(schema[ANNOTATION]) }));
  const names = new Set(headers.map(({ name }) => name.toLowerCase()));
  return names.size === headers.length ? headers : { problem: `two parameters have the same ${ANNOTATION}` };
}

/** Returns the headers for the arguments of a call. Null and absent arguments have none. */
export function headersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<unknown>(
      (parent, key) => (isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
      args,
    );
    if (typeof value === 'string') fields[`Mcp-Param-${name}`] = headerValue(value);
    else if (typeof value === 'boolean') fields[`Mcp-Param-${name}`] = String(value);
    else if (Number.isInteger(value)) fields[`Mcp-Param-${name}`] = String(BigInt(value as number));
  }
  return fields;
}

interface AnnotatedSchema {
  readonly schema: JsonObject;
  readonly path: readonly string[];
  /** Whether only `properties` lead from the root to it. */
  readonly isReachable: boolean;
}

/** Finds the annotated schemas within a schema. */
function* annotatedSchemas(
  schema: unknown,
  path: readonly string[],
  isReachable: boolean,
): Generator<AnnotatedSchema> {
  if (Array.isArray(schema)) for (const each of schema) yield* annotatedSchemas(each, path, false);
  if (!isObject(schema)) return;
  if (Object.hasOwn(schema, ANNOTATION)) yield { schema, path, isReachable };
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        yield* annotatedSchemas(each, [...path, name], isReachable);
      }
    } else if (!DATA.includes(key)) yield* annotatedSchemas(value, path, false);
  }
}

function annotationProblem({ schema, path, isReachable }: AnnotatedSchema): string | undefined {
  const name = schema[ANNOTATION];
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${ANNOTATION} is not a header name`;
  }
  if (!isReachable || path.length === 0) {
    return `${ANNOTATION} is not on a parameter reached through "properties" alone`;
  }
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const fits = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return fits ? undefined : `${ANNOTATION} is on a parameter that is not a string, integer or boolean`;
}

import { AppError } from '../../errors.ts';
import { excerpt, kindOf } from '../../util/excerpt.ts';
import { headerValue } from '../http/headers.ts';
import { listAllTools } from '../results.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { isObject, type JsonObject, type RpcError, request, withMeta } from '../rpc/envelope.ts';
import { rpcError } from '../rpc/errors.ts';
import type { RpcRequest, Tool } from '../types.ts';
import { modernVersion, type ProtocolClient, type RpcCall, rpcErrorOf } from './detect.ts';
import { HEADER_MISMATCH, META_PREFIX, UNSUPPORTED_VERSION } from './protocol.ts';

/** Name and version of a client, as MCP sends them. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Returns this program as a client. */
export function clientInfo(version: string): ClientInfo {
  return { name: 'restaurant-data-cli', version };
}

/** Makes a request of MCP 2026-07-28, with metadata in its parameters. */
export function modernRequest(
  id: number,
  method: string,
  params: RpcRequest['params'],
  version: string,
  client: ClientInfo,
): RpcRequest {
  const meta = {
    [`${META_PREFIX}protocolVersion`]: version,
    [`${META_PREFIX}clientCapabilities`]: {},
    [`${META_PREFIX}clientInfo`]: client,
  };
  return request(id, method, withMeta(params, meta));
}

/** Returns the headers that repeat the message for intermediaries that read only headers. */
export function modernHeaders(
  method: string,
  params: RpcRequest['params'],
  version: string,
): Record<string, string> {
  const name = Array.isArray(params) ? undefined : nameIn(method, params ?? {});
  return {
    'MCP-Protocol-Version': version,
    'Mcp-Method': headerValue(method),
    ...(typeof name === 'string' ? { 'Mcp-Name': headerValue(name) } : {}),
  };
}

function nameIn(method: string, params: JsonObject): unknown {
  if (method === 'tools/call' || method === 'prompts/get') return params.name;
  return method === 'resources/read' ? params.uri : undefined;
}

/**
 * Checks that a result is complete.
 * @param isTyped the protocol has `resultType`
 * @throws {AppError} `tool_error` when the tool asks for input first; `bad_response` for an unknown `resultType`
 */
export function assertComplete(result: unknown, isTyped: boolean): void {
  const type = isObject(result) ? result.resultType : undefined;
  if (type === 'input_required' && isObject(result)) {
    const message = `the tool asks for input, which this command cannot give: ${inputQuestions(result)}`;
    throw new AppError('tool_error', message, {
      hint: 'use an MCP client that can answer: restaurant mcp config <client>',
    });
  }
  if (!isTyped || type === undefined || type === 'complete') return;
  const shown = typeof type === 'string' ? `"${excerpt(type, 60)}"` : kindOf(type);
  throw new AppError('bad_response', `the result has the unknown type ${shown}`);
}

/** Lists the input that a result asks for. */
function inputQuestions(result: JsonObject): string {
  const requests = isObject(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const parts = requests.map(([key, value]) => {
    const { method, params } = isObject(value) ? value : { method: undefined, params: undefined };
    const message = isObject(params) && typeof params.message === 'string' ? ` "${params.message}"` : '';
    return `${key}${typeof method === 'string' ? ` (${method})` : ''}${message}`;
  });
  return excerpt(parts.length === 0 ? 'without saying which' : parts.join(', '));
}

export interface StatelessClient extends ProtocolClient {
  /** Returns the tools that may be used, and remembers the headers that their calls need. */
  filterUsable(tools: readonly Tool[]): Tool[];
}

/** MCP without handshake and session: every request carries its own metadata. */
export function statelessClient(
  channel: Channel,
  clientInfo: ClientInfo,
  version: string,
  warn: (text: string) => void,
): StatelessClient {
  let headersByTool: ReadonlyMap<string, readonly ParamHeader[]> | undefined;

  async function send(state: CallState, call: RpcCall): Promise<RpcResponse> {
    const { method, params, headers = {}, onMessage } = call;
    const response = await channel.request(state, {
      build: (id) => {
        const meta = onMessage === undefined ? {} : { progressToken: id };
        return { ...modernRequest(id, method, withMeta(params, meta), version, clientInfo) };
      },
      headers: { ...modernHeaders(method, params, version), ...toolHeaders(call), ...headers },
      ...(onMessage === undefined ? {} : { onMessage }),
    });
    return { ...response, typed: true };
  }

  function toolHeaders({ method, params, tool }: RpcCall): Record<string, string> {
    if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return {};
    const declared = headersByTool?.get(params.name) ?? (tool === undefined ? [] : paramHeaders(tool));
    return Array.isArray(declared) ? headersOf(declared, params.arguments) : {};
  }

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
    const read: CallState = { ...state, policy: 'read' };
    const tools = await listAllTools(async (params) => {
      const { reply, error } = await send(read, { method: 'tools/list', params });
      if (reply === undefined || 'error' in reply) {
        throw error ?? rpcError(reply?.error ?? { message: 'no list of tools' });
      }
      return reply.result;
    });
    state.deadline = read.deadline;
    filterUsable(tools);
  }

  /** Handles a recoverable error; returns whether to retry. */
  async function recover(state: CallState, { method }: RpcCall, error: RpcError): Promise<boolean> {
    if (error.code === UNSUPPORTED_VERSION) return modernVersion(error) === version;
    if (error.code !== HEADER_MISMATCH || method !== 'tools/call') return false;
    await loadTools(state);
    return true;
  }

  return {
    filterUsable,
    async call(state, call) {
      const response = await send(state, call);
      const error = rpcErrorOf(response);
      return error !== undefined && (await recover(state, call, error)) ? send(state, call) : response;
    },
  };
}

const ANNOTATION = 'x-mcp-header';
/** Members of a schema that hold data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

/** A tool parameter that is also sent as a header. */
export interface ParamHeader {
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
  const headers: ParamHeader[] = [];
  const problem = collect(tool.inputSchema ?? {}, [], true, headers);
  if (problem !== undefined) return { problem };
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
    const text = format(value);
    if (text !== undefined) fields[`Mcp-Param-${name}`] = headerValue(text);
  }
  return fields;
}

function format(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : undefined;
}

/**
 * Collects the annotations in a schema; returns the first problem.
 * @param isReachable nothing but `properties` leads here
 */
function collect(
  schema: unknown,
  path: readonly string[],
  isReachable: boolean,
  found: ParamHeader[],
): string | undefined {
  if (Array.isArray(schema)) return firstProblem(schema, (each) => collect(each, path, false, found));
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, ANNOTATION)) {
    const problem = annotationProblem(schema, isReachable && path.length > 0);
    if (problem !== undefined) return problem;
    found.push({ path, name: String(schema[ANNOTATION]) });
  }
  return firstProblem(Object.entries(schema), ([key, value]) => {
    if (DATA.includes(key)) return undefined;
    if (key !== 'properties' || !isObject(value)) return collect(value, path, false, found);
    return firstProblem(Object.entries(value), ([name, each]) =>
      collect(each, [...path, name], isReachable, found),
    );
  });
}

function annotationProblem(schema: JsonObject, isReachable: boolean): string | undefined {
  const name = schema[ANNOTATION];
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${ANNOTATION} is not a header name`;
  }
  if (!isReachable) return `${ANNOTATION} is not on a parameter reached through "properties" alone`;
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const fits = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return fits ? undefined : `${ANNOTATION} is on a parameter that is not a string, integer or boolean`;
}

function firstProblem<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

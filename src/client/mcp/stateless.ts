import { AppError } from '../../errors.ts';
import { excerpt, kindOf } from '../../util/excerpt.ts';
import { headerValue } from '../http/headers.ts';
import { listAllTools } from '../results.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { isObject, type JsonObject, type RpcError, request, withProgress } from '../rpc/envelope.ts';
import { rpcError } from '../rpc/errors.ts';
import type { RpcRequest, Tool } from '../types.ts';
import { modernVersion, type ProtocolClient, type RpcCall, rpcErrorOf } from './detect.ts';
import { HEADER_MISMATCH, META_PREFIX, UNSUPPORTED_VERSION } from './protocol.ts';

/** Who calls, as MCP wants to know it. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** This program as a client. */
export function clientInfo(version: string): ClientInfo {
  return { name: 'restaurant-data-cli', version };
}

/** A request of the modern era: metadata in its parameters. */
export function modernRequest(
  id: number,
  method: string,
  params: RpcRequest['params'],
  version: string,
  client: ClientInfo,
): RpcRequest {
  // Parameters by position have no place for metadata.
  if (Array.isArray(params)) return request(id, method, params);
  const given = isObject(params?._meta) ? params._meta : {};
  const meta = {
    ...given,
    [`${META_PREFIX}protocolVersion`]: version,
    [`${META_PREFIX}clientCapabilities`]: {},
    [`${META_PREFIX}clientInfo`]: client,
  };
  return request(id, method, { ...params, _meta: meta });
}

/** The header fields that repeat what the message says, for those who only read headers. */
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
 * Checks that a result is a whole one.
 * @throws {AppError} `tool_error` when the service wants input first; `bad_response` for an unknown `resultType`
 */
export function assertComplete(result: unknown): void {
  const type = isObject(result) ? result.resultType : undefined;
  if (type === undefined || type === 'complete') return;
  if (type === 'input_required' && isObject(result)) {
    throw new AppError(
      'tool_error',
      `the service asks for input first, which is not supported: ${asked(result)}`,
      {
        hint: 'use an MCP client that can answer: restaurant mcp config <client>',
      },
    );
  }
  const shown = typeof type === 'string' ? `"${excerpt(type, 60)}"` : kindOf(type);
  throw new AppError('bad_response', `the result is of the unknown type ${shown}`);
}

/** What a result asks for, in words. */
function asked(result: JsonObject): string {
  const requests = isObject(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const parts = requests.map(([key, value]) => {
    const { method, params } = isObject(value) ? value : { method: undefined, params: undefined };
    const message = isObject(params) && typeof params.message === 'string' ? ` "${params.message}"` : '';
    return `${key}${typeof method === 'string' ? ` (${method})` : ''}${message}`;
  });
  return excerpt(parts.length === 0 ? 'something it does not name' : parts.join(', '));
}

export interface StatelessClient extends ProtocolClient {
  /** Keeps the tools that may be used, and what their calls need. */
  filterUsable(tools: readonly Tool[]): Tool[];
}

/** Speaks MCP without handshake: every request says all about itself. */
export function statelessClient(
  channel: Channel,
  clientInfo: ClientInfo,
  version: string,
  warn: (text: string) => void,
): StatelessClient {
  let known: ReadonlyMap<string, readonly ParamHeader[]> | undefined;

  function send(call: CallState, wanted: RpcCall): Promise<RpcResponse> {
    const { method, params, headers = {}, onMessage } = wanted;
    return channel.request(call, {
      build: (id) => ({
        ...modernRequest(id, method, withProgress(params, id, onMessage), version, clientInfo),
      }),
      headers: { ...modernHeaders(method, params, version), ...toolHeaders(wanted), ...headers },
      ...(onMessage === undefined ? {} : { onMessage: onMessage }),
    });
  }

  function toolHeaders({ method, params, tool }: RpcCall): Record<string, string> {
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

  async function learnTools(call: CallState): Promise<void> {
    const read: CallState = { ...call, policy: 'read' };
    const tools = await listAllTools(async (params) => {
      const { reply, error } = await send(read, { method: 'tools/list', params });
      if (reply === undefined || 'error' in reply) {
        throw error ?? rpcError(reply?.error ?? { message: 'no list of tools' });
      }
      return reply.result;
    });
    call.deadline = read.deadline;
    screen(tools);
  }

  /** Gives what a refusal asks for. Whether the call is worth making again. */
  async function recover(call: CallState, { method }: RpcCall, error: RpcError): Promise<boolean> {
    if (error.code === UNSUPPORTED_VERSION) return modernVersion(error) === version;
    if (error.code !== HEADER_MISMATCH || method !== 'tools/call') return false;
    // The tool wants headers that only its schema tells.
    await learnTools(call);
    return true;
  }

  return {
    filterUsable: screen,
    async call(call, wanted) {
      const answer: RpcResponse = { ...(await send(call, wanted)), typed: true };
      const error = rpcErrorOf(answer);
      if (error === undefined || !(await recover(call, wanted, error))) return answer;
      return { ...(await send(call, wanted)), typed: true };
    },
    close: async () => {},
  };
}

function declaredHeaders(tool: Tool | undefined): readonly ParamHeader[] {
  const found = tool === undefined ? { headers: [] } : paramHeaders(tool);
  return 'headers' in found ? found.headers : [];
}

const ANNOTATION = 'x-mcp-header';
/** Members of a schema that hold data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

/** A tool parameter that also travels as a header. */
export interface ParamHeader {
  /** Keys that lead to the parameter. */
  readonly path: readonly string[];
  /** What follows `Mcp-Param-`. */
  readonly name: string;
}

/**
 * The parameters that a tool wants as headers (MCP 2026-07-28, custom headers from tool parameters).
 * @returns them, or `bad` with the reason for which the tool must not be used
 */
export function paramHeaders(tool: Tool): { headers: ParamHeader[] } | { bad: string } {
  const headers: ParamHeader[] = [];
  const bad = collect(tool.inputSchema ?? {}, [], true, headers);
  if (bad !== undefined) return { bad };
  const names = new Set(headers.map(({ name }) => name.toLowerCase()));
  return names.size === headers.length ? { headers } : { bad: `two parameters have the same ${ANNOTATION}` };
}

/** The header fields for the arguments of a call. Null and absent arguments have none. */
export function headersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      args,
    );
    const text = written(value);
    if (text !== undefined) fields[`Mcp-Param-${name}`] = headerValue(text);
  }
  return fields;
}

function written(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : undefined;
}

/** Gathers annotations below a schema. `reachable`: nothing but `properties` leads here. */
function collect(
  schema: unknown,
  path: readonly string[],
  reachable: boolean,
  found: ParamHeader[],
): string | undefined {
  if (Array.isArray(schema)) return firstBad(schema, (each) => collect(each, path, false, found));
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, ANNOTATION)) {
    const bad = annotationFault(schema, reachable && path.length > 0);
    if (bad !== undefined) return bad;
    found.push({ path, name: String(schema[ANNOTATION]) });
  }
  return firstBad(Object.entries(schema), ([key, value]) => {
    if (DATA.includes(key)) return undefined;
    if (key !== 'properties' || !isObject(value)) return collect(value, path, false, found);
    return firstBad(Object.entries(value), ([name, each]) =>
      collect(each, [...path, name], reachable, found),
    );
  });
}

function annotationFault(schema: JsonObject, reachable: boolean): string | undefined {
  const name = schema[ANNOTATION];
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${ANNOTATION} is no header name`;
  }
  if (!reachable) return `${ANNOTATION} is not at a parameter that "properties" alone lead to`;
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const fits = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return fits ? undefined : `${ANNOTATION} is at a parameter that is no string, integer or boolean`;
}

function firstBad<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const bad = check(item);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

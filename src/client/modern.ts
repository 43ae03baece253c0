import { AppError } from '../errors.ts';
import { excerpt, kindOf } from './excerpt.ts';
import { headerValue } from './header-value.ts';
import { isObject, type JsonObject, request } from './rpc.ts';
import type { RpcRequest } from './types.ts';

/** Revisions of MCP without handshake and session, the newest first. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];

const META = 'io.modelcontextprotocol/';

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
    [`${META}protocolVersion`]: version,
    [`${META}clientCapabilities`]: {},
    [`${META}clientInfo`]: client,
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

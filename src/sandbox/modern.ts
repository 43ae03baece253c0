import { checkMirroredHeaders } from './mirrored.ts';
import { progressMessages } from './progress.ts';
import { type Post, respond } from './protocol.ts';
import type { Answer } from './reply.ts';
import {
  INVALID_PARAMS,
  invalidRequest,
  isObject,
  METHOD_NOT_FOUND,
  RpcError,
  type RpcObject,
} from './rpc.ts';
import type { McpTools } from './tool-list.ts';
import { INSTRUCTIONS, MODERN_VERSION, SERVER_INFO, UNSUPPORTED_VERSION } from './versions.ts';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION_KEY = `${PREFIX}protocolVersion`;
const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
const CLIENT_KEY = `${PREFIX}clientInfo`;

/** How long the list of tools, and what is discovered, stay true: the sandbox never changes. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };
const META = { [`${PREFIX}serverInfo`]: SERVER_INFO };

/**
 * MCP without a handshake (2026-07-28): each request brings its metadata, and headers that mirror its body. `supported`
 * is what callers are told of the revisions spoken.
 */
export function createModern(tools: McpTools, supported: readonly string[]): (post: Post) => Answer {
  const discovery = {
    supportedVersions: supported,
    capabilities: { tools: {} },
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
    ...CACHING,
  };
  return ({ incoming, access, headers }) => {
    if (incoming.kind === 'response') throw invalidRequest('the server asks nothing');
    if (incoming.kind === 'notification') return { status: 202 };
    const { id, method, params } = incoming;
    const meta = readMeta(params);
    checkMirroredHeaders({ method, params, version: meta[VERSION_KEY], headers });
    if (meta[VERSION_KEY] !== MODERN_VERSION) throw unsupportedVersion(meta[VERSION_KEY], supported);
    const message = respond(id, () => ({ resultType: 'complete', ...run(method), _meta: META }));
    return { status: 200, message, before: progressMessages(params).map((data) => ({ data })) };

    function run(name: string): RpcObject {
      if (name === 'server/discover') return discovery;
      if (name === 'tools/list') return { ...tools.list(params), ...CACHING };
      if (name === 'tools/call') return { ...tools.call(params, access.paid) };
      throw new RpcError(METHOD_NOT_FOUND, 'Method not found', undefined, 404);
    }
  };
}

/** The revision that a request's metadata names, if it has any. */
export function metaVersion(params: unknown): unknown {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta[VERSION_KEY] : undefined;
}

/** -32022 with the revisions that would do. */
export function unsupportedVersion(requested: unknown, supported: readonly string[]): RpcError {
  const data = { supported, requested: typeof requested === 'string' ? requested.slice(0, 100) : null };
  return new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', data, 400);
}

/** @throws {RpcError} -32602 with `data.envelope` naming what is missing or wrong. */
function readMeta(params: unknown): RpcObject {
  const value = isObject(params) ? params._meta : undefined;
  const meta = isObject(value) ? value : {};
  const wrong: string[] = [];
  if (typeof meta[VERSION_KEY] !== 'string') wrong.push(VERSION_KEY);
  if (!isObject(meta[CAPABILITIES_KEY])) wrong.push(CAPABILITIES_KEY);
  if (meta[CLIENT_KEY] !== undefined && !isImplementation(meta[CLIENT_KEY])) wrong.push(CLIENT_KEY);
  if (wrong.length === 0) return meta;
  const message = `invalid params: params._meta lacks ${wrong.join(', ')}`;
  throw new RpcError(INVALID_PARAMS, message, { envelope: wrong }, 400);
}

function isImplementation(value: unknown): boolean {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';
}

import {
  HEADER_MISMATCH,
  type Headers,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type Post,
  progressMessages,
  respond,
  SERVER,
  UNSUPPORTED_VERSION,
} from './protocol.ts';
import type { Answer } from './reply.ts';
import { EXTRA_CAPABILITIES } from './resources.ts';
import { INVALID_PARAMS, invalidRequest, isObject, RpcError, type RpcObject } from './rpc.ts';
import { type McpTools, TOOLS } from './tools.ts';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION_KEY = `${PREFIX}protocolVersion`;
const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
const CLIENT_KEY = `${PREFIX}clientInfo`;

/** How long clients may cache what never changes. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };
const UNCACHED = ['tools/call', 'prompts/get', 'completion/complete'];
const VERSIONS = [MODERN_VERSION, ...LEGACY_VERSIONS];
const META = { [`${PREFIX}serverInfo`]: SERVER.serverInfo };
const DISCOVERY = {
  supportedVersions: VERSIONS,
  capabilities: { tools: {}, ...EXTRA_CAPABILITIES },
  ...SERVER,
};

/** Methods whose `Mcp-Name` header repeats a field of the params. */
const NAME_FIELDS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * MCP without a handshake (2026-07-28): each request has its own metadata, and headers that repeat parts of its body.
 */
export function createModern(tools: McpTools): (post: Post) => Answer {
  return ({ incoming: { id, method, params }, access, headers }) => {
    if (method === undefined) throw invalidRequest('the server sent no request');
    if (id === undefined) return { status: 202 };
    const meta = readMeta(params);
    checkHeaders(headers, method, isObject(params) ? params : {}, meta[VERSION_KEY]);
    if (meta[VERSION_KEY] !== MODERN_VERSION) throw unsupportedVersion(meta[VERSION_KEY]);
    const run = () =>
      method === 'server/discover' ? DISCOVERY : tools.run(method, params, access.paid, 404);
    const caching = UNCACHED.includes(method) ? {} : CACHING;
    const answer = respond(id, () => ({ resultType: 'complete', ...run(), ...caching, _meta: META }));
    return { ...answer, events: progressMessages(params).map((data) => ({ data })) };
  };
}

/** Returns the protocol version in the metadata of a request. */
export function metaVersion(params: unknown): unknown {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta[VERSION_KEY] : undefined;
}

/** -32022 with the supported versions. */
function unsupportedVersion(requested: unknown): RpcError {
  const data = {
    supported: VERSIONS,
    requested: typeof requested === 'string' ? requested.slice(0, 100) : null,
  };
  return new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', data, 400);
}

/** @throws {RpcError} -32602 with `data.envelope` listing the keys that are missing or wrong. */
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

/**
 * Checks that the headers of a request match its body. Arguments whose schema has `x-mcp-header` are repeated in a header,
 * unless they are null or absent.
 * @throws {RpcError} -32020 naming the header.
 */
function checkHeaders(headers: Headers, method: string, params: RpcObject, version: unknown): void {
  checkHeader(headers, 'MCP-Protocol-Version', version);
  checkHeader(headers, 'Mcp-Method', method);
  const nameField = NAME_FIELDS[method];
  if (nameField !== undefined) checkHeader(headers, 'Mcp-Name', params[nameField]);
  if (method !== 'tools/call') return;
  const schema = TOOLS.find(({ name }) => name === params.name)?.inputSchema;
  const properties = isObject(schema?.properties) ? schema.properties : {};
  for (const [argument, property] of Object.entries(properties)) {
    const header = isObject(property) ? property['x-mcp-header'] : undefined;
    if (typeof header !== 'string') continue;
    const value = isObject(params.arguments) ? params.arguments[argument] : undefined;
    checkHeader(headers, `Mcp-Param-${header}`, value ?? undefined);
  }
}

/** Compares a header: plain, or `=?base64?<UTF-8 in base64>?=`. */
function checkHeader(headers: Headers, name: string, expected: unknown): void {
  const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
  const sent = headers[name.toLowerCase()];
  const encoded = BASE64.exec(sent ?? '')?.[1];
  const value = encoded === undefined ? sent : Buffer.from(encoded, 'base64').toString('utf8');
  if (value === (expected === undefined ? undefined : String(expected))) return;
  const problem = sent === undefined ? 'is missing' : 'does not match the body';
  throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${name} ${problem}`, { header: name, problem }, 400);
}

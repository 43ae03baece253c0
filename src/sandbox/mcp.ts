import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject } from '../util/json.ts';
import {
  badArgument,
  type Headers,
  httpError,
  INVALID_PARAMS,
  invalidRequest,
  JSON_TYPE,
  METHOD_NOT_FOUND,
  type Post,
  type RpcId,
  resultMessage,
  rpcError,
  type SandboxAnswer,
  type SandboxProtocol,
  SSE_TYPE,
} from './messages.ts';
import type { Catalog } from './restaurants.ts';
import { callTool, TOOLS } from './tools.ts';
import type { Access } from './types.ts';

const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
const MODERN_VERSION = '2026-07-28';
const VERSIONS = [MODERN_VERSION, ...LEGACY_VERSIONS];

const SERVER_INFO = { name: 'restaurant-sandbox', title: 'Restaurant sandbox', version: '1.0.0' };
const SERVER = {
  capabilities: { tools: {} },
  instructions:
    'Fictional sample data. find_restaurant searches by name and city; lookup_restaurant takes a service_id from it.',
};

const SERVER_ERROR = -32000;
const SESSION_NOT_FOUND = -32001;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

const PROGRESS_STEPS = ['searching', 'writing'];

interface SandboxSession {
  readonly id: string;
  readonly account: string;
  ready: boolean;
}

const MAX_SESSIONS = 1000;

/** An MCP server with tools alone, at one endpoint. The protocol version is detected from each request. */
export class McpServer implements SandboxProtocol {
  readonly methods = ['POST', 'DELETE'];
  readonly #catalog: Catalog;
  readonly #sessions = new Map<string, SandboxSession>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  post(post: Post): SandboxAnswer {
    checkAccept(post.headers);
    return isModern(post) ? this.#answerModern(post) : this.#answerLegacy(post);
  }

  endSession(headers: Headers, { account }: Access): SandboxAnswer {
    if (headers['mcp-session-id'] === undefined)
      throw httpError(405, 'method_not_allowed', 'use POST', { Allow: 'POST' });
    this.#sessions.delete(this.#sessionOf(headers, account).id);
    return { status: 200 };
  }

  /** Handles MCP with a handshake and sessions (2025-03-26 to 2025-11-25). */
  #answerLegacy(post: Post): SandboxAnswer {
    const { incoming, access, headers } = post;
    const { id, method, params } = incoming;
    if (id !== undefined && method === 'initialize') return this.#initialize(id, params, access.account);
    const session = this.#sessionOf(headers, access.account);
    if (id === undefined || method === undefined) {
      session.ready ||= method === 'notifications/initialized';
      return { status: 202 };
    }
    if (method === 'ping') return { status: 200, message: resultMessage(id, {}) };
    if (!session.ready) {
      throw badRequest('Server not initialized: notifications/initialized was not received');
    }
    const message = resultMessage(id, this.#run(post, 200));
    return { status: 200, message, events: progressMessages(params) };
  }

  /** Handles MCP without a handshake (2026-07-28): headers repeat parts of the body of a request. */
  #answerModern(post: Post): SandboxAnswer {
    const { id, method, params } = post.incoming;
    if (method === undefined) throw invalidRequest('the server sent no request');
    if (id === undefined) return { status: 202 };
    const version = readVersion(params);
    checkHeaders(post.headers, method, isObject(params) ? params : {}, version);
    if (version !== MODERN_VERSION) {
      const data = { supported: VERSIONS, requested: version.slice(0, 100) };
      throw rpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', data, 400);
    }
    const isDiscovery = method === 'server/discover';
    const result = isDiscovery ? { supportedVersions: VERSIONS, ...SERVER } : this.#run(post, 404);
    const caching = method === 'tools/call' ? {} : CACHING;
    return {
      status: 200,
      message: resultMessage(id, { resultType: 'complete', ...result, ...caching, _meta: META }),
      events: progressMessages(params),
    };
  }

  #run({ incoming: { method, params }, access }: Post, unknownStatus: number): object {
    const named = isObject(params) ? params : {};
    // `arguments` is optional in MCP.
    if (method === 'tools/call') return callTool(this.#catalog, 'mcp', { arguments: {}, ...named }, access);
    if (method !== 'tools/list') {
      throw rpcError(METHOD_NOT_FOUND, 'Method not found', undefined, unknownStatus);
    }
    // The list has a single page, so no cursor is valid.
    if (named.cursor !== undefined) throw badArgument('cursor', 'is unknown');
    return { tools: TOOLS };
  }

  #initialize(id: RpcId, params: unknown, account: string): SandboxAnswer {
    const requested = isObject(params) ? params.protocolVersion : undefined;
    if (typeof requested !== 'string') throw badArgument('protocolVersion', 'is not a string');
    const protocolVersion = LEGACY_VERSIONS.find((each) => each === requested) ?? LEGACY_VERSIONS[0];
    const session = { id: randomUUID(), account, ready: false };
    this.#sessions.set(session.id, session);
    const [oldest = ''] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest);
    return {
      status: 200,
      headers: { 'Mcp-Session-Id': session.id },
      message: resultMessage(id, { protocolVersion, serverInfo: SERVER_INFO, ...SERVER }),
    };
  }

  #sessionOf(headers: Headers, account: string): SandboxSession {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !LEGACY_VERSIONS.includes(version)) {
      throw badRequest(`Unsupported protocol version (supported versions: ${LEGACY_VERSIONS.join(', ')})`);
    }
    const id = headers['mcp-session-id'];
    if (id === undefined) {
      throw badRequest(
        version === undefined ? 'Server not initialized' : 'Mcp-Session-Id header is required',
      );
    }
    const session = this.#sessions.get(id);
    if (session?.account === account) return session;
    throw rpcError(SESSION_NOT_FOUND, 'Session not found', undefined, 404);
  }
}

const badRequest = (message: string) => rpcError(SERVER_ERROR, `Bad Request: ${message}`, undefined, 400);

/** Real servers require both types, since the reply may be either. */
function checkAccept({ accept = '' }: Headers): void {
  if (accept.includes(JSON_TYPE) && accept.includes(SSE_TYPE)) return;
  const message = `Not Acceptable: Client must accept both ${JSON_TYPE} and ${SSE_TYPE}`;
  throw rpcError(SERVER_ERROR, message, undefined, 406);
}

function isModern({ incoming: { method, params }, headers }: Post): boolean {
  if (metaOf(params)[VERSION_KEY] !== undefined || method === 'server/discover') return true;
  if (method === 'initialize') return false;
  const version = headers['mcp-protocol-version'];
  return (
    headers['mcp-session-id'] === undefined && version !== undefined && !LEGACY_VERSIONS.includes(version)
  );
}

function metaOf(params: unknown): JsonObject {
  return isObject(params) && isObject(params._meta) ? params._meta : {};
}

function progressMessages(params: unknown): JsonObject[] {
  const { progressToken } = metaOf(params);
  if (typeof progressToken !== 'string' && !Number.isSafeInteger(progressToken)) return [];
  return PROGRESS_STEPS.map((message, index) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: index + 1, total: PROGRESS_STEPS.length, message },
  }));
}

const PREFIX = 'io.modelcontextprotocol/';
const VERSION_KEY = `${PREFIX}protocolVersion`;
const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
const CLIENT_KEY = `${PREFIX}clientInfo`;

const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };
const META = { [`${PREFIX}serverInfo`]: SERVER_INFO };

function readVersion(params: unknown): string {
  const { [VERSION_KEY]: version, [CAPABILITIES_KEY]: capabilities, [CLIENT_KEY]: client } = metaOf(params);
  const wrong: string[] = [];
  if (typeof version !== 'string') wrong.push(VERSION_KEY);
  if (!isObject(capabilities)) wrong.push(CAPABILITIES_KEY);
  if (client !== undefined && !isImplementation(client)) wrong.push(CLIENT_KEY);
  if (typeof version === 'string' && wrong.length === 0) return version;
  const message = `invalid params: params._meta lacks ${wrong.join(', ')}`;
  throw rpcError(INVALID_PARAMS, message, { envelope: wrong }, 400);
}

const isImplementation = (value: unknown): boolean =>
  isObject(value) && typeof value.name === 'string' && typeof value.version === 'string';

/** Arguments with `x-mcp-header` have a header, unless they are null. @throws {ReplyError} -32020 naming the header */
function checkHeaders(headers: Headers, method: string, params: JsonObject, version: string): void {
  checkHeader(headers, 'MCP-Protocol-Version', version);
  checkHeader(headers, 'Mcp-Method', method);
  if (method !== 'tools/call') return;
  checkHeader(headers, 'Mcp-Name', params.name);
  const schema = TOOLS.find(({ name }) => name === params.name)?.inputSchema;
  const properties = isObject(schema?.properties) ? schema.properties : {};
  for (const [argument, property] of Object.entries(properties)) {
    const header = isObject(property) ? property['x-mcp-header'] : undefined;
    if (typeof header !== 'string') continue;
    const value = isObject(params.arguments) ? params.arguments[argument] : undefined;
    checkHeader(headers, `Mcp-Param-${header}`, value ?? undefined);
  }
}

/** Matches a header value in base64, for text that a header cannot contain. */
const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

function checkHeader(headers: Headers, name: string, expected: unknown): void {
  const sent = headers[name.toLowerCase()];
  const encoded = BASE64.exec(sent ?? '')?.[1];
  const value = encoded === undefined ? sent : Buffer.from(encoded, 'base64').toString('utf8');
  if (value === (expected === undefined ? undefined : String(expected))) return;
  const problem = sent === undefined ? 'is missing' : 'does not match the body';
  throw rpcError(HEADER_MISMATCH, `Header mismatch: ${name} ${problem}`, { header: name, problem }, 400);
}

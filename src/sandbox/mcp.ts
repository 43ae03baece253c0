import type { Catalog } from './catalog.ts';
import { createLegacy } from './legacy.ts';
import { createModern, metaVersion, unsupportedVersion } from './modern.ts';
import {
  LEGACY_VERSIONS,
  MODERN_VERSION,
  methodNotAllowed,
  type Post,
  type Protocol,
  SERVER_ERROR,
} from './protocol.ts';
import { JSON_TYPE, SSE_TYPE } from './reply.ts';
import { isObject, RpcError } from './rpc.ts';
import { createMcpTools } from './tools.ts';
import type { Era, SandboxOptions } from './types.ts';

/** A full MCP server at one endpoint: each request shows which protocol version it uses. */
export function createMcp(catalog: Catalog, options: SandboxOptions): Protocol {
  const { eras = ['legacy', 'modern'], reply = 'json', sessions = true } = options;
  const servesLegacy = eras.includes('legacy');
  const servesModern = eras.includes('modern');
  const supported = [...(servesModern ? [MODERN_VERSION] : []), ...(servesLegacy ? LEGACY_VERSIONS : [])];
  const tools = createMcpTools(catalog, options.pageSize);
  const legacy = createLegacy(tools, reply, sessions);
  const modern = createModern(tools, supported);
  return {
    methods: ['POST', 'GET', 'DELETE'],
    post(post) {
      checkAccept(post.headers.accept ?? '');
      if (eraOf(post) === 'modern' && servesModern) return modern(post);
      if (!servesLegacy) throw unsupportedVersion(requestedVersion(post), supported);
      return legacy.post(post);
    },
    withoutBody(method, headers, { account }) {
      if (!servesLegacy || headers['mcp-session-id'] === undefined) throw methodNotAllowed();
      return method === 'GET' ? legacy.resume(headers, account) : legacy.endSession(headers, account);
    },
  };
}

/** A request with metadata of its own, or with a version that has no handshake, is modern. */
function eraOf({ incoming, headers }: Post): Era {
  if (incoming.kind !== 'response') {
    if (metaVersion(incoming.params) !== undefined || incoming.method === 'server/discover') return 'modern';
    if (incoming.method === 'initialize') return 'legacy';
  }
  if (headers['mcp-session-id'] !== undefined) return 'legacy';
  const version = headers['mcp-protocol-version'];
  return version === undefined || LEGACY_VERSIONS.includes(version) ? 'legacy' : 'modern';
}

function requestedVersion({ incoming, headers }: Post): unknown {
  const params = incoming.kind === 'response' ? undefined : incoming.params;
  return headers['mcp-protocol-version'] ?? (isObject(params) ? params.protocolVersion : undefined);
}

/** Real servers require both types, since the reply may be either. */
function checkAccept(accept: string): void {
  if (accept.includes(JSON_TYPE) && accept.includes(SSE_TYPE)) return;
  const message = `Not Acceptable: Client must accept both ${JSON_TYPE} and ${SSE_TYPE}`;
  throw new RpcError(SERVER_ERROR, message, undefined, 406);
}

import { createLegacy, postOnly } from './legacy.ts';
import type { Catalog } from './match.ts';
import { createModern, metaVersion, unsupportedVersion } from './modern.ts';
import type { Post, Protocol } from './protocol.ts';
import { JSON_TYPE, SSE_TYPE } from './reply.ts';
import { isObject, RpcError } from './rpc.ts';
import { createMcpTools } from './tool-list.ts';
import type { Era, SandboxOptions } from './types.ts';
import { LEGACY_VERSIONS, MODERN_VERSION, SERVER_ERROR } from './versions.ts';

/** A full MCP server on the one endpoint: each request is of the era that it shows itself to be of. */
export function createMcp(catalog: Catalog, options: SandboxOptions): Protocol {
  const { eras = ['legacy', 'modern'], reply = 'json', sessions = true } = options;
  const speaksLegacy = eras.includes('legacy');
  const speaksModern = eras.includes('modern');
  const supported = [...(speaksModern ? [MODERN_VERSION] : []), ...(speaksLegacy ? LEGACY_VERSIONS : [])];
  const tools = createMcpTools(catalog, options.pageSize);
  const legacy = createLegacy(tools, reply, sessions);
  const modern = createModern(tools, supported);
  return {
    methods: ['POST', 'GET', 'DELETE'],
    post(post) {
      checkAccept(post.headers.accept ?? '');
      const era = eraOf(post);
      if (era === 'modern' && speaksModern) return modern(post);
      if (!speaksLegacy) throw unsupportedVersion(versionAsked(post), supported);
      return legacy.post(post);
    },
    bodiless(method, headers, { account }) {
      if (!speaksLegacy || headers['mcp-session-id'] === undefined) throw postOnly();
      return method === 'GET' ? legacy.get(headers, account) : legacy.remove(headers, account);
    },
  };
}

/** A request with metadata of its own, or with a revision that the other era does not know, is modern. */
function eraOf({ incoming, headers }: Post): Era {
  if (incoming.kind !== 'response') {
    if (metaVersion(incoming.params) !== undefined || incoming.method === 'server/discover') return 'modern';
    if (incoming.method === 'initialize') return 'legacy';
  }
  if (headers['mcp-session-id'] !== undefined) return 'legacy';
  const version = headers['mcp-protocol-version'];
  return version === undefined || LEGACY_VERSIONS.includes(version) ? 'legacy' : 'modern';
}

function versionAsked({ incoming, headers }: Post): unknown {
  const params = incoming.kind === 'response' ? undefined : incoming.params;
  return headers['mcp-protocol-version'] ?? (isObject(params) ? params.protocolVersion : undefined);
}

/** Real servers insist on both forms, since the answer may take either. */
function checkAccept(accept: string): void {
  if (accept.includes(JSON_TYPE) && accept.includes(SSE_TYPE)) return;
  const message = `Not Acceptable: Client must accept both ${JSON_TYPE} and ${SSE_TYPE}`;
  throw new RpcError(SERVER_ERROR, message, undefined, 406);
}

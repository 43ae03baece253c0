import type { Catalog } from './catalog.ts';
import { createLegacy } from './legacy.ts';
import { createModern, metaVersion } from './modern.ts';
import { LEGACY_VERSIONS, methodNotAllowed, type Post, type Protocol, SERVER_ERROR } from './protocol.ts';
import { JSON_TYPE, SSE_TYPE } from './reply.ts';
import { RpcError } from './rpc.ts';
import { createMcpTools } from './tools.ts';
import type { ReplyForm } from './types.ts';

/** A full MCP server at one endpoint: each request shows which protocol version it uses. */
export function createMcp(catalog: Catalog, reply: ReplyForm): Protocol {
  const tools = createMcpTools(catalog);
  const legacy = createLegacy(tools, reply);
  const modern = createModern(tools);
  return {
    methods: ['POST', 'GET', 'DELETE'],
    post(post) {
      checkAccept(post.headers.accept ?? '');
      return isModern(post) ? modern(post) : legacy.post(post);
    },
    withoutBody(method, headers, { account }) {
      if (headers['mcp-session-id'] === undefined) throw methodNotAllowed();
      return method === 'GET' ? legacy.resume(headers, account) : legacy.endSession(headers, account);
    },
  };
}

/** True for a request with metadata of its own, or with a version that has no handshake. */
function isModern({ incoming: { method, params }, headers }: Post): boolean {
  if (metaVersion(params) !== undefined || method === 'server/discover') return true;
  if (method === 'initialize') return false;
  const version = headers['mcp-protocol-version'];
  return (
    headers['mcp-session-id'] === undefined && version !== undefined && !LEGACY_VERSIONS.includes(version)
  );
}

/** Real servers require both types, since the reply may be either. */
function checkAccept(accept: string): void {
  if (accept.includes(JSON_TYPE) && accept.includes(SSE_TYPE)) return;
  const message = `Not Acceptable: Client must accept both ${JSON_TYPE} and ${SSE_TYPE}`;
  throw new RpcError(SERVER_ERROR, message, undefined, 406);
}

import { progressMessages } from './progress.ts';
import { type Headers, type Post, respond } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { type Answer, SSE_TYPE } from './reply.ts';
import { badArgument, isObject, METHOD_NOT_FOUND, RpcError, type RpcId, type RpcObject } from './rpc.ts';
import { createSessions, type Session } from './sessions.ts';
import type { McpTools } from './tool-list.ts';
import type { ReplyForm } from './types.ts';
import { INSTRUCTIONS, LEGACY_VERSIONS, SERVER_ERROR, SERVER_INFO, SESSION_NOT_FOUND } from './versions.ts';

/** MCP with a handshake (2025-03-26 to 2025-11-25). */
export interface Legacy {
  post(post: Post): Answer;
  /** Takes up a cut stream (`Last-Event-ID`), or opens the one for messages of the server's own. */
  get(headers: Headers, account: string): Answer;
  /** Ends a session. */
  remove(headers: Headers, account: string): Answer;
}

/** Clients of this revision and later know the empty event that a resumable stream begins with. */
const PRIMING_SINCE = '2025-11-25';
const RETRY_MS = 100;

export function createLegacy(tools: McpTools, reply: ReplyForm, withSessions: boolean): Legacy {
  const sessions = createSessions();

  function initialize(id: RpcId, params: unknown, account: string): Answer {
    const asked = isObject(params) ? params.protocolVersion : undefined;
    if (typeof asked !== 'string') throw badArgument('protocolVersion', 'is not a string');
    const protocolVersion = LEGACY_VERSIONS.find((version) => version === asked) ?? LEGACY_VERSIONS[0] ?? '';
    const capabilities = { tools: { listChanged: false } };
    const message = respond(id, () => ({
      protocolVersion,
      capabilities,
      serverInfo: SERVER_INFO,
      instructions: INSTRUCTIONS,
    }));
    if (!withSessions) return { status: 200, message };
    const session = sessions.open(account, protocolVersion);
    return { ...stream(session, message), headers: { 'Mcp-Session-Id': session.id } };
  }

  /** The session of a request; undefined where none are given out. */
  function sessionOf(headers: Headers, account: string): Session | undefined {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !LEGACY_VERSIONS.includes(version)) {
      throw badRequest(`Unsupported protocol version (supported versions: ${LEGACY_VERSIONS.join(', ')})`);
    }
    const id = headers['mcp-session-id'];
    if (!withSessions || id === undefined) {
      if (version === undefined) throw badRequest('Server not initialized');
      if (withSessions) throw badRequest('Mcp-Session-Id header is required');
      return undefined;
    }
    const session = sessions.get(id, account);
    if (session === undefined) throw new RpcError(SESSION_NOT_FOUND, 'Session not found', undefined, 404);
    return session;
  }

  /** The form of a response in a stream: with event ids, so that it can be taken up again. */
  function stream(
    session: Session | undefined,
    message: RpcObject,
    progress: readonly string[] = [],
  ): Answer {
    if (reply === 'json') return { status: 200, message };
    if (session === undefined) return { status: 200, message, before: progress.map((data) => ({ data })) };
    const primed = session.version >= PRIMING_SINCE;
    const messages = [...(primed ? [''] : []), ...progress, JSON.stringify(message)];
    const events = session.streams.keep(messages);
    const before = events
      .slice(0, -1)
      .map((event) => (event.data === '' ? { ...event, retry: RETRY_MS } : event));
    return { status: 200, message, before, eventId: events.at(-1)?.id ?? '' };
  }

  return {
    post({ incoming, access, headers }) {
      if (incoming.kind === 'request' && incoming.method === 'initialize') {
        return initialize(incoming.id, incoming.params, access.account);
      }
      const session = sessionOf(headers, access.account);
      if (incoming.kind !== 'request') {
        const initialized =
          incoming.kind === 'notification' && incoming.method === 'notifications/initialized';
        if (initialized && session !== undefined) session.ready = true;
        return { status: 202 };
      }
      const { id, method, params } = incoming;
      if (method !== 'ping' && session?.ready === false) {
        throw badRequest('Server not initialized: notifications/initialized has not come');
      }
      const message = respond(id, () => {
        if (method === 'ping') return {};
        if (method === 'tools/list') return tools.list(params);
        if (method === 'tools/call') return tools.call(params, access.paid);
        throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
      });
      return stream(session, message, progressMessages(params));
    },

    get(headers, account) {
      if (!(headers.accept ?? '').includes(SSE_TYPE)) {
        throw new RpcError(SERVER_ERROR, `Not Acceptable: Client must accept ${SSE_TYPE}`, undefined, 406);
      }
      const session = sessionOf(headers, account);
      if (session === undefined) throw postOnly();
      const last = headers['last-event-id'];
      if (last !== undefined) {
        const replay = session.streams.after(last);
        if (replay === undefined) throw badRequest('Last-Event-ID is unknown');
        return { status: 200, replay };
      }
      const standing = session.openStanding();
      if (standing === undefined) {
        throw new RpcError(SERVER_ERROR, 'Conflict: only one standing stream per session', undefined, 409);
      }
      return { status: 200, replay: [], standing };
    },

    remove(headers, account) {
      const session = sessionOf(headers, account);
      if (session === undefined) throw postOnly();
      sessions.end(session);
      return { status: 200 };
    },
  };
}

/** 405, for what needs a session where there is none. */
export function postOnly(): Refusal {
  return new Refusal(405, 'method_not_allowed', 'use POST', { Allow: 'POST' });
}

function badRequest(message: string): RpcError {
  return new RpcError(SERVER_ERROR, `Bad Request: ${message}`, undefined, 400);
}

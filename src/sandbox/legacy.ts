import { randomUUID } from 'node:crypto';
import {
  type Headers,
  INSTRUCTIONS,
  LEGACY_VERSIONS,
  methodNotAllowed,
  type Post,
  progressMessages,
  respond,
  SERVER_ERROR,
  SERVER_INFO,
  SESSION_NOT_FOUND,
} from './protocol.ts';
import { type Answer, SSE_TYPE, type SseEvent } from './reply.ts';
import { EXTRA_CAPABILITIES } from './resources.ts';
import { badArgument, isObject, METHOD_NOT_FOUND, RpcError, type RpcId, type RpcObject } from './rpc.ts';
import type { McpTools } from './tools.ts';
import type { ReplyForm } from './types.ts';

/** MCP with a handshake (2025-03-26 to 2025-11-25). */
export interface Legacy {
  post(post: Post): Answer;
  /** Returns the rest of a stream that was cut off (`Last-Event-ID`). */
  resume(headers: Headers, account: string): Answer;
  endSession(headers: Headers, account: string): Answer;
}

interface Session {
  readonly id: string;
  /** The account whose key opened it. */
  readonly account: string;
  /** The negotiated protocol version. */
  readonly version: string;
  /** True after `notifications/initialized`. */
  ready: boolean;
  readonly streams: EventStore;
}

/** The newest streams of a session, so that a client can resume one that was cut off. */
interface EventStore {
  /** Gives each message an id and stores them as one stream. */
  add(messages: readonly string[]): SseEvent[];
  /** Returns the events of a stream after the one with this id; undefined for an unknown id. */
  after(lastEventId: string): SseEvent[] | undefined;
}

const MAX_SESSIONS = 1000;
const MAX_STREAMS = 100;
/** Clients of this version and later know the empty event that a resumable stream begins with. */
const PRIMING_SINCE = '2025-11-25';
const RETRY_MS = 100;

export function createLegacy(tools: McpTools, reply: ReplyForm): Legacy {
  const sessions = new Map<string, Session>();

  function openSession(account: string, version: string): Session {
    const [oldest] = sessions.keys();
    if (oldest !== undefined && sessions.size >= MAX_SESSIONS) sessions.delete(oldest);
    const session = { id: randomUUID(), account, version, ready: false, streams: createEventStore() };
    sessions.set(session.id, session);
    return session;
  }

  function initialize(id: RpcId, params: unknown, account: string): Answer {
    const requested = isObject(params) ? params.protocolVersion : undefined;
    if (typeof requested !== 'string') throw badArgument('protocolVersion', 'is not a string');
    const protocolVersion = LEGACY_VERSIONS.includes(requested) ? requested : (LEGACY_VERSIONS[0] ?? '');
    const capabilities = { tools: { listChanged: false }, ...EXTRA_CAPABILITIES };
    const message = respond(id, () => ({
      protocolVersion,
      capabilities,
      serverInfo: SERVER_INFO,
      instructions: INSTRUCTIONS,
    }));
    const session = openSession(account, protocolVersion);
    return { ...answer(session, message), headers: { 'Mcp-Session-Id': session.id } };
  }

  function sessionOf(headers: Headers, account: string): Session {
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
    const session = sessions.get(id);
    if (session?.account !== account) {
      throw new RpcError(SESSION_NOT_FOUND, 'Session not found', undefined, 404);
    }
    return session;
  }

  /** Adds what a stream of this session needs to be resumable: event ids, and an empty first event. */
  function answer(session: Session, message: RpcObject, progress: readonly string[] = []): Answer {
    if (reply === 'json') return { status: 200, message };
    const primer = session.version >= PRIMING_SINCE ? [''] : [];
    const events = session.streams.add([...primer, ...progress, JSON.stringify(message)]);
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
        if (initialized) session.ready = true;
        return { status: 202 };
      }
      const { id, method, params } = incoming;
      if (method !== 'ping' && !session.ready) {
        throw badRequest('Server not initialized: notifications/initialized was not received');
      }
      const message = respond(id, () => {
        if (method === 'ping') return {};
        if (method === 'tools/list') return tools.list(params);
        if (method === 'tools/call') return tools.call(params, access.paid);
        const extra = tools.extra.get(method);
        if (extra !== undefined) return extra(isObject(params) ? params : {});
        throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
      });
      return answer(session, message, progressMessages(params));
    },

    resume(headers, account) {
      if (!(headers.accept ?? '').includes(SSE_TYPE)) {
        throw new RpcError(SERVER_ERROR, `Not Acceptable: Client must accept ${SSE_TYPE}`, undefined, 406);
      }
      const session = sessionOf(headers, account);
      const lastEventId = headers['last-event-id'];
      // The server has no messages of its own, so it offers no other stream.
      if (lastEventId === undefined) throw methodNotAllowed();
      const replay = session.streams.after(lastEventId);
      if (replay === undefined) throw badRequest('Last-Event-ID is unknown');
      return { status: 200, replay };
    },

    endSession(headers, account) {
      sessions.delete(sessionOf(headers, account).id);
      return { status: 200 };
    },
  };
}

function createEventStore(): EventStore {
  const streams = new Map<string, readonly SseEvent[]>();
  let count = 0;
  return {
    add(messages) {
      count += 1;
      const stream = String(count);
      const events = messages.map((data, index) => ({ id: `${stream}-${index}`, data }));
      streams.set(stream, events);
      const [oldest] = streams.keys();
      if (oldest !== undefined && streams.size > MAX_STREAMS) streams.delete(oldest);
      return events;
    },
    after(lastEventId) {
      const events = streams.get(lastEventId.split('-', 1)[0] ?? '');
      const index = events?.findIndex(({ id }) => id === lastEventId) ?? -1;
      return index < 0 ? undefined : events?.slice(index + 1);
    },
  };
}

function badRequest(message: string): RpcError {
  return new RpcError(SERVER_ERROR, `Bad Request: ${message}`, undefined, 400);
}

import { randomUUID } from 'node:crypto';
import {
  type Headers,
  LEGACY_VERSIONS,
  methodNotAllowed,
  type Post,
  progressMessages,
  respond,
  SERVER,
  SERVER_ERROR,
  SESSION_NOT_FOUND,
} from './protocol.ts';
import { type Answer, SSE_TYPE, type SseEvent } from './reply.ts';
import { EXTRA_CAPABILITIES } from './resources.ts';
import { badArgument, isObject, RpcError, type RpcId, type RpcObject } from './rpc.ts';
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
  /** The number of streams so far. */
  streamCount: number;
  /** The newest streams by number, so that a client can resume one that was cut off. */
  readonly streams: Map<string, readonly SseEvent[]>;
}

const MAX_SESSIONS = 1000;
const MAX_STREAMS = 100;
/** Clients of this version and later know the empty event that a resumable stream begins with. */
const PRIMING_SINCE = '2025-11-25';
const RETRY_MS = 100;

export function createLegacy(tools: McpTools, reply: ReplyForm): Legacy {
  const sessions = new Map<string, Session>();

  function initialize(id: RpcId, params: unknown, account: string): Answer {
    const requested = isObject(params) ? params.protocolVersion : undefined;
    if (typeof requested !== 'string') throw badArgument('protocolVersion', 'is not a string');
    const version = LEGACY_VERSIONS.find((each) => each === requested) ?? LEGACY_VERSIONS[0] ?? '';
    const capabilities = { tools: { listChanged: false }, ...EXTRA_CAPABILITIES };
    const { message } = respond(id, () => ({ protocolVersion: version, capabilities, ...SERVER }));
    const session = { id: randomUUID(), account, version, ready: false, streamCount: 0, streams: new Map() };
    addBounded(sessions, MAX_SESSIONS, session.id, session);
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
    if (session?.account === account) return session;
    throw new RpcError(SESSION_NOT_FOUND, 'Session not found', undefined, 404);
  }

  /** Adds what a stream of this session needs to be resumable: event ids, and an empty first event. */
  function answer(session: Session, message: RpcObject, progress: readonly string[] = []): Answer {
    if (reply === 'json') return { status: 200, message };
    session.streamCount += 1;
    const primer = session.version >= PRIMING_SINCE ? [''] : [];
    const all = [...primer, ...progress, JSON.stringify(message)].map((data, index) => ({
      id: `${session.streamCount}-${index}`,
      data,
      ...(data === '' ? { retry: RETRY_MS } : {}),
    }));
    addBounded(session.streams, MAX_STREAMS, String(session.streamCount), all);
    return { status: 200, message, events: all.slice(0, -1), eventId: all.at(-1)?.id ?? '' };
  }

  return {
    post({ incoming: { id, method, params }, access, headers }) {
      if (id !== undefined && method === 'initialize') return initialize(id, params, access.account);
      const session = sessionOf(headers, access.account);
      if (id === undefined || method === undefined) {
        session.ready ||= method === 'notifications/initialized';
        return { status: 202 };
      }
      if (method !== 'ping' && !session.ready) {
        throw badRequest('Server not initialized: notifications/initialized was not received');
      }
      const { message } = respond(id, () =>
        method === 'ping' ? {} : tools.run(method, params, access.paid),
      );
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
      const stream = session.streams.get(lastEventId.split('-', 1)[0] ?? '') ?? [];
      const index = stream.findIndex(({ id }) => id === lastEventId);
      if (index < 0) throw badRequest('Last-Event-ID is unknown');
      return { status: 200, events: stream.slice(index + 1) };
    },

    endSession(headers, account) {
      sessions.delete(sessionOf(headers, account).id);
      return { status: 200 };
    },
  };
}

/** Adds a value to a map that keeps only the newest ones. */
function addBounded<T>(map: Map<string, T>, max: number, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > max) map.delete(oldest);
}

function badRequest(message: string): RpcError {
  return new RpcError(SERVER_ERROR, `Bad Request: ${message}`, undefined, 400);
}

import { randomUUID } from 'node:crypto';
import type { SseEvent, Standing } from './reply.ts';

/** A conversation of the legacy era. */
export interface Session {
  readonly id: string;
  /** Whose key opened it. */
  readonly account: string;
  /** The negotiated revision. */
  readonly version: string;
  /** `notifications/initialized` has come. */
  ready: boolean;
  readonly streams: EventStore;
  /** The stream for messages of the server's own; one at a time. */
  openStanding(): Standing | undefined;
  end(): void;
}

/** The sessions of a sandbox. */
export interface Sessions {
  open(account: string, version: string): Session;
  /** A session that is still open, of this account. */
  get(id: string, account: string): Session | undefined;
  end(session: Session): void;
}

/** Sent streams, kept so that one that was cut can be taken up again. */
export interface EventStore {
  /** Gives each message an id and remembers them as one stream. */
  keep(messages: readonly string[]): SseEvent[];
  /** The events of a stream after the one with this id; undefined for an id that is not known (any more). */
  after(lastEventId: string): SseEvent[] | undefined;
}

const MAX_SESSIONS = 1000;
const MAX_STREAMS = 100;

export function createSessions(): Sessions {
  const open = new Map<string, Session>();
  const end = (session: Session) => {
    open.delete(session.id);
    session.end();
  };
  return {
    open(account, version) {
      const [oldest] = open.values();
      if (oldest !== undefined && open.size >= MAX_SESSIONS) end(oldest);
      const session = createSession(account, version);
      open.set(session.id, session);
      return session;
    },
    get(id, account) {
      const session = open.get(id);
      return session?.account === account ? session : undefined;
    },
    end,
  };
}

function createSession(account: string, version: string): Session {
  const ended = new AbortController();
  let standing = false;
  return {
    id: randomUUID(),
    account,
    version,
    ready: false,
    streams: createEventStore(),
    openStanding() {
      if (standing) return undefined;
      standing = true;
      const over = () => {
        standing = false;
      };
      return { until: ended.signal, over };
    },
    end: () => ended.abort(),
  };
}

function createEventStore(): EventStore {
  const streams = new Map<string, readonly SseEvent[]>();
  let count = 0;
  return {
    keep(messages) {
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
      const place = events?.findIndex(({ id }) => id === lastEventId) ?? -1;
      return place < 0 ? undefined : events?.slice(place + 1);
    },
  };
}

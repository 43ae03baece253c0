import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ensurePrivateFolder } from './atomic.ts';
import { ioReason } from './io-error.ts';
import { withLock } from './lock.ts';
import type { Warn } from './state.ts';
import { DAY_MS, openFileLog, openMemoryLog, type TimeLog } from './time-log.ts';

/** Requests allowed in a window; 0 = no limit. */
export interface Limits {
  /** In any 60 seconds. */
  readonly perMinute: number;
  /** In any 24 hours. */
  readonly perDay: number;
}

export interface WindowUsage {
  readonly limit: number;
  /** Requests in the window that ends now. */
  readonly used: number;
  /** When the next request is allowed, in milliseconds since the epoch; undefined if one is allowed now. */
  readonly freeAt?: number;
}

export interface Usage {
  readonly perMinute: WindowUsage;
  readonly perDay: WindowUsage;
  /** End of a pause that the service requested, in milliseconds since the epoch. */
  readonly pausedUntil?: number;
}

/** Why no request may be sent now, and until when, in milliseconds since the epoch. */
export interface Wait {
  readonly freeAt: number;
  readonly window: 'minute' | 'day' | 'pause';
}

export type Grant = { readonly granted: true } | ({ readonly granted: false } & Wait);

/** Counts the requests that all processes send with one key to one endpoint. */
export interface Ledger {
  /** Counts one request regardless of the limits. Must not be called for a granted request. */
  record(): Promise<void>;
  /** Grants and counts one request, if the limits allow it. All processes together never exceed the limits. */
  grant(): Promise<Grant>;
  /**
   * Stops granting requests until a time (milliseconds since the epoch, at most a day ahead), because the service
   * requested a pause.
   */
  pauseUntil(until: number): Promise<void>;
  usage(): Promise<Usage>;
}

/** The store of a shared ledger failed. The run stops, because it cannot know whether it may send more requests. */
export class SharedStateError extends AppError {}

/** Returns the result for a grant that arrived too late to be used. Another one may be requested after a short pause. */
export const tooLate = (now: number): Grant => ({
  granted: false,
  freeAt: now + MAX_DELAY_MS,
  window: 'minute',
});

/** Half a second more than a minute, because a request may be sent a little later than it was recorded. */
const MINUTE_MS = 60_500;
/** Times that are further ahead come from a wrong clock. */
const FUTURE_MS = 60_000;
/** A grant that takes longer (a suspended machine, a slow disk) was counted too early. */
const MAX_DELAY_MS = 400;

/** Data that the ledger stores for a key and an endpoint. */
interface Records {
  /** Times at which requests were sent. */
  readonly requests: TimeLog;
  /** The end of each pause that the service requested. */
  readonly pauses: TimeLog;
  /** Runs `work` under a lock that processes share. */
  exclusive<T>(work: () => T): T | Promise<T>;
}

/**
 * Opens the ledger of a key and an endpoint. Accesses no files until it is used, and never fails because of a file.
 * @param options.stateDir if undefined, only the requests of this process are counted
 * @param options.now milliseconds since the epoch
 * @param options.warn called if a damaged file was renamed, and once if the count cannot be shared with other processes
 */
export function openLedger({
  stateDir,
  key,
  endpoint,
  now,
  warn,
  ...limits
}: Limits & {
  readonly stateDir: string | undefined;
  readonly key: string;
  readonly endpoint: string;
  readonly now: () => number;
  readonly warn?: Warn;
}): Ledger {
  const id = sha256Hex(JSON.stringify([key, endpoint]));
  const isUnlimited = limits.perMinute === 0 && limits.perDay === 0;
  let records = stateDir === undefined ? ownRecords() : sharedRecords(join(stateDir, 'ledger'), id, warn);

  /** Runs `work`. If the files fail, continues with records for this process only. */
  async function using<T>(work: (records: Records) => T | Promise<T>): Promise<T> {
    const files = records;
    try {
      return await work(files);
    } catch (error) {
      if (records === files) {
        records = ownRecords(files, now());
        warn?.(`only the requests of this run are counted: ${ioReason(error)}`);
      }
      return work(records);
    }
  }

  function usageAt(at: number, times: readonly number[], { pauses }: Records): Usage {
    const pausedUntil = pauseAt(at, pauses);
    return {
      perMinute: windowUsage(times, limits.perMinute, MINUTE_MS, at),
      perDay: windowUsage(times, limits.perDay, DAY_MS, at),
      ...(pausedUntil === undefined ? {} : { pausedUntil }),
    };
  }

  /** Returns the wait before a request may be sent at this time. */
  const waitAt = (at: number, all: Records): Wait | undefined =>
    longestWait(usageAt(at, isUnlimited ? [] : all.requests.read(at), all));

  /** Counts a request, unless it has to wait. */
  function count(all: Records): { at: number; wait: Wait | undefined } {
    const at = now();
    const wait = waitAt(at, all);
    if (wait === undefined) all.requests.append(at);
    return { at, wait };
  }

  return {
    record: () => using(({ requests }) => requests.append(now())),
    async grant() {
      const { at, wait } = await using((all) => {
        // Without limits, no lock is needed to prevent two processes from taking the last request.
        if (isUnlimited) return count(all);
        // A process that has to wait does not need the lock.
        const at = now();
        const wait = waitAt(at, all);
        return wait === undefined ? all.exclusive(() => count(all)) : { at, wait };
      });
      if (wait !== undefined) return { granted: false, ...wait };
      // Without limits, the time of the count does not matter.
      const isLate = !isUnlimited && Math.abs(now() - at) > MAX_DELAY_MS;
      return isLate ? tooLate(now()) : { granted: true };
    },
    async pauseUntil(until) {
      const at = now();
      if (until > at) await using(({ pauses }) => pauses.append(Math.min(until, at + DAY_MS)));
    },
    usage() {
      const at = now();
      return using((all) => usageAt(at, all.requests.read(at), all));
    },
  };
}

/** The records that all processes share. */
function sharedRecords(folder: string, id: string, warn: Warn | undefined): Records {
  return {
    requests: openFileLog(folder, id, warn),
    pauses: openFileLog(folder, `${id}.pause`, warn),
    exclusive(work) {
      ensurePrivateFolder(folder);
      return withLock(join(folder, id), work);
    },
  };
}

/** Creates records for this process only. @param shared the failed records, whose readable times are copied */
function ownRecords(shared?: Records, now = 0): Records {
  const timesOf = (log: TimeLog | undefined, end: number): number[] => {
    try {
      return [...(log?.read(end) ?? [])];
    } catch {
      return [];
    }
  };
  return {
    requests: openMemoryLog(timesOf(shared?.requests, now)),
    pauses: openMemoryLog(timesOf(shared?.pauses, now + DAY_MS)),
    exclusive: (work) => work(),
  };
}

/** Returns the end of the pause, if there is one. A pause of more than a day comes from a wrong clock. */
function pauseAt(now: number, pauses: TimeLog): number | undefined {
  const ends = pauses.read(now + DAY_MS).filter((end) => end > now && end <= now + DAY_MS);
  return ends.sort((a, b) => a - b).at(-1);
}

function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const counted = times.filter((at) => at > now - lengthMs && at <= now + FUTURE_MS).sort((a, b) => a - b);
  const leaving = limit === 0 ? undefined : counted.at(-limit);
  return { limit, used: counted.length, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

/** Returns the wait before the next request; if there are several, the longest one. */
export function longestWait({ perMinute, perDay, pausedUntil }: Usage): Wait | undefined {
  const waits: readonly [Wait['window'], number | undefined][] = [
    ['minute', perMinute.freeAt],
    ['day', perDay.freeAt],
    ['pause', pausedUntil],
  ];
  return waits
    .flatMap(([window, freeAt]) => (freeAt === undefined ? [] : [{ freeAt, window }]))
    .sort((a, b) => b.freeAt - a.freeAt)[0];
}

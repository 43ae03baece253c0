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
  /** When there is room again, in milliseconds since the epoch; absent when there is room. */
  readonly freeAt?: number;
}

export interface Usage {
  readonly perMinute: WindowUsage;
  readonly perDay: WindowUsage;
  /** Until when the service asked to wait, in milliseconds since the epoch. */
  readonly pausedUntil?: number;
}

/** Why no request may be sent now, and until when (milliseconds since the epoch). */
export interface Wait {
  readonly freeAt: number;
  readonly window: 'minute' | 'day' | 'pause';
}

export type Grant = { readonly granted: true } | ({ readonly granted: false } & Wait);

/** Counts the requests that all processes send with one key to one endpoint. */
export interface Ledger {
  /** Counts one request regardless of the limits. Not for one that was granted. */
  record(): Promise<void>;
  /** Grants one request now and counts it, if the limits allow it. All processes together never get more than the limits. */
  grant(): Promise<Grant>;
  /** The service asked to wait: no request is granted until then (milliseconds since the epoch; at most a day). */
  pauseUntil(until: number): Promise<void>;
  usage(): Promise<Usage>;
}

/** The store of a shared ledger failed: a run stops, since it cannot know whether it may send more. */
export class SharedStateError extends AppError {}

/** Returns the result of a grant that arrived too late to be used: another may be requested after a short pause. */
export const tooLate = (now: number): Grant => ({
  granted: false,
  freeAt: now + MAX_DELAY_MS,
  window: 'minute',
});

/** Half a second over the minute: a request recorded at its start may have been sent a little later. */
const MINUTE_MS = 60_500;
/** Times further ahead come from a clock that was wrong. */
const FUTURE_MS = 60_000;
/** A grant that takes longer (a suspended machine, a slow disk) was counted at a time that is past. */
const MAX_DELAY_MS = 400;

/** Data that the ledger keeps for a key and an endpoint. */
interface Records {
  /** When requests were sent. */
  readonly requests: TimeLog;
  /** The end of each pause that the service asked for. */
  readonly pauses: TimeLog;
  /** Runs `work` while no other process does. */
  exclusive<T>(work: () => T): T | Promise<T>;
}

/**
 * Opens the ledger of a key and an endpoint. Touches no file until it is used, and never fails because of one.
 * @param options.stateDir undefined if no state folder is known: only the requests of this process are counted then
 * @param options.now milliseconds since the epoch
 * @param options.warn called when a damaged file was renamed, and once when the count cannot be shared with other
 *   processes
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

  /** Runs `work`; when the files fail, continues with records of this process alone. */
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

  /** Returns what keeps a request from being sent at this time. */
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
        // Without limits, there is no last request that two processes could both get.
        if (isUnlimited) return count(all);
        // Those who must wait anyway do not queue for the lock.
        const at = now();
        const wait = waitAt(at, all);
        return wait === undefined ? all.exclusive(() => count(all)) : { at, wait };
      });
      if (wait !== undefined) return { granted: false, ...wait };
      // Without limits, it does not matter when the request was counted.
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

/** Records of this process alone. @param shared those that failed, of which it takes over what can be read */
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

/** Returns when the pause ends, if there is one; one of more than a day comes from a clock that was wrong. */
function pauseAt(now: number, pauses: TimeLog): number | undefined {
  const ends = pauses.read(now + DAY_MS).filter((end) => end > now && end <= now + DAY_MS);
  return ends.sort((a, b) => a - b).at(-1);
}

function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const counted = times.filter((at) => at > now - lengthMs && at <= now + FUTURE_MS).sort((a, b) => a - b);
  const leaving = limit === 0 ? undefined : counted.at(-limit);
  return { limit, used: counted.length, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

/** Returns what keeps a request from being sent: of several reasons, the one that lasts longest. */
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

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ensurePrivateFolder } from './atomic.ts';
import { isNotRegularFile, openOwnFile, writeAll } from './files.ts';
import { ioReason } from './io-error.ts';
import { withLock } from './lock.ts';
import { openJsonFile } from './state.ts';

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
export const DAY_MS = 86_400_000;
/** Times further ahead come from a clock that was wrong. */
const FUTURE_MS = 60_000;
/** A grant that takes longer (a suspended machine, a slow disk) was counted at a time that is past. */
const MAX_DELAY_MS = 400;
/** Room for some 300,000 requests; of a larger file, only the end counts. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const DAY_NAME = /\.\d{4}-\d\d-\d\d$/;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** Where the times of requests are kept, in milliseconds since the epoch. */
interface Log {
  append(at: number): void;
  /**
   * Returns the times of the day before `at`, and perhaps earlier ones.
   * @param repair sets damaged files aside; only for work that runs exclusively
   */
  read(at: number, repair?: boolean): number[];
  /** Runs `work` while no other process does. */
  exclusive<T>(work: () => T): T | Promise<T>;
}

/**
 * Opens the ledger of a key and an endpoint. Touches no file until it is used, and never fails because of one.
 * @param options.stateDir undefined where no state folder is known: only the requests of this process are counted then
 * @param options.now milliseconds since the epoch
 * @param options.warn called when a damaged file was set aside, and once when the count cannot be shared with other
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
  readonly warn?: (message: string) => void;
}): Ledger {
  const id = sha256Hex(JSON.stringify([key, endpoint]));
  const folder = stateDir === undefined ? undefined : join(stateDir, 'ledger');
  const pause = openPause(folder === undefined ? undefined : join(folder, `${id}.pause.json`));
  let log = folder === undefined ? openMemoryLog([]) : openFileLog(folder, id, warn);
  const isUnlimited = limits.perMinute === 0 && limits.perDay === 0;

  /** Runs `work`; when the files fail, continues with a count of this process alone. */
  async function using<T>(work: (log: Log) => T | Promise<T>): Promise<T> {
    const files = log;
    try {
      return await work(files);
    } catch (error) {
      if (log === files) {
        log = openMemoryLog(timesOrNone(files, now()));
        warn?.(`only the requests of this run are counted: ${ioReason(error)}`);
      }
      return work(log);
    }
  }

  /** Counts a request; the lock is taken only when something else is in the place of the file. */
  async function record(): Promise<void> {
    const at = now();
    await using(async (files) => {
      try {
        files.append(at);
      } catch (error) {
        if (!isNotRegularFile(error)) throw error;
        await files.exclusive(() => {
          files.read(at, true);
          files.append(at);
        });
      }
    });
  }

  function usageOf(times: readonly number[], at: number): Usage {
    const pausedUntil = pause.end(at);
    return {
      perMinute: windowUsage(times, limits.perMinute, MINUTE_MS, at),
      perDay: windowUsage(times, limits.perDay, DAY_MS, at),
      ...(pausedUntil === undefined ? {} : { pausedUntil }),
    };
  }

  /** Returns what keeps a request from being sent at this time. */
  const waitAt = (files: Log, at: number, repair = false): Wait | undefined =>
    longestWait(usageOf(isUnlimited ? [] : files.read(at, repair), at));

  return {
    record,
    async grant() {
      // Those who must wait anyway do not queue for the lock.
      const first = await using((files) => waitAt(files, now()));
      if (first !== undefined) return { granted: false, ...first };
      if (isUnlimited) {
        // Without limits, there is no last request that two processes could both get.
        await record();
        return { granted: true };
      }
      const { at, wait } = await using((files) =>
        files.exclusive(() => {
          const at = now();
          const wait = waitAt(files, at, true);
          if (wait === undefined) files.append(at);
          return { at, wait };
        }),
      );
      if (wait !== undefined) return { granted: false, ...wait };
      return Math.abs(now() - at) > MAX_DELAY_MS ? tooLate(now()) : { granted: true };
    },
    async pauseUntil(until) {
      if (until > now()) await using((files) => files.exclusive(() => pause.extend(until, now())));
    },
    usage: () => using((files) => usageOf(files.read(now()), now())),
  };
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

function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const counted = times.filter((at) => at > now - lengthMs && at <= now + FUTURE_MS).sort((a, b) => a - b);
  const leaving = limit === 0 ? undefined : counted.at(-limit);
  return { limit, used: counted.length, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

/** The pause that the service asked any process for. When its file fails, only this process waits. */
function openPause(path: string | undefined) {
  const file = openJsonFile(path, ({ until }) => (typeof until === 'number' ? { until } : undefined));
  let own = 0;

  /** Returns when the pause ends, if there is one; one of more than a day comes from a clock that was wrong. */
  function end(now: number): number | undefined {
    const ends = [own, file.read()?.until ?? 0].filter((until) => until > now && until <= now + DAY_MS);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  function extend(until: number, now: number): void {
    if (until <= (end(now) ?? now)) return;
    own = Math.min(until, now + DAY_MS);
    file.write({ until: own });
  }

  return { end, extend };
}

function timesOrNone(log: Log, now: number): number[] {
  try {
    return log.read(now);
  } catch {
    return [];
  }
}

/** A log for this process alone. */
function openMemoryLog(times: number[]): Log {
  return {
    append: (at) => void times.push(at),
    read: () => times,
    exclusive: (work) => work(),
  };
}

/**
 * A log shared by processes: a text file `<id>.<date>` for each day (UTC) with a line for each request, its time. It is
 * only ever appended to, so counting needs no lock; granting does. A line break comes before each time, so that a line
 * that was cut off spoils no other.
 */
function openFileLog(folder: string, id: string, warn?: (message: string) => void): Log {
  const pathOf = (at: number): string => join(folder, `${id}.${new Date(at).toISOString().slice(0, 10)}`);

  /** Goes by the names, not by the clock: one that is ahead for a while must not delete the days that count. */
  function deleteOldDays(): void {
    const days = readdirSync(folder).filter((name) => name.startsWith(id) && DAY_NAME.test(name));
    for (const name of days.sort().slice(0, -KEEP_DAYS)) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  /** Needs the lock: without it, a second process could rename the new file of the first. */
  function setAside(path: string): void {
    renameSync(path, `${path}.damaged`);
    warn?.(`${path} was damaged; renamed it to ${path}.damaged`);
  }

  return {
    append(at) {
      const path = pathOf(at);
      if (!existsSync(path)) {
        ensurePrivateFolder(folder);
        deleteOldDays();
      }
      const file = openOwnFile(path, APPEND);
      try {
        writeAll(file, Buffer.from(`\n${at}`));
      } finally {
        closeSync(file);
      }
    },
    read(at, repair = false) {
      return [pathOf(at - DAY_MS), pathOf(at)].flatMap((path) => {
        const times = readTimes(path);
        if (times === undefined && repair) setAside(path);
        return times ?? [];
      });
    },
    exclusive(work) {
      ensurePrivateFolder(folder);
      return withLock(join(folder, id), work);
    },
  };
}

/** Returns the times in a file; lines with something else do not count. Undefined for a file that holds nothing else. */
function readTimes(path: string): number[] | undefined {
  let file: number;
  try {
    file = openOwnFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    if (isNotRegularFile(error)) return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes
      .toString('latin1', 0, length)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const times = lines.map(Number).filter((at) => at >= 0);
    return times.length === 0 && lines.length > 0 ? undefined : times;
  } finally {
    closeSync(file);
  }
}

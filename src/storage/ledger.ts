import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ensurePrivateFolder, writeFileAtomic } from './atomic.ts';
import { isNotRegularFile, openOwnFile, writeAll } from './files.ts';
import { ioReason } from './io-error.ts';
import { withLock } from './lock.ts';

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
  /** Counts one request, whatever the limits say. Not for one that was granted. */
  record(): Promise<void>;
  /** Grants one request now and counts it, if the limits allow it. All processes together never get more than the limits. */
  grant(): Promise<Grant>;
  /** The service asked to wait: nobody is granted a request until then (milliseconds since the epoch; at most a day). */
  pauseUntil(until: number): Promise<void>;
  usage(): Promise<Usage>;
}

/** The store of a shared ledger failed: a run stops, since it cannot know whether it may send more. */
export class SharedStateError extends AppError {}

/** Half a second over the minute: a request recorded at its start may have been sent a little later. */
const MINUTE_MS = 60_500;
export const DAY_MS = 86_400_000;
/** Times further ahead come from a clock that was wrong. */
const FUTURE_MS = 60_000;
const MAX_DELAY_MS = 400;
const MAX_TRIES = 5;
/** Room for some 300,000 requests; of a larger file, only the end counts. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const DAY_NAME = /\.\d{4}-\d\d-\d\d$/;
const TIME_LINE = /^[\d.]+$/m;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** Where the times of requests are kept, in milliseconds since the epoch. */
interface Log {
  append(at: number): void;
  /** Returns the times of the day that ends now, in ascending order. */
  read(now: number): number[];
  readPause(): number | undefined;
  writePause(until: number): void;
  /** Runs `work` while no other process does. Before, damaged files of the day that ends at `at` are set aside. */
  exclusive<T>(at: number, work: () => T): T | Promise<T>;
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
  let log = stateDir === undefined ? openMemoryLog([]) : openFileLog(join(stateDir, 'ledger'), id, warn);

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

  return {
    record: () => using((files) => count(files, now())),
    grant: () =>
      grantInTime(now, MAX_DELAY_MS, () =>
        using(async (files) => {
          const decide = (): Decision => {
            const at = now();
            return { at, wait: waitAt(files, limits, at) };
          };
          const first = decide();
          // Those who must wait anyway do not queue for the lock.
          if (first.wait !== undefined) return first;
          // Without limits, there is no last request that two processes could both get.
          if (isUnlimited(limits)) {
            await count(files, first.at);
            return first;
          }
          return files.exclusive(first.at, () => {
            const last = decide();
            if (last.wait === undefined) files.append(last.at);
            return last;
          });
        }),
      ),
    async pauseUntil(until) {
      const end = Math.min(until, now() + DAY_MS);
      if (end <= now()) return;
      await using((files) =>
        files.exclusive(now(), () => {
          if (end > (pauseEnd(files, now()) ?? 0)) files.writePause(end);
        }),
      );
    },
    usage: () => using((files) => usageOf(files.read(now()), files, limits, now())),
  };
}

/** The obstacle of a request, or none if it was counted, as of a time in milliseconds since the epoch. */
interface Decision {
  readonly at: number;
  readonly wait: Wait | undefined;
}

/**
 * Decides again when a grant comes too late (a suspended machine, a slow network): it was counted at a time that is past.
 */
export async function grantInTime(
  now: () => number,
  maxDelayMs: number,
  decide: () => Promise<Decision>,
): Promise<Grant> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { at, wait } = await decide();
    if (wait !== undefined) return { granted: false, ...wait };
    if (Math.abs(now() - at) <= maxDelayMs) return { granted: true };
  }
  return { granted: false, freeAt: now() + maxDelayMs, window: 'minute' };
}

/** Counts a request; the lock is taken only when something else is in the place of the file. */
async function count(log: Log, at: number): Promise<void> {
  try {
    log.append(at);
  } catch (error) {
    if (!isNotRegularFile(error)) throw error;
    await log.exclusive(at, () => log.append(at));
  }
}

/** Returns what keeps a request from being sent at this time. */
const waitAt = (log: Log, limits: Limits, now: number): Wait | undefined =>
  longestWait(usageOf(isUnlimited(limits) ? [] : log.read(now), log, limits, now));

const isUnlimited = ({ perMinute, perDay }: Limits): boolean => perMinute === 0 && perDay === 0;

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

function usageOf(times: readonly number[], log: Log, { perMinute, perDay }: Limits, now: number): Usage {
  const pausedUntil = pauseEnd(log, now);
  return {
    perMinute: windowUsage(times, perMinute, MINUTE_MS, now),
    perDay: windowUsage(times, perDay, DAY_MS, now),
    ...(pausedUntil === undefined ? {} : { pausedUntil }),
  };
}

function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const end = times.findLastIndex((at) => at <= now + FUTURE_MS) + 1;
  const used = end - 1 - times.findLastIndex((at) => at <= now - lengthMs);
  const leaving = limit > 0 && used >= limit ? times[end - limit] : undefined;
  return { limit, used, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

/** Returns when the pause ends, if there is one; one of more than a day comes from a clock that was wrong. */
function pauseEnd(log: Log, now: number): number | undefined {
  const until = log.readPause();
  return until !== undefined && until > now && until <= now + DAY_MS ? until : undefined;
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
  let pause: number | undefined;
  return {
    append: (at) => void times.push(at),
    read: (now) => times.filter((at) => at > now - DAY_MS).sort((a, b) => a - b),
    readPause: () => pause,
    writePause(until) {
      pause = until;
    },
    exclusive: (_at, work) => work(),
  };
}

/**
 * A log shared by processes: a text file `<id>.<date>` for each day (UTC) with a line for each request, its time. It is
 * only ever appended to, so counting needs no lock; granting does. A line break comes before each time, so that a line
 * that was cut off spoils no other. `<id>.pause` holds the end of a pause.
 */
function openFileLog(folder: string, id: string, warn?: (message: string) => void): Log {
  const pathOf = (at: number): string => join(folder, `${id}.${new Date(at).toISOString().slice(0, 10)}`);
  const pausePath = join(folder, `${id}.pause`);

  /** Needs the lock: without it, a second process could rename the new file of the first. */
  function setAsideIfDamaged(path: string): void {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const text = stats.isFile() ? readEnd(path) : undefined;
    if (text !== undefined && (text.trim() === '' || TIME_LINE.test(text))) return;
    renameSync(path, `${path}.damaged`);
    warn?.(`${path} was damaged; renamed it to ${path}.damaged`);
  }

  /** Goes by the names, not by the clock: one that is ahead for a while must not delete the days that count. */
  function deleteOldDays(): void {
    const days = readdirSync(folder).filter((name) => name.startsWith(id) && DAY_NAME.test(name));
    for (const name of days.sort().slice(0, -KEEP_DAYS)) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
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
    read(now) {
      const times: number[] = [];
      for (const path of [pathOf(now - DAY_MS), pathOf(now)]) {
        for (const line of readEnd(path).split('\n')) {
          const at = Number(line);
          if (line !== '' && at > now - DAY_MS) times.push(at);
        }
      }
      return times.sort((a, b) => a - b);
    },
    readPause() {
      const text = readEnd(pausePath);
      return text === '' ? undefined : Number(text);
    },
    writePause(until) {
      writeFileAtomic(pausePath, String(until), { durable: false, replace: true });
    },
    exclusive(at, work) {
      ensurePrivateFolder(folder);
      return withLock(join(folder, id), () => {
        for (const path of [pathOf(at - DAY_MS), pathOf(at), pausePath]) setAsideIfDamaged(path);
        return work();
      });
    },
  };
}

/** Returns the end of a file as text; '' when there is no regular file. */
function readEnd(path: string): string {
  // A failed open costs much more than this, because of its error.
  if (!existsSync(path)) return '';
  let file: number;
  try {
    file = openOwnFile(path);
  } catch (error) {
    if (isNotRegularFile(error) || systemCode(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('latin1', 0, length);
  } finally {
    closeSync(file);
  }
}

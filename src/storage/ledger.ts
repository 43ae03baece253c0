import { constants, fstatSync, lstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, attempt, systemCode } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { closing, ioReason, isNotRegularFile, OTHER_STATE_FOLDER, writeAll } from './files.ts';
import { withLock } from './lock.ts';
import { OwnFolder, type Warn } from './own-folder.ts';

/** 0 = no limit. */
export interface Limits {
  /** In any 60 seconds. */
  readonly perMinute: number;
  /** In any 24 hours. */
  readonly perDay: number;
}

export interface WindowUsage {
  readonly limit: number;
  readonly used: number;
  /** When the next request is allowed, in milliseconds since the epoch; undefined: now. */
  readonly freeAt?: number;
}

export interface Usage {
  readonly perMinute: WindowUsage;
  readonly perDay: WindowUsage;
  /** In milliseconds since the epoch. */
  readonly pausedUntil?: number;
}

export interface Wait {
  readonly freeAt: number;
  readonly window: 'minute' | 'day' | 'pause';
}

export type Grant = { readonly granted: true } | ({ readonly granted: false } & Wait);

/** Counts the requests that all processes send with one key to one endpoint. */
export interface Ledger {
  record(): Promise<void>;
  /** Grants and counts one request. All processes together never exceed the limits. */
  grant(): Promise<Grant>;
  /** For a pause that the service requested: grants nothing until a time, at most a day ahead. */
  pauseUntil(until: number): Promise<void>;
  usage(): Promise<Usage>;
}

/** The store of a shared ledger failed. The run stops, because it cannot know whether it may send requests. */
export class SharedStateError extends AppError {}

/** A grant that arrived too late to be used. */
export const tooLate = (now: number): Grant => ({
  granted: false,
  freeAt: now + MAX_DELAY_MS,
  window: 'minute',
});

/** Half a second more than a minute, because a request may be sent a little later than it was recorded. */
const MINUTE_MS = 60_500;
/** A grant that takes longer (a suspended machine, a slow disk) was counted too early. */
const MAX_DELAY_MS = 400;

interface Records {
  readonly requests: TimeLog;
  readonly pauses: TimeLog;
  exclusive<T>(work: () => T): T | Promise<T>;
}

interface LedgerOptions extends Limits {
  readonly stateDir: string | undefined;
  readonly key: string;
  readonly endpoint: string;
  readonly now: () => number;
  readonly warn?: Warn;
}

export const openLedger = (options: LedgerOptions): Ledger => new FileLedger(options);

class FileLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #isUnlimited: boolean;
  #records: Records;

  constructor(options: LedgerOptions) {
    const { stateDir, key, endpoint, warn, perMinute, perDay } = options;
    const id = sha256Hex(JSON.stringify([key, endpoint]));
    this.#options = options;
    this.#isUnlimited = perMinute === 0 && perDay === 0;
    this.#records = stateDir === undefined ? ownRecords() : sharedRecords(join(stateDir, 'ledger'), id, warn);
  }

  /** If the files fail, continues with records for this process only. */
  async #use<T>(work: (records: Records) => T | Promise<T>): Promise<T> {
    const records = this.#records;
    try {
      return await work(records);
    } catch (error) {
      if (this.#records === records) {
        this.#records = ownRecords(records, this.#options.now());
        const problem = `only the requests of this run are counted: ${ioReason(error)}`;
        this.#options.warn?.(`${problem}; ${OTHER_STATE_FOLDER}`, OTHER_STATE_FOLDER);
      }
      return work(this.#records);
    }
  }

  #usageAt(at: number, times: readonly number[], { pauses }: Records): Usage {
    const { perMinute, perDay } = this.#options;
    const pausedUntil = pauseAt(at, pauses);
    return {
      perMinute: windowUsage(times, perMinute, MINUTE_MS, at),
      perDay: windowUsage(times, perDay, DAY_MS, at),
      ...(pausedUntil === undefined ? {} : { pausedUntil }),
    };
  }

  #tryNow(records: Records, counts: boolean): { at: number; wait: Wait | undefined } {
    const at = this.#options.now();
    const wait = longestWait(this.#usageAt(at, this.#isUnlimited ? [] : records.requests.read(at), records));
    if (wait === undefined && counts) records.requests.append(at);
    return { at, wait };
  }

  record(): Promise<void> {
    return this.#use(({ requests }) => requests.append(this.#options.now()));
  }

  async grant(): Promise<Grant> {
    const { at, wait } = await this.#use((records) => {
      const early = this.#tryNow(records, this.#isUnlimited);
      // The lock prevents two processes from taking the last request.
      if (this.#isUnlimited || early.wait !== undefined) return early;
      return records.exclusive(() => this.#tryNow(records, true));
    });
    if (wait !== undefined) return { granted: false, ...wait };
    if (this.#isUnlimited || Math.abs(this.#options.now() - at) <= MAX_DELAY_MS) return { granted: true };
    await this.#use(({ requests }) => requests.remove(at));
    return tooLate(this.#options.now());
  }

  async pauseUntil(until: number): Promise<void> {
    const at = this.#options.now();
    if (until > at) await this.#use(({ pauses }) => pauses.append(Math.min(until, at + DAY_MS)));
  }

  usage(): Promise<Usage> {
    const at = this.#options.now();
    return this.#use((records) => this.#usageAt(at, records.requests.read(at), records));
  }
}

function sharedRecords(path: string, id: string, warn: Warn | undefined): Records {
  const folder = new OwnFolder(path);
  return {
    requests: openFileLog(folder, id, warn),
    pauses: openFileLog(folder, `${id}.pause`, warn),
    exclusive(work) {
      folder.create();
      return withLock(join(path, id), work);
    },
  };
}

/** For this process only. @param shared the failed records, whose readable times are copied */
function ownRecords(shared?: Records, now = 0): Records {
  const timesOf = (log: TimeLog | undefined): number[] => [...(attempt(() => log?.read(now)) ?? [])];
  return {
    requests: openMemoryLog(timesOf(shared?.requests)),
    pauses: openMemoryLog(timesOf(shared?.pauses)),
    exclusive: (work) => work(),
  };
}

/** A pause of more than a day comes from a wrong clock. */
function pauseAt(now: number, pauses: TimeLog): number | undefined {
  const ends = pauses.read(now).filter((end) => end > now && end <= now + DAY_MS);
  return ends.sort((a, b) => a - b).at(-1);
}

/** Counts times ahead, too, because the clock may have been set back; but none further ahead than the window. */
function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const counted = times.filter((at) => at > now - lengthMs && at <= now + lengthMs).sort((a, b) => a - b);
  const leaving = limit === 0 ? undefined : counted.at(-limit);
  return { limit, used: counted.length, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

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

interface TimeLog {
  append(time: number): void;
  remove(time: number): void;
  /** The times within 24 hours of `now`, and possibly others. */
  read(now: number): readonly number[];
}

export const DAY_MS = 86_400_000;
/** About 300,000 times. Of a larger file, only the end is read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const APPEND = constants.O_WRONLY | constants.O_APPEND;

function openMemoryLog(times: number[]): TimeLog {
  return {
    append: (time) => void times.push(time),
    remove: (time) => void times.splice(times.lastIndexOf(time), 1),
    read: () => times,
  };
}

/**
 * A file `<name>.<date>` for each day (UTC), with one time per line; a negative one takes that time back. It is only
 * appended to, which needs no lock. Each time follows a line break, in case the line before it was cut off. A file with
 * other content is renamed, also without a lock; the few requests that others count meanwhile are lost with it.
 */
function openFileLog(folder: OwnFolder, name: string, warn?: Warn): TimeLog {
  const days = new RegExp(`^${name.replaceAll('.', '\\.')}\\.\\d{4}-\\d\\d-\\d\\d$`);
  const fileOf = (time: number): string => `${name}.${new Date(time).toISOString().slice(0, 10)}`;

  // By name, because a clock that is ahead for a while must not delete days that count.
  const deleteOldDays = () => folder.deleteFiles(folder.names(days).sort().slice(0, -KEEP_DAYS));

  function openToAppend(file: string): number {
    try {
      return folder.open(file, APPEND);
    } catch (error) {
      if (isNotRegularFile(error)) folder.setAside(file, warn);
      else if (systemCode(error) !== 'ENOENT') throw error;
      folder.create();
      deleteOldDays();
      return folder.open(file, APPEND | constants.O_CREAT);
    }
  }

  function writeLine(day: number, text: string): void {
    closing(openToAppend(fileOf(day)), (file) => writeAll(file, Buffer.from(`\n${text}`)));
  }

  return {
    append: (time) => writeLine(time, `${time}`),
    remove: (time) => writeLine(time, `-${time}`),
    read: (now) =>
      [now - DAY_MS, now, now + DAY_MS].flatMap((day) => {
        const times = readTimes(folder, fileOf(day));
        if (times === undefined) folder.setAside(fileOf(day), warn);
        return times ?? [];
      }),
  };
}

function readTimes(folder: OwnFolder, name: string): number[] | undefined {
  // Much faster than the error of a failed open.
  if (lstatSync(join(folder.path, name), { throwIfNoEntry: false }) === undefined) return [];
  let file: number;
  try {
    file = folder.open(name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    if (isNotRegularFile(error)) return undefined;
    throw error;
  }
  return closing(file, () => {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return parseTimes(bytes.toString('latin1', 0, length));
  });
}

function parseTimes(text: string): number[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const numbers = lines.map(Number);
  const times = numbers.filter((time) => time >= 0);
  if (times.length === 0 && lines.length > 0) return undefined;
  for (const time of numbers.filter((each) => each < 0)) {
    const index = times.lastIndexOf(-time);
    if (index !== -1) times.splice(index, 1);
  }
  return times;
}

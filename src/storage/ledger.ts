import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, attempt } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ioReason, isNotRegularFile, OTHER_STATE_FOLDER } from './files.ts';
import { withLock } from './lock.ts';
import { Log } from './log.ts';
import { OwnFolder, type Warn } from './store.ts';

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
  /** Takes back the latest request that this process counted and has not taken back: it did not reach the service. */
  release(): Promise<void>;
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
  readonly requests: Times;
  readonly pauses: Times;
  /** Does the work with the lock, and shortens the files if that is due. */
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
  /** The times of the latest requests that were counted. */
  #counted: readonly number[] = [];

  constructor(options: LedgerOptions) {
    const { stateDir, key, endpoint, perMinute, perDay } = options;
    const id = sha256Hex(JSON.stringify([key, endpoint]));
    this.#options = options;
    this.#isUnlimited = perMinute === 0 && perDay === 0;
    this.#records =
      stateDir === undefined ? ownRecords() : sharedRecords(join(stateDir, 'ledger'), id, options);
  }

  /** If the files fail, continues with records for this process only. */
  async #use<T>(work: (records: Records) => T | Promise<T>): Promise<T> {
    const records = this.#records;
    try {
      return await work(records);
    } catch (error) {
      if (this.#records === records) {
        this.#records = ownRecords(records);
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
    const wait = longestWait(this.#usageAt(at, this.#isUnlimited ? [] : records.requests.read(), records));
    if (wait === undefined && counts) this.#count(records, at);
    return { at, wait };
  }

  #count({ requests }: Records, at: number): void {
    requests.append(at);
    this.#counted = [...this.#counted.slice(1 - MAX_RELEASED), at];
  }

  /** With the lock: a line that is appended while another process shortens the file would be lost. */
  record(): Promise<void> {
    return this.#use((records) => records.exclusive(() => this.#count(records, this.#options.now())));
  }

  async release(): Promise<void> {
    const at = this.#counted.at(-1);
    if (at === undefined) return;
    this.#counted = this.#counted.slice(0, -1);
    await this.#use(({ requests, exclusive }) => exclusive(() => requests.append(-at)));
  }

  async grant(): Promise<Grant> {
    const { at, wait } = await this.#use((records) => {
      const early = this.#tryNow(records, false);
      // The lock prevents two processes from taking the last request.
      return early.wait === undefined ? records.exclusive(() => this.#tryNow(records, true)) : early;
    });
    if (wait !== undefined) return { granted: false, ...wait };
    if (this.#isUnlimited || Math.abs(this.#options.now() - at) <= MAX_DELAY_MS) return { granted: true };
    await this.release();
    return tooLate(this.#options.now());
  }

  async pauseUntil(until: number): Promise<void> {
    const at = this.#options.now();
    if (until <= at) return;
    const end = Math.min(until, at + DAY_MS);
    await this.#use(({ pauses, exclusive }) => exclusive(() => pauses.append(end)));
  }

  usage(): Promise<Usage> {
    const at = this.#options.now();
    return this.#use((records) => this.#usageAt(at, records.requests.read(), records));
  }
}

function sharedRecords(path: string, id: string, options: LedgerOptions): Records {
  const folder = new OwnFolder(path);
  const requests = new FileTimes(folder, id, options);
  const pauses = new FileTimes(folder, `${id}.pause`, options);
  return {
    requests,
    pauses,
    exclusive(work) {
      folder.create();
      return withLock(join(path, id), () => {
        const result = work();
        for (const times of [requests, pauses]) if (times.isHalfOld) times.shorten();
        return result;
      });
    },
  };
}

/** For this process only. @param shared the failed records, whose readable times are copied */
function ownRecords(shared?: Records): Records {
  const timesOf = (times: Times | undefined): number[] => [...(attempt(() => times?.read()) ?? [])];
  return {
    requests: memoryTimes(timesOf(shared?.requests)),
    pauses: memoryTimes(timesOf(shared?.pauses)),
    exclusive: (work) => work(),
  };
}

/** A pause of more than a day comes from a wrong clock. */
function pauseAt(now: number, pauses: Times): number | undefined {
  const ends = pauses.read().filter((end) => end > now && end <= now + DAY_MS);
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

interface Times {
  /** Whether an append found that more than half of the file is older than a day. */
  readonly isHalfOld: boolean;
  /** A negative time takes that time back. */
  append(time: number): void;
  /** At least those of the last 24 hours. */
  read(): readonly number[];
}

export const DAY_MS = 86_400_000;
/** About 300,000 times. Of a larger file, only the end is read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** A line of the middle is in a part of this size. */
const MIDDLE_BYTES = 64;
/** Old times that are kept, because the clock may be ahead for a while; a file with twice as many is shortened. */
const KEPT_TIMES = 2000;
const LINE_BYTES = 14;
/** The number of requests that can be taken back. */
export const MAX_RELEASED = 100;

const memoryTimes = (times: number[]): Times => ({
  isHalfOld: false,
  append: (time) => void times.push(time),
  read: () => effective(times),
});

/** A file with one time per line. A file with other content is renamed. */
class FileTimes implements Times {
  isHalfOld = false;
  readonly #folder: OwnFolder;
  readonly #name: string;
  readonly #options: LedgerOptions;

  constructor(folder: OwnFolder, name: string, options: LedgerOptions) {
    this.#folder = folder;
    this.#name = `${name}.ndjson`;
    this.#options = options;
  }

  append(time: number): void {
    this.#folder.create();
    const log = this.#open('create') ?? this.#open('create');
    if (log === undefined) return;
    try {
      log.endLastLine();
      log.append(`${time}`, 'never');
      this.isHalfOld = log.size > 2 * KEPT_TIMES * LINE_BYTES && this.#isOld(middleOf(log));
    } finally {
      log.close();
    }
  }

  read(): readonly number[] {
    const log = this.#open('read');
    if (log === undefined) return [];
    try {
      const start = Math.max(0, log.size - MAX_READ_BYTES);
      const text = log.read(start, log.size - start);
      const times = parseTimes(start === 0 ? text : text.slice(text.indexOf('\n')));
      if (times === undefined) this.#folder.setAside(this.#name, this.#options.warn);
      return effective(times ?? []);
    } finally {
      log.close();
    }
  }

  /** @returns undefined if there is no file, or one that was renamed */
  #open(access: 'read' | 'create'): Log | undefined {
    const path = join(this.#folder.path, this.#name);
    // Much faster than the error of a failed open.
    if (access === 'read' && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    this.#folder.check();
    try {
      return Log.open(path, access);
    } catch (error) {
      if (!isNotRegularFile(causeOf(error))) throw error;
      this.#folder.setAside(this.#name, this.#options.warn);
      return undefined;
    }
  }

  #isOld(time: number): boolean {
    return time < this.#options.now() - DAY_MS;
  }

  /** The caller has the lock. */
  shorten(): void {
    this.isHalfOld = false;
    const times = this.read();
    const kept = times.filter((time, index) => !this.#isOld(time) || index >= times.length - KEPT_TIMES);
    this.#folder.write(this.#name, kept.map((time) => `${time}\n`).join(''));
  }
}

const causeOf = (error: unknown): unknown => (error instanceof AppError ? error.cause : error);

/** @returns a time that was added when the file had half its size */
function middleOf(log: Log): number {
  const [, line = ''] = log.read(Math.floor(log.size / 2), MIDDLE_BYTES).split('\n');
  return line === '' ? Number.NaN : Math.abs(Number(line));
}

/** @returns undefined if there is text, but no time */
function parseTimes(text: string): number[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const times = lines.map(Number).filter((time) => !Number.isNaN(time));
  return times.length === 0 && lines.length > 0 ? undefined : times;
}

function effective(times: readonly number[]): number[] {
  const left = times.filter((time) => time >= 0);
  for (const time of times.filter((each) => each < 0)) {
    const index = left.lastIndexOf(-time);
    if (index !== -1) left.splice(index, 1);
  }
  return left;
}

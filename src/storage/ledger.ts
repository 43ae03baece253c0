import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, attempt } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ioReason, isNotRegularFile, OTHER_STATE_FOLDER } from './files.ts';
import { withLock } from './lock.ts';
import { CUT_OFF, Log } from './log.ts';
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

/** Takes back a request that was counted, but did not reach the service. */
export type TakeBack = () => Promise<void>;

export type Grant =
  | ({ readonly granted: false } & Wait)
  | {
      readonly granted: true;
      /** A request that is sent later was counted too early. */
      readonly usableUntil: number;
      readonly takeBack: TakeBack;
    };

/** Counts the requests that all processes send with one key to one endpoint. */
export interface Ledger {
  record(): Promise<TakeBack>;
  /** Grants and counts one request. All processes together never exceed the limits. */
  grant(): Promise<Grant>;
  /** For a pause that the service requested: grants nothing until a time, at most a day ahead. */
  pauseUntil(until: number): Promise<void>;
  usage(): Promise<Usage>;
}

/** The store of a shared ledger failed. The run stops, because it cannot know whether it may send requests. */
export class SharedStateError extends AppError {}

export const DAY_MS = 86_400_000;
/** Half a second more than a minute, because a request may be sent a little later than it was recorded. */
const MINUTE_MS = 60_500;
const MAX_DELAY_MS = 400;

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

/** @param ends of pauses. One of more than a day comes from a wrong clock */
function usageAt(now: number, limits: Limits, times: readonly number[], ends: readonly number[]): Usage {
  const pausedUntil = ends.filter((end) => end > now && end <= now + DAY_MS).sort((a, b) => b - a)[0];
  return {
    perMinute: windowUsage(times, limits.perMinute, MINUTE_MS, now),
    perDay: windowUsage(times, limits.perDay, DAY_MS, now),
    ...(pausedUntil === undefined ? {} : { pausedUntil }),
  };
}

/** Counts times ahead, too, because the clock may have been set back; but none further ahead than the window. */
function windowUsage(times: readonly number[], limit: number, lengthMs: number, now: number): WindowUsage {
  const counted = times.filter((at) => at > now - lengthMs && at <= now + lengthMs).sort((a, b) => a - b);
  const leaving = limit === 0 ? undefined : counted.at(-limit);
  return { limit, used: counted.length, ...(leaving === undefined ? {} : { freeAt: leaving + lengthMs }) };
}

interface LedgerOptions extends Limits {
  readonly stateDir: string | undefined;
  readonly key: string;
  readonly endpoint: string;
  readonly now: () => number;
  readonly warn?: Warn;
}

/** The ledger of this machine; without a folder, that of this process. */
export const openLedger = (options: LedgerOptions): Ledger => new MachineLedger(options);

class MachineLedger implements Ledger {
  readonly #options: LedgerOptions;
  #requests: Times;
  #pauses: Times;

  constructor(options: LedgerOptions) {
    const { stateDir, key, endpoint } = options;
    const id = sha256Hex(JSON.stringify([key, endpoint]));
    const open = (name: string) =>
      stateDir === undefined ? new OwnTimes() : new FileTimes(join(stateDir, 'ledger'), name, options);
    this.#options = options;
    this.#requests = open(`${id}.ndjson`);
    this.#pauses = open(`${id}.pause.ndjson`);
  }

  /** If the files fail, continues with the times in them that can be read, for this process only. */
  async #use<T>(work: () => T | Promise<T>): Promise<T> {
    const requests = this.#requests;
    try {
      return await work();
    } catch (error) {
      if (this.#requests === requests) {
        this.#requests = new OwnTimes(attempt(() => requests.read()));
        this.#pauses = new OwnTimes(attempt(() => this.#pauses.read()));
        const problem = `only the requests of this run are counted: ${ioReason(error)}`;
        this.#options.warn?.(`${problem}; ${OTHER_STATE_FOLDER}`, OTHER_STATE_FOLDER);
      }
      return work();
    }
  }

  get #isUnlimited(): boolean {
    return this.#options.perMinute === 0 && this.#options.perDay === 0;
  }

  /** Counts a request, unless it must wait. */
  #count(waitAt: (now: number) => Wait | undefined): Promise<Grant> {
    const { now } = this.#options;
    return this.#use(async () => {
      let at = now();
      let wait = waitAt(at);
      // The lock prevents two processes from taking the last request.
      const next = (): number | undefined => {
        at = now();
        wait = waitAt(at);
        return wait === undefined ? at : undefined;
      };
      if (wait === undefined) await this.#requests.add(next);
      if (wait !== undefined) return { granted: false, ...wait };
      const takeBack = () => this.#use(() => this.#requests.add(() => -at));
      const usableUntil = this.#isUnlimited ? Number.POSITIVE_INFINITY : at + MAX_DELAY_MS;
      return { granted: true, usableUntil, takeBack };
    });
  }

  async record(): Promise<TakeBack> {
    const counted = await this.#count(() => undefined);
    return counted.granted ? counted.takeBack : async () => {};
  }

  grant(): Promise<Grant> {
    const times = () => (this.#isUnlimited ? [] : this.#requests.read());
    return this.#count((now) => longestWait(usageAt(now, this.#options, times(), this.#pauses.read())));
  }

  async pauseUntil(until: number): Promise<void> {
    const now = this.#options.now();
    if (until > now) await this.#use(() => this.#pauses.add(() => Math.min(until, now + DAY_MS)));
  }

  usage(): Promise<Usage> {
    const now = this.#options.now();
    return this.#use(() => usageAt(now, this.#options, this.#requests.read(), this.#pauses.read()));
  }
}

interface Times {
  /** At least those of the last 24 hours that were not taken back. */
  read(): readonly number[];
  /** Adds the time that `next` returns, if any; a negative one takes that time back. No other process adds one meanwhile. */
  add(next: () => number | undefined): void | Promise<void>;
}

class OwnTimes implements Times {
  readonly #times: number[];

  constructor(times: readonly number[] = []) {
    this.#times = [...times];
  }

  read(): readonly number[] {
    return effective(this.#times);
  }

  add(next: () => number | undefined): void {
    const time = next();
    if (time !== undefined) this.#times.push(time);
  }
}

/** About 300,000 times. Of a larger file, only the end is read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** A line of the middle is in a part of this size. */
const MIDDLE_BYTES = 64;
/** Old times that are kept, because the clock may be ahead for a while; a file with twice as many is shortened. */
const KEPT_TIMES = 2000;
const LINE_BYTES = 14;

/** A file with one time per line. A file with other content is renamed. */
class FileTimes implements Times {
  readonly #folder: OwnFolder;
  readonly #name: string;
  readonly #path: string;
  readonly #options: LedgerOptions;

  constructor(folder: string, name: string, options: LedgerOptions) {
    this.#folder = new OwnFolder(folder);
    this.#name = name;
    this.#path = join(folder, name);
    this.#options = options;
  }

  read(): readonly number[] {
    // Much faster than the error of a failed open.
    if (lstatSync(this.#path, { throwIfNoEntry: false }) === undefined) return [];
    const text = this.#use('read', (log) => {
      const start = Math.max(0, log.size - MAX_READ_BYTES);
      const end = log.read(start, log.size - start);
      return start === 0 ? end : end.slice(end.indexOf('\n'));
    });
    const times = parseTimes(text ?? '');
    if (times === undefined) this.#folder.setAside(this.#name, this.#options.warn);
    return effective(times ?? []);
  }

  async add(next: () => number | undefined): Promise<void> {
    this.#folder.create();
    await withLock(this.#path, () => {
      const time = next();
      if (time === undefined) return;
      const append = () => this.#use('create', (log) => this.#append(log, time));
      if ((append() ?? append()) === true) this.#shorten();
    });
  }

  /** @returns undefined if there is no file, or one that was renamed */
  #use<T>(access: 'read' | 'create', work: (log: Log) => T): T | undefined {
    this.#folder.check();
    let log: Log | undefined;
    try {
      log = Log.open(this.#path, access);
      return log && work(log);
    } catch (error) {
      if (!isNotRegularFile(error instanceof AppError ? error.cause : error)) throw error;
      this.#folder.setAside(this.#name, this.#options.warn);
      return undefined;
    } finally {
      log?.close();
    }
  }

  /** @returns whether more than half of the file is older than a day: its lines are in the order of time */
  #append(log: Log, time: number): boolean {
    log.endLastLine();
    log.append(`${time}`, 'never');
    if (log.size <= 2 * KEPT_TIMES * LINE_BYTES) return false;
    const [, line = ''] = log.read(Math.floor(log.size / 2), MIDDLE_BYTES).split('\n');
    return line !== '' && this.#isOld(Math.abs(Number(line)));
  }

  #isOld(time: number): boolean {
    return time < this.#options.now() - DAY_MS;
  }

  #shorten(): void {
    const times = this.read();
    const kept = times.filter((time, index) => !this.#isOld(time) || index >= times.length - KEPT_TIMES);
    this.#folder.write(this.#name, kept.map((time) => `${time}\n`).join(''));
  }
}

/** @returns undefined if there is text, but no time */
function parseTimes(text: string): number[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // A time that only lacked its line break counts; one of fewer digits is long past.
  const times = lines.map((line) => Number(line.replace(CUT_OFF, ''))).filter((time) => !Number.isNaN(time));
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

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { writeAll } from './files.ts';
import { ioError } from './io-error.ts';

// Own design: proper-lockfile learns of a killed holder only by a stale mtime, seconds later, and names no owner.
// Each contender appends one line; the first line whose process runs holds the lock; the holder deletes the file.
// Appending orders the contenders, so a dead holder is passed over without a moment in which two could take its place.

/** The part of the context that waiting needs. */
export type Clock = Pick<Context, 'now' | 'sleep'>;

export interface Lock {
  /** Gives the lock back. A second call does nothing. */
  release(): void;
}

export interface LockOptions {
  /** How long to wait for another process, in milliseconds. Default 10 s. */
  readonly waitMs?: number;
  /** Default: the system's. Another process does not follow a made-up clock. */
  readonly clock?: Clock;
}

interface Claim {
  readonly token: string;
  readonly process: ProcessIdentity;
}

interface Entry {
  readonly path: string;
  readonly file: number;
  readonly token: string;
}

const MAX_BYTES = 1_048_576;
const MAX_REPLACED = 100;
const systemClock: Clock = { now: () => Date.now(), sleep: (ms) => sleep(ms) };

/**
 * Takes the lock that guards `path` (the file `<path>.lock`), without waiting. A killed holder's lock is taken over.
 * @throws {AppError} `in_use` when another holds it; `io_error` when the lock file cannot be written.
 */
export function tryLock(path: string): Lock {
  const entry = enter(path);
  const result = settle(entry);
  if ('release' in result) return result;
  withdraw(result.entry);
  throw inUse(path, result.holder);
}

/**
 * Runs `run` while holding the lock that guards `path`, and gives it back however that ends.
 * @throws {AppError} `in_use` when another process holds it longer than `waitMs`; what `run` throws.
 */
export async function withLock<T>(
  path: string,
  run: () => T | Promise<T>,
  { waitMs = 10_000, clock = systemClock }: LockOptions = {},
): Promise<T> {
  const lock = await wait(path, waitMs, clock);
  try {
    return await run();
  } finally {
    lock.release();
  }
}

async function wait(path: string, waitMs: number, clock: Clock): Promise<Lock> {
  const deadline = clock.now() + waitMs;
  let entry = enter(path);
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    const result = settle(entry);
    if ('release' in result) return result;
    entry = result.entry;
    const left = deadline - clock.now();
    if (left <= 0) {
      withdraw(entry);
      throw inUse(path, result.holder);
    }
    try {
      await clock.sleep(Math.min(pause, left));
    } catch (error) {
      withdraw(entry);
      throw error;
    }
  }
}

function enter(path: string): Entry {
  const lockPath = `${path}.lock`;
  const token = randomBytes(8).toString('hex');
  const claim: Claim = { token, process: currentProcess(Date.now()) };
  try {
    const file = openSync(lockPath, 'a+', 0o600);
    try {
      writeAll(file, Buffer.from(`\n${JSON.stringify(claim)}\n`));
    } catch (error) {
      // On a full disk: who else has it open queues in its successor.
      if (fstatSync(file).size === 0) rmSync(lockPath, { force: true });
      closeSync(file);
      throw error;
    }
    return { path: lockPath, file, token };
  } catch (error) {
    throw ioError('lock', path, error);
  }
}

/** Sees who holds the lock. Where the holder deleted the file meanwhile, queues anew in its successor. */
function settle(first: Entry): Lock | { entry: Entry; holder: Claim } {
  let entry = first;
  for (let replaced = 0; ; replaced += 1) {
    const holder = firstRunning(readClaims(entry.file), entry.token);
    if (isCurrent(entry)) {
      if (holder === undefined) throw damaged(entry);
      return holder.token === entry.token ? lockOf(entry) : { entry, holder };
    }
    closeSync(entry.file);
    if (replaced === MAX_REPLACED) throw new AppError('in_use', `the lock file ${entry.path} keeps changing`);
    entry = enter(entry.path.slice(0, -'.lock'.length));
  }
}

function firstRunning(claims: readonly Claim[], own: string): Claim | undefined {
  return claims.find((claim) => claim.token === own || isRunning(claim.process));
}

/** Whether the open file is still the one at its path. The open descriptor keeps its inode from being given out again. */
function isCurrent({ path, file }: Entry): boolean {
  try {
    const [ours, theirs] = [fstatSync(file, { bigint: true }), statSync(path, { bigint: true })];
    return ours.ino === theirs.ino && ours.dev === theirs.dev;
  } catch {
    return false;
  }
}

/** Our own claim is not in it: overfull, or cut by hand. */
function damaged(entry: Entry): AppError {
  withdraw(entry);
  return new AppError('in_use', `the lock file ${entry.path} is damaged`, {
    hint: `when no other process is running: rm ${shellWord(entry.path)}`,
  });
}

/** Claims in the order they were made, without those that were given up. */
function readClaims(file: number): Claim[] {
  const buffer = Buffer.alloc(Math.min(fstatSync(file).size, MAX_BYTES));
  const length = readSync(file, buffer, 0, buffer.length, 0);
  const claims = new Map<string, Claim>();
  for (const line of buffer.toString('utf8', 0, length).split('\n')) {
    const record = parseRecord(line);
    if (record === undefined) continue;
    if ('gone' in record) claims.delete(record.gone);
    else claims.set(record.token, record);
  }
  return [...claims.values()];
}

function parseRecord(line: string): Claim | { gone: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const record = JSON.parse(line);
    if (typeof record.gone === 'string') return { gone: record.gone };
    return typeof record.token === 'string' && typeof record.process?.pid === 'number' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** A claim that is not wanted any more must not become the holder's. */
function withdraw({ file, token }: Entry): void {
  try {
    writeAll(file, Buffer.from(`\n${JSON.stringify({ gone: token })}\n`));
  } catch {
    // Until this process ends, others find the lock held.
  } finally {
    closeSync(file);
  }
}

function lockOf(entry: Entry): Lock {
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      try {
        // Not when someone removed the file by hand: then the path may hold another's lock.
        if (isCurrent(entry)) rmSync(entry.path);
        closeSync(entry.file);
      } catch {
        withdraw(entry);
      }
    },
  };
}

function inUse(path: string, { process }: Claim): AppError {
  return new AppError('in_use', `${path} is in use by process ${process.pid} on ${process.host}`, {
    hint: `wait for process ${process.pid}; if it is gone for good: rm ${shellWord(`${path}.lock`)}`,
  });
}

/** Which process it was, so that its number in the hands of another is not taken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot; Linux alone tells it cheaply. */
  readonly start?: string;
  /** Id of the running kernel; Linux. */
  readonly boot?: string;
  /** Process number space (container); Linux. */
  readonly space?: string;
  readonly host: string;
  /** When this was written down, in milliseconds since the epoch. */
  readonly at: number;
}

/** This process. @param now milliseconds since the epoch. */
export function currentProcess(now: number): ProcessIdentity {
  return {
    pid,
    start: linuxProcess(pid)?.start,
    boot: bootId(),
    space: numberSpace(),
    host: hostname(),
    at: now,
  };
}

/**
 * Whether the process still runs. Of a process on another machine or in another container nothing can be known:
 * it counts as running.
 */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.boot !== bootId()) return identity.host !== hostname();
  if (identity.boot === undefined ? identity.host !== hostname() : identity.space !== numberSpace())
    return true;
  if (!exists(identity.pid)) return false;
  const found = linuxProcess(identity.pid);
  if (found !== undefined) return !found.ended && found.start === identity.start;
  const startedAt = identity.boot === undefined ? startByPs(identity.pid) : undefined;
  return startedAt === undefined || startedAt <= identity.at + 1000;
}

function exists(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** proc_pid_stat(5): the name stands in parentheses and may hold some itself; state is field 3, start time field 22. */
function linuxProcess(pid: number): { start: string; ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const start = fields[19];
    return start === undefined ? undefined : { start, ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

function numberSpace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Start time by ps(1), to the second: macOS and the BSDs. */
function startByPs(pid: number): number | undefined {
  try {
    const options = {
      encoding: 'latin1',
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: 'pipe',
    } as const;
    const time = Date.parse(execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim());
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}

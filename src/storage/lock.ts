import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { ioError, shellWord } from './io-error.ts';
import { currentProcess, isRunning, type ProcessIdentity } from './process-identity.ts';
import { writeAll } from './write.ts';

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

import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { kill, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { isNotRegularFile, openOwnFile, randomName, readAll, writeAll } from './files.ts';
import { ioError } from './io-error.ts';

/** Identifies a process even after its pid was given to another. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Pid namespace, which differs between containers (Linux). */
  readonly namespace?: string;
  /** Id of the running kernel, and start time in clock ticks since boot (Linux). */
  readonly start?: string;
}

export interface Lock {
  /** Releases the lock. A second call does nothing. */
  release(): void;
}

/** The content of a lock file. `key` identifies this one among all that have had its path. */
interface Holder {
  readonly key: string;
  /** Undefined while its creator has not written it yet. */
  readonly owner: ProcessIdentity | undefined;
  readonly createdAt: number;
}

const MAX_BYTES = 65_536;
const MAX_ATTEMPTS = 100;
/** Between creating a lock file and writing to it: whoever needs longer was killed. */
const EMPTY_MS = 5000;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * Takes the lock that guards `path` (the file `<path>.lock`), without waiting. The lock of a process that no longer runs
 * is taken over.
 * @throws {AppError} `in_use` when another process holds it; `io_error` when the lock file cannot be written or is not
 *   this user's.
 */
export function tryLock(path: string): Lock {
  const result = acquire(`${path}.lock`, path);
  if ('release' in result) return result;
  throw inUse(path, result);
}

/**
 * Runs `run` while holding the lock that guards `path`, and releases it however that ends.
 * @param waitMs how long to wait for another process, in milliseconds.
 * @throws {AppError} as {@link tryLock}, `in_use` after `waitMs`; what `run` throws.
 */
export async function withLock<T>(path: string, run: () => T | Promise<T>, waitMs = 10_000): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const result = acquire(`${path}.lock`, path);
    if ('release' in result) {
      try {
        return await run();
      } finally {
        result.release();
      }
    }
    const left = deadline - Date.now();
    if (left <= 0) throw inUse(path, result);
    await sleep(Math.min(pause, left));
  }
}

/** Takes the lock, or returns who holds it. @param path as messages name it. */
function acquire(lockPath: string, path: string): Lock | Holder {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const lock = create(lockPath);
      if (lock !== undefined) return lock;
      const holder = readHolder(lockPath, path);
      if (holder === undefined) continue;
      if (!isStale(holder) || !removeStale(lockPath, holder, path)) return holder;
    }
  } catch (error) {
    throw ioError('lock', path, error);
  }
  throw new AppError('in_use', `the lock file ${lockPath} keeps changing`);
}

/** Creates the lock file; returns undefined when there is one. */
function create(lockPath: string): Lock | undefined {
  let file: number;
  try {
    file = openSync(lockPath, CREATE, 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  const key = randomName();
  try {
    writeAll(file, Buffer.from(`${JSON.stringify({ key, ...currentProcess() })}\n`));
    // Deleted meanwhile as one whose creator was killed.
    if (fstatSync(file).nlink === 0) return undefined;
  } catch (error) {
    rmSync(lockPath, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      try {
        // Not when someone removed the file by hand: then it may be another's.
        if (readHolder(lockPath, lockPath)?.key === key) rmSync(lockPath);
      } catch {
        // Until this process ends, others find the lock held.
      }
    },
  };
}

/** Reads a lock file; returns undefined when there is none. @throws {AppError} when it is not a lock of this user. */
function readHolder(lockPath: string, path: string): Holder | undefined {
  let file: number;
  try {
    file = openOwnFile(lockPath);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (isNotRegularFile(error)) throw notALock(lockPath);
    if (error instanceof AppError || systemCode(error) === 'EACCES') {
      throw ioError('lock', path, error, 'write to a folder of your own: -o <folder>/out.csv');
    }
    throw error;
  }
  try {
    const { ino, mtimeMs } = fstatSync(file);
    const text = readAll(file, MAX_BYTES).toString('utf8');
    if (text === '') return { key: `${ino}-${mtimeMs}`, owner: undefined, createdAt: mtimeMs };
    const { key, ...owner } = JSON.parse(text) as { key: string } & ProcessIdentity;
    if (typeof key !== 'string' || typeof owner.pid !== 'number') throw notALock(lockPath);
    return { key, owner, createdAt: mtimeMs };
  } catch (error) {
    throw systemCode(error) === undefined || isNotRegularFile(error) ? notALock(lockPath) : error;
  } finally {
    closeSync(file);
  }
}

function isStale({ owner, createdAt }: Holder): boolean {
  return owner === undefined ? Date.now() - createdAt > EMPTY_MS : !isRunning(owner);
}

/**
 * Deletes the lock of a process that was killed. Only one process may do so, or a second would delete the lock of the
 * first one's successor: it holds a lock of its own, named after the one to delete, which is deleted only when it is
 * still there.
 * @returns false when another process is doing it.
 */
function removeStale(lockPath: string, { key }: Holder, path: string): boolean {
  const guard = acquire(join(dirname(lockPath), `.restaurant-${key}.lock`), path);
  if (!('release' in guard)) return false;
  try {
    if (readHolder(lockPath, path)?.key === key) rmSync(lockPath, { force: true });
    return true;
  } finally {
    guard.release();
  }
}

function inUse(path: string, { owner }: Holder): AppError {
  const by = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new AppError('in_use', `${path} is in use by ${by}`, {
    hint: `wait for that process; if it no longer runs: rm ${shellWord(`${path}.lock`)}`,
  });
}

function notALock(lockPath: string): AppError {
  return new AppError('in_use', `${lockPath} exists and is not a lock file of this program`, {
    hint: `move it away: mv ${shellWord(lockPath)} ${shellWord(`${lockPath}.old`)}`,
  });
}

/** Returns the identity of this process. */
export function currentProcess(): ProcessIdentity {
  const namespace = orNone(() => readlinkSync('/proc/self/ns/pid'));
  return { pid, host: hostname(), namespace, start: startOf(pid) };
}

/**
 * Whether the process still runs. Nothing can be known about a process on another machine or in another container: it
 * counts as running. Elsewhere than on Linux, so does another process with the same pid.
 */
export function isRunning({ pid: id, host, namespace, start }: ProcessIdentity): boolean {
  const own = currentProcess();
  if (host !== own.host) return true;
  if (start?.split(' ')[0] !== own.start?.split(' ')[0]) return false;
  if (namespace !== own.namespace) return true;
  try {
    kill(id, 0);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
  }
  return startOf(id) === start;
}

/** Reads proc_pid_stat(5): the name in parentheses may contain any; the state is field 3, the start time field 22. */
function startOf(id: number): string | undefined {
  return orNone(() => {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return /[ZX]/.test(fields[0] ?? '') ? 'ended' : `${boot} ${fields[19]}`;
  });
}

function orNone(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

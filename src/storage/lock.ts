import { closeSync, constants, fstatSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { type FileContent, isNotRegularFile, randomName, readOwnFile, writeAll } from './files.ts';
import { ioError } from './io-error.ts';
import { currentProcess, isRunning, type ProcessIdentity } from './process.ts';

export interface Lock {
  /** Releases the lock. A second call does nothing. */
  release(): void;
}

/** The content of a lock file. `key` distinguishes it from other lock files with the same path. */
interface Holder {
  readonly key: string;
  /** Undefined until its creator has written it. */
  readonly owner: ProcessIdentity | undefined;
  readonly createdAt: number;
}

const MAX_BYTES = 65_536;
const MAX_ATTEMPTS = 100;
/** Maximum time between creating a lock file and writing to it. If it takes longer, the process was killed. */
const EMPTY_MS = 5000;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * Takes the lock that guards `path` (the file `<path>.lock`), without waiting. The lock of a process that no longer runs
 * is taken over.
 * @throws {AppError} `in_use` if another process holds it; `io_error` if the lock file cannot be written or belongs to
 * another user
 */
export function tryLock(path: string): Lock {
  const result = acquire(`${path}.lock`, path);
  if ('release' in result) return result;
  throw inUse(path, result);
}

/**
 * Runs `run` while holding the lock that guards `path`, and always releases the lock.
 * @param waitMs maximum time to wait for another process, in milliseconds
 * @throws {AppError} as {@link tryLock}, `in_use` after `waitMs`; errors of `run`
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

/** Takes the lock, or returns its holder. @param path for messages */
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

/** Creates the lock file; returns undefined if there is one. */
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
    // Another process has deleted it, as the lock of a killed process.
    if (fstatSync(file).nlink === 0) return undefined;
  } catch (error) {
    rmSync(lockPath, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return {
    release() {
      try {
        // If this lock was already released or its file removed, the file may now be the lock of another process.
        if (readHolder(lockPath, lockPath)?.key === key) rmSync(lockPath);
      } catch {
        // The lock stays held until this process ends.
      }
    },
  };
}

/** Reads a lock file; returns undefined if there is none. @throws {AppError} if it is not a lock of this user */
function readHolder(lockPath: string, path: string): Holder | undefined {
  let content: FileContent;
  try {
    content = readOwnFile(lockPath, MAX_BYTES);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (isNotRegularFile(error)) throw notALock(lockPath);
    if (error instanceof AppError || systemCode(error) === 'EACCES') {
      throw ioError('lock', path, error, 'write to a folder of your own: -o <folder>/out.csv');
    }
    throw error;
  }
  const text = content.bytes.toString('utf8');
  const { ino, mtimeMs: createdAt } = content.stats;
  if (text === '') return { key: `${ino}-${createdAt}`, owner: undefined, createdAt };
  try {
    const { key, ...owner } = JSON.parse(text) as { key: string } & ProcessIdentity;
    if (typeof key === 'string' && typeof owner.pid === 'number') return { key, owner, createdAt };
  } catch {
    // A file of another program.
  }
  throw notALock(lockPath);
}

function isStale({ owner, createdAt }: Holder): boolean {
  return owner === undefined ? Date.now() - createdAt > EMPTY_MS : !isRunning(owner);
}

/**
 * Deletes the lock of a killed process. Only one process may do this; otherwise, a second one would delete the next
 * holder's lock. So it takes a separate lock, named after the one to delete, and deletes that one only if it still
 * exists.
 * @returns false if another process is doing this
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

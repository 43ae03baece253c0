import { closeSync, constants, fstatSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, systemCode } from '../errors.ts';
import { again, type Hint, slot, system } from '../hint.ts';
import { isNotRegularFile, randomName, readOwnFile, whenFree, writeAll } from './files.ts';
import { ioError } from './io-error.ts';
import { currentProcess, isRunning, type ProcessIdentity } from './process.ts';

/** Releases the lock. A second call does nothing. */
export type Lock = { release(): void };
/** `key` is part of a file name. `owner` is missing until the process has written the lock file that it created. */
type Holder = { readonly key: string; readonly owner?: ProcessIdentity; readonly createdAt: number };

const MAX_BYTES = 65_536;
const MAX_ATTEMPTS = 100;
const KEY = /^[0-9a-f]{16}$/;
/** Maximum time between creating a lock file and writing to it. If it takes longer, the process was killed. */
const EMPTY_MS = 5000;

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

/** Runs `run` while holding the lock, for which it waits. @throws {AppError} as {@link tryLock}; errors of `run` */
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

/** Takes the lock, or returns its holder. @param depth of takeovers of takeovers, which end with those of killed ones */
function acquire(lockPath: string, path: string, depth = 0): Lock | Holder {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const key = create(lockPath);
      if (key !== undefined) return { release: () => release(lockPath, key) };
      const holder = read(lockPath);
      if (holder === undefined) continue;
      if (!isStale(holder) || depth > 2 || !takeOver(lockPath, holder, depth)) return holder;
    }
  } catch (error) {
    throw ioError('lock', path, error);
  }
  throw new AppError('in_use', `another process holds the lock ${lockPath}`);
}

/** Creates the lock file, and returns its key; undefined if there is one. */
function create(lockPath: string): string | undefined {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  let file: number;
  try {
    file = whenFree(() => openSync(lockPath, O_WRONLY | O_CREAT | O_EXCL, 0o600));
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  const key = randomName();
  try {
    writeAll(file, Buffer.from(`${JSON.stringify({ key, ...currentProcess() })}\n`));
    // Without a name, another process has deleted it, as the lock of a killed process.
    return fstatSync(file).nlink === 0 ? undefined : key;
  } catch (error) {
    rmSync(lockPath, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Deletes the lock file, unless it was deleted by hand and is now the lock of another process. */
function release(lockPath: string, key: string): void {
  try {
    if (read(lockPath)?.key === key) whenFree(() => rmSync(lockPath));
  } catch {
    // The lock stays held until this process ends.
  }
}

const OTHER_FILE: Hint = {
  text: 'choose a directory that you own',
  command: again({ '--output': slot('file') }),
};

/** Reads a lock file; undefined if there is none. @throws {AppError} if it is not a lock of this user */
function read(lockPath: string): Holder | undefined {
  try {
    const { bytes, stats } = readOwnFile(lockPath, MAX_BYTES);
    const createdAt = stats.mtimeMs;
    if (bytes.length === 0) return { key: String(stats.ino).padStart(16, '0').slice(-16), createdAt };
    const { key, ...owner } = JSON.parse(bytes.toString('utf8')) as { key: string } & ProcessIdentity;
    if (KEY.test(key) && typeof owner.pid === 'number') return { key, owner, createdAt };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    const isForeign = error instanceof AppError || systemCode(error) === 'EACCES';
    if (isForeign) throw ioError('lock', lockPath, error, OTHER_FILE);
    if (systemCode(error) !== undefined && !isNotRegularFile(error)) throw error;
  }
  throw new AppError('in_use', `${lockPath} exists and is not a lock file of this program`, {
    hint: { text: 'rename that file, or write to a file with another name' },
  });
}

const isStale = ({ owner, createdAt }: Holder): boolean =>
  owner === undefined ? Date.now() - createdAt > EMPTY_MS : !isRunning(owner);

/**
 * Deletes the lock of a killed process. Only one process may do this; otherwise, a second one would delete the next
 * holder's lock. So it takes a separate lock, named after the one to delete, and deletes that one only if it still exists.
 * @returns false if another process is doing this
 */
function takeOver(lockPath: string, { key }: Holder, depth: number): boolean {
  const guardPath = join(dirname(lockPath), `.restaurant-${key}.lock`);
  const guard = acquire(guardPath, lockPath, depth + 1);
  if (!('release' in guard)) return false;
  try {
    if (read(lockPath)?.key === key) whenFree(() => rmSync(lockPath, { force: true }));
    return true;
  } finally {
    guard.release();
  }
}

function inUse(path: string, { owner }: Holder): AppError {
  const by = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new AppError('in_use', `${path} is in use by ${by}`, {
    hint: [
      { text: 'wait for that process' },
      { text: 'if it no longer runs', command: system('rm', `${path}.lock`) },
    ],
  });
}

import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, attempt, failure, systemCode } from '../errors.ts';
import { again, slot, system } from '../hint.ts';
import { ioError, isNotRegularFile, pauseSync, perform, randomName, readOwnFile, whenFree } from './files.ts';
import { currentProcess, isRunning, type ProcessIdentity } from './process.ts';

type Lock = { release(): void };
type Holder = { readonly key: string; readonly owner?: ProcessIdentity; readonly createdAt: number };
class HeldError extends AppError {}

const MAX_BYTES = 65_536;
/** A process that takes longer to write the file that it created was killed. */
const EMPTY_MS = 2000;
const EMPTY_PAUSE_MS = 50;
const OTHER_FOLDER = {
  text: 'choose a directory that you own',
  command: again({ '--output': slot('file') }),
};
const OTHER_NAME = { text: 'rename that file, or write to a file with another name' };

/** Takes the lock `<path>.lock`, also from a process that no longer runs. @throws {AppError} `in_use`; `io_error` */
export function tryLock(path: string, depth = 0): Lock {
  const lockPath = `${path}.lock`;
  return perform('lock', path, () => {
    for (let round = 0; round < 100; round += 1) {
      const key = create(lockPath);
      if (key !== undefined) return { release: () => remove(lockPath, key) };
      const holder = read(lockPath);
      if (holder === undefined) continue;
      if (isBeingWritten(holder)) {
        pauseSync(EMPTY_PAUSE_MS);
        continue;
      }
      if (depth > 2 || !isStale(holder)) throw inUse(path, holder);
      // Under another lock, named after the stale one; otherwise, a second process would delete the next holder's lock.
      const guard = tryLock(join(dirname(path), `.restaurant-${holder.key}`), depth + 1);
      remove(lockPath, holder.key);
      guard.release();
    }
    throw new HeldError('in_use', `another process holds the lock ${lockPath}`);
  });
}

export async function withLock<T>(path: string, run: () => T | Promise<T>, waitMs = 10_000): Promise<T> {
  const deadline = Date.now() + waitMs;
  let lock: Lock | undefined;
  for (let pause = 1; lock === undefined; pause = Math.min(pause * 2, 50)) {
    try {
      lock = tryLock(path);
    } catch (error) {
      if (!(error instanceof HeldError) || Date.now() >= deadline) throw error;
      await sleep(pause);
    }
  }
  try {
    return await run();
  } finally {
    lock.release();
  }
}

function create(lockPath: string): string | undefined {
  const key = randomName();
  const text = `${JSON.stringify({ key, ...currentProcess() })}\n`;
  let file: number;
  try {
    file = whenFree(() => openSync(lockPath, 'wx', 0o600));
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    writeFileSync(file, text);
  } catch (error) {
    rmSync(lockPath, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  // Another process may have deleted it before it was written, as the lock of a killed process.
  return read(lockPath)?.key === key ? key : undefined;
}

function read(lockPath: string): Holder | undefined {
  try {
    const { bytes, stats } = readOwnFile(lockPath, MAX_BYTES);
    const createdAt = stats.mtimeMs;
    if (bytes.length === 0) return { key: String(stats.ino).padStart(16, '0').slice(-16), createdAt };
    const { key, ...owner } = JSON.parse(bytes.toString('utf8')) as { key: string } & ProcessIdentity;
    if (/^[0-9a-f]{16}$/.test(key) && typeof owner.pid === 'number') return { key, owner, createdAt };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return undefined;
    if (error instanceof AppError || code === 'EACCES') throw ioError('lock', lockPath, error, OTHER_FOLDER);
    if (code !== undefined && !isNotRegularFile(error)) throw error;
  }
  throw failure('in_use', `${lockPath} exists and is not a lock file of this program`, OTHER_NAME);
}

const isBeingWritten = ({ owner, createdAt }: Holder): boolean =>
  owner === undefined && Math.abs(Date.now() - createdAt) <= EMPTY_MS;

/** An empty file with a time in the future is kept: the clocks of two machines differ, or the clock was set back. */
const isStale = ({ owner, createdAt }: Holder): boolean =>
  owner === undefined ? createdAt < Date.now() : !isRunning(owner);

/** Deletes the lock with this key, and not one that another process has taken since. Never throws. */
function remove(lockPath: string, key: string): void {
  attempt(() => read(lockPath)?.key === key && whenFree(() => rmSync(lockPath)));
}

function inUse(path: string, { owner }: Holder): AppError {
  const by = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  const command = system('rm', `${path}.lock`);
  return new HeldError('in_use', `${path} is in use by ${by}`, {
    hint: [{ text: 'wait for that process' }, { text: 'if it no longer runs', command }],
  });
}

import { lstatSync, rmSync, unlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, attempt, failure, systemCode } from '../errors.ts';
import { system } from '../hint.ts';
import {
  ioError,
  isNotRegularFile,
  pauseSync,
  perform,
  randomName,
  readOwnFile,
  sweepTemps,
  TempFile,
  whenFree,
} from './files.ts';
import { currentProcess, type ProcessIdentity, stateOf } from './process.ts';

type Lock = { release(): void };
/** Without an owner: an empty file, as a power failure leaves it. */
type Holder = { readonly key: string; readonly owner?: ProcessIdentity; readonly touchedAt: number };
class HeldError extends AppError {}

const MAX_BYTES = 65_536;
/** Of locks that processes were killed in removing. */
const MAX_DEPTH = 4;
const TOUCH_MS = 60_000;
/** A holder that cannot be asked, as on another machine, no longer runs if it has not touched its lock for this long. */
const UNTOUCHED_MS = 600_000;
const OTHER_NAME = { text: 'rename that file, or write to a file with another name' };

/**
 * Takes the lock `<path>.lock`, also from a process that no longer runs. It is touched while it is held, so that other
 * machines see that its process runs.
 * @throws {AppError} `in_use`; `io_error`
 */
export const tryLock = (path: string): Lock => take(path, 0);

function take(path: string, depth: number): Lock {
  const lockPath = `${path}.lock`;
  return perform('lock', path, () => {
    for (let round = 0; round < 100; round += 1) {
      const holder = read(lockPath);
      const key = holder === undefined ? create(lockPath) : undefined;
      if (key !== undefined) return hold(lockPath, key);
      if (holder === undefined) continue;
      if (!isStale(holder)) throw inUse(path, holder);
      remove(lockPath, holder.key, depth);
    }
    throw new HeldError('in_use', `another process holds the lock ${lockPath}`);
  });
}

/** The file appears with its content, so that nobody sees the lock of a running process without its owner. */
function create(lockPath: string): string | undefined {
  const key = randomName();
  const file = new TempFile(lockPath, 0o600, 'lock');
  try {
    file.write(`${JSON.stringify({ key, ...currentProcess() })}\n`);
    file.commit({ isDurable: false, isNew: true });
    return key;
  } catch (error) {
    file.discard();
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function hold(lockPath: string, key: string): Lock {
  const isOurs = () => read(lockPath)?.key === key;
  const touch = () => attempt(() => isOurs() && utimesSync(lockPath, new Date(), new Date()));
  const timer = setInterval(touch, TOUCH_MS).unref();
  return {
    release() {
      clearInterval(timer);
      attempt(() => isOurs() && whenFree(() => unlinkSync(lockPath)));
    },
  };
}

/**
 * Removes a stale lock, under a lock of its own: of several processes that find it, one that is late would remove that of the
 * next holder. Where a process was killed, files of others may be left, too.
 */
function remove(lockPath: string, key: string, depth: number): void {
  if (depth === MAX_DEPTH) throw failure('in_use', `cannot take over ${lockPath}`, OTHER_NAME);
  let claim: Lock;
  try {
    claim = take(join(dirname(lockPath), `.restaurant-${key}`), depth + 1);
  } catch (error) {
    if (!(error instanceof HeldError)) throw error;
    pauseSync(1);
    return;
  }
  try {
    const holder = read(lockPath);
    // The key of an empty file is that of its place on the disk, which a new one may get.
    if (holder?.key !== key || !isStale(holder)) return;
    whenFree(() => rmSync(lockPath, { force: true }));
    sweepTemps(dirname(lockPath));
  } finally {
    claim.release();
  }
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

function read(lockPath: string): Holder | undefined {
  try {
    // Much faster than the error of a failed open.
    if (whenFree(() => lstatSync(lockPath, { throwIfNoEntry: false })) === undefined) return undefined;
    const { bytes, stats } = readOwnFile(lockPath, MAX_BYTES);
    const touchedAt = stats.mtimeMs;
    if (bytes.length === 0) return { key: String(stats.ino).padStart(16, '0').slice(-16), touchedAt };
    const { key, ...owner } = JSON.parse(bytes.toString('utf8')) as { key: string } & ProcessIdentity;
    if (/^[0-9a-f]{16}$/.test(key) && typeof owner.pid === 'number') return { key, owner, touchedAt };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return undefined;
    if (error instanceof AppError || code === 'EACCES') throw ioError('lock', lockPath, error);
    if (code !== undefined && !isNotRegularFile(error)) throw error;
  }
  throw failure('in_use', `${lockPath} exists and is not a lock file of this program`, OTHER_NAME);
}

function isStale({ owner, touchedAt }: Holder): boolean {
  const state = owner === undefined ? 'unknown' : stateOf(owner);
  return state === 'unknown' ? touchedAt < Date.now() - UNTOUCHED_MS : state === 'ended';
}

function inUse(path: string, { owner }: Holder): AppError {
  const by = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  const command = system('rm', `${path}.lock`);
  return new HeldError('in_use', `${path} is in use by ${by}`, {
    hint: [{ text: 'wait for that process' }, { text: 'if it no longer runs', command }],
  });
}

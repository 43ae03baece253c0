import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemCode } from '../errors.ts';
import { checkFolderLinks, flushFolder, followLinks, writeAll } from './files.ts';
import { currentUser, ioError } from './io-error.ts';

const STICKY = 0o1000;
const OTHERS = 0o077;
const STRAY_AFTER_MS = 3_600_000;

export interface AtomicOptions {
  /** Permission bits of the new file, cut by the umask. Default 0600. */
  readonly mode?: number;
  /** Whether to wait until the disk has it. Default true; false for what can be lost in a power cut. */
  readonly durable?: boolean;
  /** Whether what is no plain file, or a link to one, is replaced too, nothing being written through it. Default false. */
  readonly replace?: boolean;
}

/**
 * Writes the whole file or leaves the old one as it was: a new file beside it, flushed, renamed over it.
 * A symbolic link stays and its target is written. A device or pipe is written straight through.
 * @throws {AppError} `io_error` naming the path and the reason.
 */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, durable = true, replace = false }: AtomicOptions = {},
): void {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  try {
    const stats = replace ? undefined : statSync(path, { throwIfNoEntry: false });
    if (replace) replaceFile(path, bytes, mode, durable);
    else if (stats === undefined || stats.isFile()) replaceFile(followLinks(path), bytes, mode, durable);
    else writeThrough(path, bytes);
  } catch (error) {
    throw ioError('write', path, error);
  }
}

function replaceFile(target: string, bytes: Uint8Array, mode: number, durable: boolean): void {
  const temp = join(dirname(target), tempName());
  const file = openSync(temp, 'wx', mode);
  try {
    try {
      writeAll(file, bytes);
      if (durable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temp, target);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  if (durable) flushFolder(dirname(target));
}

function writeThrough(target: string, bytes: Uint8Array): void {
  const file = openSync(target, 'w');
  try {
    writeAll(file, bytes);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes the folder and its parents, 0700. An existing one that is ours and open to others is tightened
 * (never a shared one such as /tmp).
 * @returns whether an existing folder was tightened.
 * @throws {AppError} `io_error` when it cannot be made, or is a link to a folder of another user.
 */
export function ensurePrivateFolder(path: string): boolean {
  try {
    checkFolderLinks(resolve(path));
    if (makeFolders(resolve(path))) return false;
  } catch (error) {
    throw ioError('create the folder', path, error);
  }
  return tightenFolder(path);
}

/** Not `recursive` of mkdir: it never returns where a file system answers ENOENT below an existing folder (/proc). */
function makeFolders(path: string): boolean {
  try {
    mkdirSync(path, 0o700);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' && dirname(path) !== path && makeFolders(dirname(path))) return makeFolders(path);
    if (code !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

/** Takes the rights of group and others from a folder of ours. @returns whether it did. Never throws. */
export function tightenFolder(path: string): boolean {
  try {
    const stats = statSync(path);
    if ((stats.mode & OTHERS) === 0 || (stats.mode & STICKY) !== 0) return false;
    const me = currentUser();
    if (me !== undefined && stats.uid !== me.uid) return false;
    chmodSync(path, 0o700);
    return (statSync(path).mode & OTHERS) === 0;
  } catch {
    return false;
  }
}

/**
 * Deletes temporary files that killed writers left in the folder over an hour ago. Never throws.
 * @param now milliseconds since the epoch.
 */
export function sweepTemps(folder: string, now: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!TEMP_NAME.test(name)) continue;
      const path = join(folder, name);
      if (now - statSync(path).mtimeMs > STRAY_AFTER_MS) rmSync(path, { force: true });
    }
  } catch {
    // A stray file does no harm; the next run tries again.
  }
}

/** Names that `tempName` gives, also with what a library adds for its own temporary file. */
export const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.tmp(?:\.tmp-[0-9a-f]+)?$/;

/** A new name for a temporary file. Short, so that a long target name does not overflow the system's limit. */
export function tempName(): string {
  return `.restaurant-${randomUUID().replaceAll('-', '').slice(-16)}.tmp`;
}

const CHUNK = 65_536;

/**
 * Writes a file of any size, piece by piece: whole or not at all, as `writeFileAtomic` does.
 * @param mode permission bits of the new file, cut by the umask
 * @throws {AppError} `io_error`; what the pieces throw
 */
export async function writeChunksAtomic(
  path: string,
  pieces: AsyncIterable<string>,
  mode: number,
): Promise<void> {
  const attempt = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw ioError('write', path, error);
    }
  };
  const target = attempt(() => followLinks(path));
  const temp = join(dirname(target), tempName());
  const file = attempt(() => openSync(temp, 'wx', mode));
  try {
    let waiting = '';
    const flush = (): void => attempt(() => writeAll(file, Buffer.from(waiting)));
    try {
      for await (const piece of pieces) {
        waiting += piece;
        if (waiting.length < CHUNK) continue;
        flush();
        waiting = '';
      }
      flush();
      attempt(() => fsyncSync(file));
    } finally {
      closeSync(file);
    }
    attempt(() => renameSync(temp, target));
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

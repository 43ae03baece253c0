import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { AppError, systemCode } from '../errors.ts';
import { currentUid, isTrusted, walkPath } from './folders.ts';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR, O_WRONLY } = constants;
/** Codes of errors that mean that something other than a regular file of a useful size is at a path. */
const NOT_REGULAR = ['ENOTREGULAR', 'ESYMLINK', 'ENXIO', 'EISDIR', 'ETOOLARGE'];

const ownerName = (uid: number): string => (uid === 0 ? 'root' : `user ${uid}`);

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Opens a regular file and nothing else, without ever waiting: opening a named pipe would block until its other end is
 * opened, and Ctrl-C would have no effect.
 * @throws the system's error; one with the code `ENOTREGULAR` for anything but a regular file.
 */
function openRegularFile(path: string, flags: number = O_RDONLY): number {
  // Windows has no O_NONBLOCK, and no named pipes among its files.
  const file = openSync(path, flags | O_NONBLOCK, 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw fileError('ENOTREGULAR', 'not a regular file');
}

/**
 * Opens a file of this program: a regular file that belongs to this user or to root. A symbolic link is not followed, and
 * a file that has a second name (hard link) is not opened for writing: whoever made them chose what is read or written.
 * @throws {AppError} `io_error` naming the owner; otherwise the system's error, `ESYMLINK` for a symbolic link.
 */
export function openOwnFile(path: string, flags: number = O_RDONLY): number {
  let file: number;
  try {
    file = openRegularFile(path, flags | O_NOFOLLOW);
  } catch (error) {
    if (systemCode(error) === 'ELOOP') throw fileError('ESYMLINK', 'a symbolic link');
    throw error;
  }
  const { uid, nlink } = fstatSync(file);
  const writes = (flags & (O_WRONLY | O_RDWR)) !== 0;
  if (isTrusted(uid) && !(writes && nlink > 1)) return file;
  closeSync(file);
  const reason = isTrusted(uid) ? 'it has a second name (a hard link)' : `it belongs to ${ownerName(uid)}`;
  throw new AppError('io_error', `will not use ${path}: ${reason}`);
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** Reads a regular file. @throws as {@link openRegularFile}; `ETOOLARGE` for more than `max` bytes. */
export function readRegularFile(path: string, max: number): FileContent {
  return readAndClose(openRegularFile(path), max);
}

/** Reads a file of this program. @throws as {@link openOwnFile}; `ETOOLARGE` for more than `max` bytes. */
export function readOwnFile(path: string, max: number): FileContent {
  return readAndClose(openOwnFile(path), max);
}

/**
 * Reads anything that a user named: a file, or a pipe as in `--key-file <(pass restaurant)`.
 * @throws the system's error; `ETOOLARGE` for more than `max` bytes.
 */
export function readPath(path: string, max: number): FileContent {
  return readAndClose(openSync(path, 'r'), max);
}

function readAndClose(file: number, max: number): FileContent {
  try {
    const stats = fstatSync(file);
    if (stats.isFile() && stats.size > max) throw fileError('ETOOLARGE', 'too large');
    const parts: Buffer[] = [];
    for (let size = 0; ; ) {
      const part = Buffer.allocUnsafe(Math.max(64 * 1024, stats.size - size + 1));
      const count = readSync(file, part, 0, part.length, null);
      if (count === 0)
        return { stats, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
      size += count;
      if (size > max) throw fileError('ETOOLARGE', 'too large');
      parts.push(part.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

/** Whether an operation failed because something other than a regular file is at the path. */
export function isNotRegularFile(error: unknown): boolean {
  return NOT_REGULAR.includes(systemCode(error) ?? '');
}

/** Returns 16 random hex digits, for a file that must not exist yet. Not for secrets. */
export function randomName(): string {
  return Array.from({ length: 16 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

/** Writes every byte; a single `writeSync` may write only a part, and reports a full disk at the next call. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const written = writeSync(file, bytes, done);
    if (written === 0) throw fileError('ENOSPC', 'nothing written');
    done += written;
  }
}

/** Makes a rename survive a power failure. Does nothing where folders cannot be opened or flushed (Windows). */
export function flushFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(folder);
  } catch (error) {
    if (systemCode(error) === 'EIO') throw error;
  } finally {
    closeSync(folder);
  }
}

/**
 * Returns the path without symbolic links, as `open` would find it; its end need not exist.
 * @throws {AppError} `io_error` for a link of another user; `ELOOP` for too many links.
 */
export function followLinks(path: string): string {
  return walkPath(path, (part, stats) => {
    if (stats.isSymbolicLink()) assertOwned(path, part, stats);
  });
}

/**
 * Checks the path of a folder of this program, which need not exist yet: the folder and each symbolic link on the way must
 * belong to this user or to root. For root, so must each folder on the way, since its owner can replace all below.
 * @throws {AppError} `io_error` naming the first part that belongs to another user.
 */
export function assertOwnedPath(path: string): void {
  const isRoot = currentUid() === 0;
  const end = walkPath(path, (part, stats) => {
    if (isRoot || stats.isSymbolicLink()) assertOwned(path, part, stats);
  });
  const stats = lstatSync(end, { throwIfNoEntry: false });
  if (stats !== undefined) assertOwned(path, end, stats);
}

function assertOwned(path: string, part: string, stats: Stats): void {
  if (isTrusted(stats.uid)) return;
  const what = stats.isSymbolicLink() ? 'the symbolic link ' : '';
  throw new AppError('io_error', `will not use ${path}: ${what}${part} belongs to ${ownerName(stats.uid)}`);
}

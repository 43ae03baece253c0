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
/** Error codes for a path that is not a regular file, or a file that is too large. */
const NOT_REGULAR = ['ENOTREGULAR', 'ESYMLINK', 'ENXIO', 'EISDIR', 'ETOOLARGE'];

const ownerName = (uid: number): string => (uid === 0 ? 'root' : `user ${uid}`);

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Opens a regular file, and rejects anything else without blocking: opening a named pipe would block until its other end
 * is opened, and Ctrl-C would have no effect.
 * @throws the system's error; an error with the code `ENOTREGULAR` if it is not a regular file
 */
function openRegularFile(path: string, flags: number = O_RDONLY): number {
  // Windows has neither O_NONBLOCK nor named pipes in folders.
  const file = openSync(path, flags | O_NONBLOCK, 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw fileError('ENOTREGULAR', 'not a regular file');
}

/**
 * Opens a file of this program: a regular file that belongs to this user or to root. Symbolic links are not followed,
 * and a file with several hard links is not opened for writing, because another user could choose the file that way.
 * @throws {AppError} `io_error` with the owner; otherwise the system's error, or `ESYMLINK` for a symbolic link
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

/** Reads a regular file. @throws as {@link openRegularFile}; `ETOOLARGE` for more than `max` bytes */
export function readRegularFile(path: string, max: number): FileContent {
  return readAndClose(openRegularFile(path), max);
}

/** Reads a file of this program. @throws as {@link openOwnFile}; `ETOOLARGE` for more than `max` bytes */
export function readOwnFile(path: string, max: number): FileContent {
  return readAndClose(openOwnFile(path), max);
}

/**
 * Reads a path given by the user: a file, or a pipe as in `--key-file <(pass restaurant)`.
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

/** Returns whether an operation failed because the path is not a regular file. */
export function isNotRegularFile(error: unknown): boolean {
  return NOT_REGULAR.includes(systemCode(error) ?? '');
}

/** Returns 16 random hex digits, for a file that must not exist yet. Not for secrets. */
export function randomName(): string {
  return Array.from({ length: 16 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

/** Writes all bytes. A single `writeSync` may write only some of them, and reports a full disk only at the next call. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const written = writeSync(file, bytes, done);
    if (written === 0) throw fileError('ENOSPC', 'nothing written');
    done += written;
  }
}

/**
 * Flushes a folder, so that a rename survives a power failure. Does nothing if folders cannot be opened or flushed
 * (Windows).
 */
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
 * Resolves symbolic links like `open`. The end of the path does not have to exist.
 * @throws {AppError} `io_error` for a link of another user; `ELOOP` for too many links
 */
export function followLinks(path: string): string {
  return walkPath(path, (part, stats) => {
    if (stats.isSymbolicLink()) assertOwned(path, part, stats);
  });
}

/**
 * Checks the path of a folder of this program, which may not exist yet: the folder and each symbolic link in the path
 * must belong to this user or to root. If the user is root, each folder in the path must, too, because its owner can
 * replace everything below it.
 * @throws {AppError} `io_error` with the first part that belongs to another user
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

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError, attempt, failure, systemCode } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { currentUid, foreignOwner, inspect, walkPath } from './trust.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than the system allows',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENOTREGULAR: 'it is not a regular file',
  ENXIO: 'it is not a regular file',
  ESYMLINK: 'it is a symbolic link',
  ETOOLARGE: 'the file is too large',
  ETRUNCATED: 'it was truncated while it was read',
  EEXIST: 'it exists already',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this machine',
  EIO: 'the device failed',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
};

export const OTHER_STATE_FOLDER = 'RESTAURANT_STATE_DIR=<folder> sets another folder';

export function ioReason(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = systemCode(error);
  return code === undefined ? 'the file system failed' : (REASONS[code] ?? code);
}

export function ioError(action: string, path: string, error: unknown, hint?: Hint): AppError {
  if (error instanceof AppError) {
    return hint === undefined || error.details.hint !== undefined ? error : error.add({ hint: hint });
  }
  return failure('io_error', `cannot ${action} ${path}: ${ioReason(error)}`, hint, error);
}

/** Does work on a file or folder. @throws {AppError} `io_error` that names the action and the path */
export function perform<T>(action: string, path: string, work: () => T, hint?: Hint): T {
  try {
    return work();
  } catch (error) {
    throw ioError(action, path, error, hint);
  }
}

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const NOT_REGULAR = ['ENOTREGULAR', 'ESYMLINK', 'ENXIO', 'EISDIR', 'ETOOLARGE'];
const CHUNK_BYTES = 65_536;
export const BUSY_CODES: readonly string[] = ['EPERM', 'EBUSY', 'EACCES'];
const BUSY_MS = 1000;
const MAX_PAUSE_MS = 16;

export const fileError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

/** Opens without following a link, or waiting for the other end of a pipe. @throws the system's error; `ESYMLINK` */
export function openNoFollow(path: string, flags: number, mode = 0o600): number {
  try {
    return openSync(path, flags | O_NONBLOCK | O_NOFOLLOW, mode);
  } catch (error) {
    throw systemCode(error) === 'ELOOP' ? fileError('ESYMLINK', 'a symbolic link') : error;
  }
}

/** @throws `ENOTREGULAR`, after closing it */
export function assertRegular(file: number): number {
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw fileError('ENOTREGULAR', 'not a regular file');
}

/**
 * Opens a file of this program. With a link, symbolic or (for writing) hard, another user could choose the file.
 * @throws {AppError} `io_error` with the owner; otherwise the system's error, `ENOTREGULAR`, or `ESYMLINK`
 */
export function openOwnFile(path: string, flags: number = O_RDONLY): number {
  const file = assertRegular(whenFree(() => openNoFollow(path, flags)));
  const stats = fstatSync(file);
  const hasOtherName = (flags & (O_WRONLY | O_RDWR)) !== 0 && stats.nlink > 1;
  const reason = foreignOwner(stats) ?? (hasOtherName ? 'it has a second name (a hard link)' : undefined);
  if (reason === undefined) return file;
  closeSync(file);
  throw new AppError('io_error', `refusing to use ${path}: ${reason}`);
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** @throws the system's error; `ENOTREGULAR`; `ETOOLARGE` for more than `max` bytes */
function readRegularFile(path: string, max: number): FileContent {
  return closing(assertRegular(openSync(path, O_RDONLY | O_NONBLOCK)), (file) => readContent(file, max));
}

/** @returns undefined for no file. @throws {AppError} `io_error` */
export const readIfExists = (path: string, max: number): FileContent | undefined =>
  perform('read', path, () => {
    try {
      return readRegularFile(path, max);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  });

export function readOwnFile(path: string, max: number): FileContent {
  return closing(openOwnFile(path), (file) => readContent(file, max));
}

function readContent(file: number, max: number): FileContent {
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size > max) throw fileError('ETOOLARGE', 'too large');
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, stats.size - size + 1));
    const count = readSync(file, part, 0, part.length, null);
    if (count === 0) {
      return { stats, bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
    }
    size += count;
    if (size > max) throw fileError('ETOOLARGE', 'too large');
    parts.push(part.subarray(0, count));
  }
}

function closing<T>(file: number, work: (file: number) => T): T {
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

export const isNotRegularFile = (error: unknown): boolean => NOT_REGULAR.includes(systemCode(error) ?? '');

export function randomName(): string {
  return Array.from({ length: 16 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

/** On Windows, a file cannot be changed while a virus scanner, for example, has it open, or opened while it is deleted. */
export function whenFree<T>(change: () => T): T {
  const deadline = Date.now() + BUSY_MS;
  for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      return change();
    } catch (error) {
      const isBusy = BUSY_CODES.includes(systemCode(error) ?? '');
      if (!isBusy || currentUid() !== undefined || Date.now() > deadline) throw error;
    }
    pauseSync(pause);
  }
}

export function pauseSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** So that a rename survives a power failure. Windows cannot flush folders. */
export function flushFolder(path: string): void {
  const folder = attempt(() => openSync(path, 'r'));
  if (folder === undefined) return;
  try {
    closing(folder, fsyncSync);
  } catch (error) {
    if (systemCode(error) === 'EIO') throw error;
  }
}

const refusal = (path: string, reason: string): AppError =>
  new AppError('io_error', `refusing to use ${path}: ${reason}`);

export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');

/**
 * @returns the path without links. @throws {AppError} `io_error` if another user can change what it leads to; otherwise the
 * system's error
 */
export function assertOwnPath(path: string, strict = false): string {
  const { end, problem } = inspect(resolve(path), strict);
  if (problem !== undefined) throw refusal(path, problem);
  return end;
}

/** Resolves symbolic links. @throws {AppError} `io_error` for a link of another user; `ELOOP` */
export const followLinks = (path: string): string =>
  walkPath(path, (part, stats) => refuseForeignLink(path, part, stats));

/** @throws {AppError} `io_error` */
export function refuseForeignLink(path: string, part: string, stats: Stats): void {
  const owner = stats.isSymbolicLink() ? foreignOwner(stats, `the symbolic link ${part}`) : undefined;
  if (owner !== undefined) throw refusal(path, owner);
}

/** Not with the option `recursive`, which never returns if a file system reports ENOENT below an existing folder. */
export function createFolders(path: string, mode = 0o700): void {
  if (isFolder(path)) return;
  followLinks(path);
  if (!existsSync(dirname(path))) createFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

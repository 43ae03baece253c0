// The ways to write a file:
// 1. A file that the user names: `user-files.ts`, as a whole through a `TempFile`, or to a device.
// 2. A file of this program, a client, or an agent, compiled code included: `writeFileAtomic` here.
// 3. A line of a file that is only appended to: `log.ts`.
// 4. The config file: `config-file.ts`, with conf.
// A lock is a `TempFile`, which is committed only if there is none (`lock.ts`).

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, attempt, failure, systemCode } from '../errors.ts';
import { again, type Hint } from '../hint.ts';
import { currentUid, foreignOwner } from './trust.ts';

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
  if (action === 'write' && isHeld(error, path)) {
    const close = { text: 'close it and run the same command', command: again() };
    return failure('in_use', `cannot write ${path}: it is open in another program`, close, error);
  }
  return failure('io_error', `cannot ${action} ${path}: ${ioReason(error)}`, hint, error);
}

/** Windows refuses to replace a file that a program such as Excel has open. */
function isHeld(error: unknown, path: string): boolean {
  if (currentUid() !== undefined || !BUSY_CODES.includes(systemCode(error) ?? '')) return false;
  const stats = attempt(() => statSync(path));
  const isReadOnly = stats !== undefined && (stats.mode & 0o200) === 0;
  return stats?.isFile() === true && !isReadOnly;
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
const BUSY_CODES: readonly string[] = ['EPERM', 'EBUSY', 'EACCES'];
const BUSY_MS = 1000;
const MAX_PAUSE_MS = 16;

export const fileError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

/** Opens without following a link, or waiting for the other end of a pipe. @throws the system's error; `ESYMLINK` */
export function openNoFollow(path: string, flags: number): number {
  try {
    return openSync(path, flags | O_NONBLOCK | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw systemCode(error) === 'ELOOP' ? fileError('ESYMLINK', 'a symbolic link') : error;
  }
}

/** @throws also `ENOTREGULAR` */
export function openRegular(path: string, flags: number = O_RDONLY): number {
  const file = whenFree(() => openNoFollow(path, flags));
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw fileError('ENOTREGULAR', 'not a regular file');
}

/**
 * Opens a file of this program. With a link, symbolic or (for writing) hard, another user could choose the file.
 * @throws {AppError} `io_error` with the owner; otherwise the system's error, `ENOTREGULAR`, or `ESYMLINK`
 */
export function openOwnFile(path: string, flags: number = O_RDONLY): number {
  const file = openRegular(path, flags);
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

/** @throws as {@link openOwnFile}; `ETOOLARGE` for more than `max` bytes */
export const readOwnFile = (path: string, max: number): FileContent => readAll(openOwnFile(path), max);

/** Reads an open file, and closes it. @throws the system's error; `ETOOLARGE` */
export const readAll = (file: number, max: number): FileContent =>
  closing(file, () => readContent(file, max));

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

function closing<T>(file: number, work: () => T): T {
  try {
    return work();
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
    closing(folder, () => fsyncSync(folder));
  } catch (error) {
    if (systemCode(error) === 'EIO') throw error;
  }
}

export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');

/** Not with the option `recursive`, which never returns if a file system reports ENOENT below an existing folder. */
export function createFolders(path: string, mode = 0o700): void {
  if (isFolder(path)) return;
  if (!existsSync(dirname(path))) createFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** File systems without hard links (FAT, some of networks and containers) report one of these, as does Android. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EINVAL'];

export interface AtomicOptions {
  /** Limited by the umask. Default 0600. */
  readonly mode?: number;
  /** Whether to wait until the data is on the disk. Default true. */
  readonly durable?: boolean;
  readonly confirm?: () => boolean;
}

/** A link of that name is replaced. @returns false if `confirm` returned false. @throws {AppError} `io_error`; `in_use` on Windows */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, durable = true, confirm = () => true }: AtomicOptions = {},
): boolean {
  return perform('write', path, () => {
    const file = new TempFile(path, mode);
    try {
      file.write(data);
      if (confirm()) file.commit({ isDurable: durable });
      else file.discard();
      return file.isCommitted;
    } catch (error) {
      file.discard();
      throw error;
    }
  });
}

/** Of a file that is being written. */
export const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.tmp$/;
/** Also of a lock that is being created or removed. */
const LEFTOVER_NAME = /^\.restaurant-[0-9a-f]{16}\.(?:tmp|lock)$/;
const SWEEP_AFTER_MS = 3_600_000;

/** Deletes the temporary files that processes killed more than an hour ago have left in a folder. Never throws. */
export function sweepTemps(folder: string): void {
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    if (!LEFTOVER_NAME.test(name)) continue;
    const path = join(folder, name);
    const stats = attempt(() => lstatSync(path));
    if (stats?.isFile() && stats.mtimeMs < Date.now() - SWEEP_AFTER_MS) attempt(() => unlinkSync(path));
  }
}

interface CommitOptions {
  readonly isDurable: boolean;
  /** Whether to fail with EEXIST, and replace nothing, if there is something by now. */
  readonly isNew?: boolean;
}

/** A new file next to `target`, which replaces it on commit. Its name is short, because names have a maximum length. */
export class TempFile {
  readonly #target: string;
  readonly #path: string;
  readonly #file: number;
  #isOpen = true;
  isCommitted = false;

  constructor(target: string, mode: number, kind: 'tmp' | 'lock' = 'tmp') {
    this.#target = target;
    this.#path = join(dirname(target), `.restaurant-${randomName()}.${kind}`);
    this.#file = openSync(this.#path, 'wx', mode);
  }

  /** A single `writeSync` may write only some of the bytes, and reports a full disk only at the next call. */
  write(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) {
      const written = writeSync(this.#file, bytes, done, bytes.length - done);
      if (written === 0) throw fileError('ENOSPC', 'nothing written');
      done += written;
    }
  }

  /** Whatever the umask. */
  setMode(mode: number): void {
    fchmodSync(this.#file, mode);
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  discard(): void {
    this.#close();
    if (!this.isCommitted) whenFree(() => rmSync(this.#path, { force: true }));
  }

  commit({ isDurable, isNew = false }: CommitOptions): void {
    if (isDurable) fsyncSync(this.#file);
    this.#close();
    if (isNew) this.#create();
    else whenFree(() => renameSync(this.#path, this.#target));
    this.isCommitted = true;
    if (isDurable) flushFolder(dirname(this.#target));
  }

  /**
   * A link, unlike a rename, never replaces a file: that of a folder that another user has exchanged meanwhile. Without links,
   * an empty file of the name comes first.
   */
  #create(): void {
    try {
      whenFree(() => linkSync(this.#path, this.#target));
    } catch (error) {
      if (!NO_LINKS.includes(systemCode(error) ?? '')) throw error;
      closeSync(openSync(this.#target, 'wx', 0o600));
      this.#replaceEmpty();
      return;
    }
    attempt(() => whenFree(() => unlinkSync(this.#path)));
  }

  /** The empty file would look like one of the user, or like a lock. */
  #replaceEmpty(): void {
    try {
      whenFree(() => renameSync(this.#path, this.#target));
    } catch (error) {
      attempt(() => unlinkSync(this.#target));
      throw error;
    }
  }
}

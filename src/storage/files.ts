import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { currentUser, ownerName } from './io-error.ts';

/** What stands at a path where a plain file should: a folder, pipe, socket or device; or far too much of a file. */
const NO_FILE = ['ENOTPLAIN', 'ENXIO', 'EISDIR', 'ETOOLARGE'];

/**
 * Opens a plain file and nothing else, without ever waiting: a named pipe would wait for its other end, for ever and
 * deaf to Ctrl-C.
 * @throws the system's error; one with the code `ENOTPLAIN` for what is no plain file.
 */
export function openRegularFile(path: string, flags: number = constants.O_RDONLY, mode = 0o600): number {
  // Windows has no such flag, and no named pipes among its files.
  const file = openSync(path, flags | (constants.O_NONBLOCK ?? 0), mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw Object.assign(new Error('no plain file'), { code: 'ENOTPLAIN' });
}

/**
 * The bytes of a plain file.
 * @throws as {@link openRegularFile}; one with the code `ETOOLARGE` for more than `most` bytes.
 */
export function readRegularFile(path: string, most: number): Buffer {
  return readAndClose(openRegularFile(path), most);
}

/**
 * The bytes of whatever a user named: a file, or a pipe as in `--key-file <(pass restaurant)`.
 * @throws the system's error; one with the code `ETOOLARGE` for more than `most` bytes.
 */
export function readPath(path: string, most: number): Buffer {
  return readAndClose(openSync(path, 'r'), most);
}

function readAndClose(file: number, most: number): Buffer {
  try {
    return readAll(file, most);
  } finally {
    closeSync(file);
  }
}

/** All bytes from here on, of anything that can be read. @throws one with the code `ETOOLARGE` for more than `most`. */
export function readAll(file: number, most: number): Buffer {
  const tooLarge = () => Object.assign(new Error('too large'), { code: 'ETOOLARGE' });
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size > most) throw tooLarge();
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.allocUnsafe(Math.max(64 * 1024, stats.size - size + 1));
    const count = readSync(file, part, 0, part.length, null);
    if (count === 0) return Buffer.concat(parts);
    size += count;
    if (size > most) throw tooLarge();
    parts.push(part.subarray(0, count));
  }
}

/** Whether it failed because something else stands in the place of a file of ours. */
export function isNotRegularFile(error: unknown): boolean {
  return NO_FILE.includes(systemCode(error) ?? '');
}

const MAX_LINKS = 40;

/** The end of a chain of symbolic links, which need not exist, as `open` would find it. */
export function followLinks(path: string, onLink?: (link: string, uid: number) => void): string {
  let target = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const stats = lstatSync(target, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isSymbolicLink()) return target;
    onLink?.(target, stats.uid);
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
}

/**
 * As {@link followLinks}, for what is written without being asked: a link of one's own is followed into a folder of
 * one's own (a config file kept among dotfiles), any other is not.
 * @throws {AppError} `io_error` naming the link and whose place it is.
 */
export function followOwnLinks(path: string): string {
  let linked = false;
  const target = followLinks(path, (link, uid) => {
    linked = true;
    if (uid !== 0) assertOwned(link, uid, path);
  });
  const folder = dirname(target);
  if (linked) assertOwned(folder, statSync(folder).uid, path);
  return target;
}

/**
 * The same for a folder, which need not exist yet.
 * @throws {AppError} `io_error` where links lead it to a place of another user. The system's own links (of root) pass.
 */
export function checkFolderLinks(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined && dirname(path) !== path) checkFolderLinks(dirname(path));
  else if (stats !== undefined && stats.uid !== 0 && realpathSync(path) !== path)
    assertOwned(path, stats.uid, path);
}

function assertOwned(place: string, uid: number, path: string): void {
  const me = currentUser();
  if (me === undefined || me.uid < 0 || me.uid === uid) return;
  throw new AppError(
    'io_error',
    `will not write ${path}: a symbolic link leads to ${place}, which belongs to ${ownerName(uid)}`,
    { hint: `remove the link, and it is made anew: rm ${shellWord(path)}` },
  );
}

/** Writes every byte; a single `writeSync` may take only a part, and on a full disk says so only at the next. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const written = writeSync(file, bytes, done);
    if (written === 0) throw Object.assign(new Error('nothing written'), { code: 'ENOSPC' });
    done += written;
  }
}

/** Makes a rename survive a power cut. Where folders cannot be opened or flushed (Windows), it does nothing. */
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

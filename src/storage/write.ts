import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { currentUser, ownerName, shellWord } from './io-error.ts';

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
    if (uid !== 0) mustBeMine(link, uid, path);
  });
  const folder = dirname(target);
  if (linked) mustBeMine(folder, statSync(folder).uid, path);
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
    mustBeMine(path, stats.uid, path);
}

function mustBeMine(place: string, uid: number, path: string): void {
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

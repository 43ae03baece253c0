import { closeSync, fsyncSync, lstatSync, openSync, readlinkSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemCode } from '../errors.ts';

const MAX_LINKS = 40;

/** The end of a chain of symbolic links, which need not exist, as `open` would find it. */
export function followLinks(path: string): string {
  let target = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const stats = lstatSync(target, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
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

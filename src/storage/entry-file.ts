import { closeSync, futimesSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';
import { ensurePrivateFolder } from './atomic.ts';
import { tempName } from './temp-name.ts';
import { writeAll } from './write.ts';

// Thousands of entries may be written in a row, so this does less than other files get: nothing waits for the disk, since
// an entry that a power cut leaves in pieces is a miss.

/**
 * Writes an entry whole, or leaves the old one.
 * @param root the folder of all entries
 * @param at when it was put, in milliseconds since the epoch: the time of the file
 * @throws the system's error
 */
export function writeEntryFile(root: string, path: string, bytes: Uint8Array, at: number): void {
  const folder = dirname(path);
  const temp = join(folder, tempName());
  const file = openIn(root, folder, temp);
  try {
    try {
      writeAll(file, bytes);
      futimesSync(file, at / 1000, at / 1000);
    } finally {
      closeSync(file);
    }
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

function openIn(root: string, folder: string, path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    // Deleted while we run.
    makeFolders(root, folder);
    return openSync(path, 'wx', 0o600);
  }
}

/** Makes the folders, private. @throws {AppError} `io_error` */
export function makeFolders(root: string, shard: string): void {
  ensurePrivateFolder(root);
  ensurePrivateFolder(shard);
}

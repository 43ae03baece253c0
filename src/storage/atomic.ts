import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemCode } from '../errors.ts';
import { assertOwnedPath, flushFolder, followLinks, randomName, writeAll } from './files.ts';
import { createFolders } from './folders.ts';
import { ioError } from './io-error.ts';

const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.(?:tmp|lock)$/;
const SWEEP_AFTER_MS = 3_600_000;
const CHUNK_CHARACTERS = 65_536;

export interface AtomicOptions {
  /** Permissions of the new file, limited by the umask. Default 0600. */
  readonly mode?: number;
  /** Whether to wait until the data is on the disk. Default true; false for data that may be lost in a power failure. */
  readonly durable?: boolean;
  /** Whether to replace a symbolic link or a device instead of writing to its target. Default false. */
  readonly replace?: boolean;
  /** Called right before the rename. If it returns false, nothing is written. */
  readonly confirm?: () => boolean;
}

/**
 * Replaces a file atomically: writes a new file next to it, and renames that to its path. For a symbolic link, the
 * target is replaced; a device or pipe is written to directly.
 * @returns false if `confirm` returned false
 * @throws {AppError} `io_error` with the path and the reason
 */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, durable = true, replace = false, confirm = () => true }: AtomicOptions = {},
): boolean {
  try {
    const target = replace ? path : followLinks(path);
    const isDevice = !replace && statSync(target, { throwIfNoEntry: false })?.isFile() === false;
    if (isDevice) {
      writeFileSync(target, data);
      return true;
    }
    const temp = openTemp(target, mode);
    try {
      writeAll(temp.file, typeof data === 'string' ? Buffer.from(data) : data);
      return temp.commit(durable, confirm);
    } catch (error) {
      temp.discard();
      throw error;
    }
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/**
 * Like {@link writeFileAtomic}, for a file of any size that is written in chunks.
 * @param mode permissions of the new file, limited by the umask
 * @throws {AppError} `io_error`; errors of `chunks`
 */
export async function writeChunksAtomic(
  path: string,
  chunks: AsyncIterable<string>,
  mode: number,
): Promise<void> {
  let temp: ReturnType<typeof openTemp> | undefined;
  try {
    temp = openTemp(followLinks(path), mode);
    let pending = '';
    for await (const chunk of chunks) {
      pending += chunk;
      if (pending.length < CHUNK_CHARACTERS) continue;
      writeAll(temp.file, Buffer.from(pending));
      pending = '';
    }
    writeAll(temp.file, Buffer.from(pending));
    temp.commit(true);
  } catch (error) {
    temp?.discard();
    throw systemCode(error) === undefined ? error : ioError('write', path, error);
  }
}

/**
 * Opens a new file next to `target`, which replaces it on commit. The name is short because names have a maximum length.
 */
function openTemp(target: string, mode: number) {
  const path = join(dirname(target), `.restaurant-${randomName()}.tmp`);
  const file = openSync(path, 'wx', mode);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  const discard = () => {
    close();
    rmSync(path, { force: true });
  };
  return {
    file,
    discard,
    commit(durable: boolean, confirm = () => true): boolean {
      if (durable) fsyncSync(file);
      close();
      if (!confirm()) {
        discard();
        return false;
      }
      renameSync(path, target);
      if (durable) flushFolder(dirname(target));
      return true;
    },
  };
}

/**
 * Creates a folder of this program and its parents, with mode 0700. An existing folder is not changed.
 * @throws {AppError} `io_error` if it cannot be created, or if part of its path belongs to another user
 */
export function ensurePrivateFolder(path: string): void {
  try {
    assertOwnedPath(path);
    createFolders(resolve(path));
  } catch (error) {
    throw ioError('create the folder', path, error);
  }
}

/** Deletes temporary files of killed processes that are more than an hour old. Never throws. */
export const sweepTemps = (folder: string): void =>
  deleteFiles(folder, Date.now() - SWEEP_AFTER_MS, (name) => TEMP_NAME.test(name));

/**
 * Deletes the files of a folder, or those whose names match, that were last modified before a time (milliseconds since
 * the epoch). Never throws.
 */
export function deleteFiles(
  folder: string,
  before: number,
  matches: (name: string) => boolean = () => true,
): void {
  let names: string[];
  try {
    names = readdirSync(folder).filter(matches);
  } catch {
    return;
  }
  for (const path of names.map((name) => join(folder, name))) {
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() && stats.mtimeMs < before) rmSync(path, { force: true });
    } catch {
      // Continue with the other files.
    }
  }
}

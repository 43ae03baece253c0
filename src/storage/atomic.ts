// The ways to write a file:
// 1. A file that the user names: `user-files.ts`, as a whole through a `TempFile`, or to a device.
// 2. A file of this program, a client, or an agent, compiled code included: `writeFileAtomic`.
// 3. A line of a file that is only appended to: `log.ts`.
// 4. The config file: `config-file.ts`, with conf.
// A lock is none of them: it must be created in place, and only if there is none (`lock.ts`).

import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { platform as currentPlatform } from 'node:process';
import { attempt, failure, systemCode } from '../errors.ts';
import { again } from '../hint.ts';
import { BUSY_CODES, fileError, flushFolder, perform, randomName, whenFree } from './files.ts';

/** File systems without hard links (FAT, some of networks and containers) report one of these. */
const NO_LINKS = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EINVAL'];

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

/** Of a file that is being written, and of a lock that is being removed. */
export const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.(?:tmp|lock)$/;
const SWEEP_AFTER_MS = 3_600_000;

/** Deletes the temporary files that processes killed more than an hour ago have left in a folder. Never throws. */
export function sweepTemps(folder: string): void {
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    if (!TEMP_NAME.test(name)) continue;
    const path = join(folder, name);
    const stats = attempt(() => lstatSync(path));
    if (stats?.isFile() && stats.mtimeMs < Date.now() - SWEEP_AFTER_MS) attempt(() => unlinkSync(path));
  }
}

interface CommitOptions {
  readonly isDurable: boolean;
  /** Whether to fail with EEXIST, and replace nothing, if there is something by now. */
  readonly isNew?: boolean;
  readonly platform?: NodeJS.Platform | undefined;
}

/** A new file next to `target`, which replaces it on commit. Its name is short, because names have a maximum length. */
export class TempFile {
  readonly #target: string;
  readonly #path: string;
  readonly #file: number;
  #isOpen = true;
  isCommitted = false;

  constructor(target: string, mode: number) {
    this.#target = target;
    this.#path = join(dirname(target), `.restaurant-${randomName()}.tmp`);
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

  commit({ isDurable, isNew = false, platform = currentPlatform }: CommitOptions): void {
    if (isDurable) fsyncSync(this.#file);
    if (isNew) this.#create();
    else this.#replace(platform);
    this.isCommitted = true;
    if (isDurable) flushFolder(dirname(this.#target));
  }

  #replace(platform: NodeJS.Platform): void {
    this.#close();
    try {
      whenFree(() => renameSync(this.#path, this.#target));
    } catch (error) {
      throw isHeldOnWindows(error, this.#target, platform) ? heldError(this.#target, error) : error;
    }
  }

  /** A link, unlike a rename, never replaces a file: that of a folder that another user has exchanged meanwhile. */
  #create(): void {
    try {
      whenFree(() => linkSync(this.#path, this.#target));
    } catch (error) {
      if (!NO_LINKS.includes(systemCode(error) ?? '')) throw error;
      this.#assertUnchanged();
      this.#close();
      whenFree(() => renameSync(this.#path, this.#target));
      return;
    }
    this.#close();
    attempt(() => whenFree(() => unlinkSync(this.#path)));
  }

  #assertUnchanged(): void {
    const [mine, there] = [fstatSync(this.#file), lstatSync(this.#path)];
    const isMine = mine.ino === there.ino && mine.dev === there.dev;
    const isFree = lstatSync(this.#target, { throwIfNoEntry: false }) === undefined;
    if (!isMine || !isFree) throw fileError('EEXIST', 'something is there by now');
  }
}

/** Windows refuses to replace a file that a program such as Excel has open. */
export function isHeldOnWindows(error: unknown, path: string, platform: NodeJS.Platform): boolean {
  if (platform !== 'win32' || !BUSY_CODES.includes(systemCode(error) ?? '')) return false;
  const stats = statSync(path, { throwIfNoEntry: false });
  const isReadOnly = stats !== undefined && (stats.mode & 0o200) === 0;
  return stats?.isFile() === true && !isReadOnly;
}

export const heldError = (path: string, cause: unknown) =>
  failure(
    'in_use',
    `cannot write ${path}: it is open in another program`,
    { text: 'close it and run the same command', command: again() },
    cause,
  );

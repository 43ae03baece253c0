import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { writeFileAtomic } from './atomic.ts';
import { type FileContent, openOwnFile, randomName, readOwnFile, whenFree } from './files.ts';
import { assertOwnPath, createFolders } from './folders.ts';
import { ioError, ioReason } from './io-error.ts';

export type Warn = (message: string) => void;

const MISSING = ['ENOENT', 'ENOTDIR'];
/** Temporary files, and the locks that a takeover needs. */
export const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.(?:tmp|lock)$/;
const SWEEP_AFTER_MS = 3_600_000;

const isMissing = (error: unknown): boolean => MISSING.includes(systemCode(error) ?? '');

/**
 * A folder of this program. Before its first use, even for reading or deleting, its path is checked: afterwards, only
 * this user and root can change what it leads to. Nothing is deleted recursively, and only files with names of ours.
 */
export class OwnFolder {
  readonly path: string;
  #isSafe = false;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws {AppError} `io_error` if another user can change what the path leads to */
  #check(): void {
    if (this.#isSafe) return;
    assertOwnPath(this.path);
    this.#isSafe = existsSync(this.path);
  }

  #locate(name: string): string {
    this.#check();
    return join(this.path, name);
  }

  /** Creates the folder with mode 0700. @throws {AppError} `io_error` */
  create(): void {
    try {
      this.#check();
      createFolders(this.path);
      this.#check();
    } catch (error) {
      throw ioError('create the folder', this.path, error);
    }
  }

  /** @throws as {@link openOwnFile} */
  open(name: string, flags?: number): number {
    return openOwnFile(this.#locate(name), flags);
  }

  /** Reads a file; undefined if it is missing. @throws as {@link readOwnFile} */
  read(name: string, max: number): FileContent | undefined {
    try {
      // Checked first, because creating the error of a failed open takes much longer.
      if (lstatSync(join(this.path, name), { throwIfNoEntry: false }) === undefined) return undefined;
      return readOwnFile(this.#locate(name), max);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Replaces a file atomically, or a link at its path; without waiting for the disk. @throws {AppError} `io_error` */
  write(name: string, data: string | Uint8Array): void {
    this.create();
    writeFileAtomic(join(this.path, name), data, { durable: false, replace: true });
  }

  /** Names of files that match; none if the folder is missing. */
  names(pattern: RegExp): string[] {
    try {
      return readdirSync(this.#locate('')).filter((name) => pattern.test(name));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /**
   * Deletes files, but no folders.
   * @param before only files last modified before this time, in milliseconds since the epoch
   * @returns their number. @throws the first error, after deleting the other files
   */
  deleteFiles(names: readonly string[], before = Number.POSITIVE_INFINITY): number {
    const errors: unknown[] = [];
    let count = 0;
    for (const path of names.map((name) => this.#locate(name))) {
      try {
        const stats = lstatSync(path, { throwIfNoEntry: false });
        if (stats === undefined || stats.isDirectory() || stats.mtimeMs >= before) continue;
        whenFree(() => unlinkSync(path));
        count += 1;
      } catch (error) {
        // Another process may have deleted it.
        if (!isMissing(error)) errors.push(error);
      }
    }
    if (errors.length > 0) throw ioError('delete files in', this.path, errors[0]);
    return count;
  }

  /** Deletes the files whose names match. Never throws. */
  sweep(pattern: RegExp, before?: number): void {
    try {
      this.deleteFiles(this.names(pattern), before);
    } catch {
      // What stays is deleted another time.
    }
  }

  /** Deletes temporary files of killed processes that are more than an hour old. Never throws. */
  sweepTemps(): void {
    this.sweep(TEMP_NAME, Date.now() - SWEEP_AFTER_MS);
  }

  /** Deletes the files whose names match, and the folder if it is then empty. @throws as {@link deleteFiles} */
  clear(pattern: RegExp): number {
    const count = this.deleteFiles(this.names(pattern));
    try {
      rmdirSync(this.path);
    } catch {
      // It is missing, contains other files, or another process has just written one.
    }
    return count;
  }

  /** Renames a damaged file, or whatever is in its place, so that a new one can replace it. Never throws. */
  setAside(name: string, warn: Warn = () => {}): void {
    const path = join(this.path, name);
    try {
      this.#check();
      const isFree = lstatSync(`${path}.damaged`, { throwIfNoEntry: false }) === undefined;
      const target = isFree ? `${path}.damaged` : `${path}.damaged-${randomName()}`;
      whenFree(() => renameSync(path, target));
      warn(`${path} was damaged; renamed it to ${target}`);
    } catch (error) {
      warn(`${path} is damaged and cannot be renamed: ${ioReason(error)}`);
    }
  }
}

import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../errors.ts';
import { sweepTemps, writeFileAtomic } from './atomic.ts';
import {
  assertOwnPath,
  createFolders,
  type FileContent,
  ioError,
  ioReason,
  isMissing,
  openOwnFile,
  perform,
  randomName,
  readOwnFile,
  whenFree,
} from './files.ts';

/** Of several warnings with the same cause, the first is enough. */
export type Warn = (message: string, cause?: string) => void;

/**
 * A folder of this program. Its path is checked before anything is read or deleted in it: only this user and root can
 * change what it leads to. Nothing is deleted recursively, and only files with names of ours.
 */
export class OwnFolder {
  readonly path: string;
  readonly #isStrict: boolean;
  #isSafe = false;

  /** @param content code may be executed: its folder is checked more strictly */
  constructor(path: string, content: 'data' | 'code' = 'data') {
    this.path = path;
    this.#isStrict = content === 'code';
  }

  /** @throws {AppError} `io_error` if another user can change what its path leads to */
  check(): void {
    if (this.#isSafe) return;
    try {
      assertOwnPath(this.path, this.#isStrict);
    } catch (error) {
      throw isMissing(error) ? error : ioError('use', this.path, error);
    }
    this.#isSafe = existsSync(this.path);
  }

  #locate(name: string): string {
    this.check();
    return join(this.path, name);
  }

  create(): void {
    perform('create the folder', this.path, () => {
      this.check();
      createFolders(this.path);
      this.check();
    });
  }

  open(name: string, flags?: number): number {
    return openOwnFile(this.#locate(name), flags);
  }

  read(name: string, max: number): FileContent | undefined {
    try {
      // Much faster than the error of a failed open.
      if (lstatSync(join(this.path, name), { throwIfNoEntry: false }) === undefined) return undefined;
      return readOwnFile(this.#locate(name), max);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Replaces a file or link atomically, without waiting for the disk. */
  write(name: string, data: string | Uint8Array): void {
    this.create();
    writeFileAtomic(join(this.path, name), data, { durable: false });
  }

  names(pattern: RegExp): string[] {
    try {
      return readdirSync(this.#locate('')).filter((name) => pattern.test(name));
    } catch (error) {
      if (isMissing(error)) return [];
      throw ioError('read', this.path, error);
    }
  }

  /** @param before last modified, in milliseconds since the epoch. @throws the first error, after deleting the others */
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
        if (!isMissing(error)) errors.push(error);
      }
    }
    if (errors.length > 0) throw ioError('delete files in', this.path, errors[0]);
    return count;
  }

  /** Like {@link deleteFiles}, but never throws. */
  sweep(pattern: RegExp, before?: number): void {
    attempt(() => this.deleteFiles(this.names(pattern), before));
  }

  sweepTemps(): void {
    attempt(() => {
      this.check();
      sweepTemps(this.path);
    });
  }

  clear(pattern: RegExp): number {
    const count = this.deleteFiles(this.names(pattern));
    // It may be missing, contain other files, or another process has just written one.
    attempt(() => rmdirSync(this.path));
    return count;
  }

  /** Renames a damaged file, or what is in its place. Never throws. */
  setAside(name: string, warn: Warn = () => {}): void {
    const path = join(this.path, name);
    try {
      this.check();
      const isFree = lstatSync(`${path}.damaged`, { throwIfNoEntry: false }) === undefined;
      const target = isFree ? `${path}.damaged` : `${path}.damaged-${randomName()}`;
      whenFree(() => renameSync(path, target));
      warn(`${path} was damaged; renamed it to ${target}`);
    } catch (error) {
      warn(`${path} is damaged and cannot be renamed: ${ioReason(error)}`);
    }
  }
}

import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../errors.ts';
import {
  createFolders,
  type FileContent,
  ioError,
  ioReason,
  isMissing,
  isNotRegularFile,
  OTHER_STATE_FOLDER,
  perform,
  randomName,
  readOwnFile,
  sweepTemps,
  whenFree,
  writeFileAtomic,
} from './files.ts';
import { assertOwnPath } from './trust.ts';

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

/** Its methods never throw, because state is not essential. */
export interface JsonFile<T> {
  read(): T | undefined;
  write(value: T): boolean;
  forget(): void;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** @param decode returns undefined for an invalid value; its file is then renamed */
export function openJsonFile<T>(
  path: string | undefined,
  decode: (value: Readonly<Record<string, unknown>>) => T | undefined,
  warn: Warn = () => {},
): JsonFile<T> {
  if (path === undefined) return { read: () => undefined, write: () => false, forget: () => {} };
  const folder = new OwnFolder(dirname(path));
  const name = basename(path);
  const fail = (action: string, error: unknown) =>
    warn(`${ioError(action, path, error).message}; ${OTHER_STATE_FOLDER}`, OTHER_STATE_FOLDER);

  return {
    read() {
      try {
        const content = folder.read(name, MAX_BYTES);
        if (content === undefined) return undefined;
        const value = decode(Object(JSON.parse(content.bytes.toString('utf8'))));
        if (value === undefined) folder.setAside(name, warn);
        return value;
      } catch (error) {
        if (error instanceof SyntaxError || isNotRegularFile(error)) folder.setAside(name, warn);
        else fail('read', error);
        return undefined;
      }
    },
    write(value) {
      try {
        folder.create();
        sweepTemps(folder.path);
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) folder.setAside(name, warn);
        folder.write(name, `${JSON.stringify(value)}\n`);
        return true;
      } catch (error) {
        fail('write', error);
        return false;
      }
    },
    forget() {
      try {
        folder.deleteFiles([name]);
      } catch (error) {
        fail('delete', error);
      }
    },
  };
}

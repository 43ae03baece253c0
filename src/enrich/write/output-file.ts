import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import { followLinks, writeAll } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { tryLock } from '../../storage/lock.ts';
import { shellWord } from '../../util/shell.ts';
import type { Input } from '../read/input.ts';

/** An output file that no other process writes during the run. */
export interface OutputFile {
  /** Behind all links. */
  readonly path: string;
  /** As the user wrote it. */
  readonly name: string;
  readonly exists: boolean;
  /** A device or pipe, which cannot be read, cut or resumed. */
  readonly device: boolean;
  /** Time of the first run, in milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  release(): void;
}

/** The rows of a run that requests failed rows again; it replaces the output when it is done. */
const retryPath = (path: string): string => `${path}.retry`;

/**
 * Claims the output file for this run; undefined for stdout.
 * @param command builds the command line of this run with other words at its end
 * @throws {AppError} `in_use` where another process writes it; `usage` where it exists, or is the input; `io_error`
 */
export function claimOutput(
  app: App,
  input: Input,
  { resume, force, dryRun }: { readonly resume?: true; readonly force: boolean; readonly dryRun: boolean },
  command: (...words: string[]) => string,
): OutputFile | undefined {
  const wanted = outputPath(app);
  if (wanted === undefined) return undefined;
  const name = app.globals.output ?? wanted;
  const path = attempt(name, () => followLinks(wanted));
  const found = attempt(name, () => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (found?.isDirectory() === true) {
    throw new AppError('io_error', `${name} is a folder`, { hint: 'name a file: -o <folder>/out.csv' });
  }
  // Writing over the list while it is read would lose it.
  if (found !== undefined && input.identity?.dev === found.dev && input.identity.ino === found.ino) {
    throw new AppError('usage', `${name} is the input itself`, {
      hint: 'write to another file: restaurant enrich … -o out.csv',
    });
  }
  const folder = dirname(path);
  if (attempt(name, () => statSync(folder, { throwIfNoEntry: false })) === undefined) {
    throw new AppError('io_error', `cannot write ${name}: there is no folder ${folder}`, {
      hint: `mkdir -p ${shellWord(folder)}`,
    });
  }
  const device = found !== undefined && !found.isFile();
  if (device && resume) {
    throw new AppError('usage', `--resume needs a file, and ${name} is a device`, {
      hint: 'restaurant enrich … -o out.csv --resume',
    });
  }
  const held = device || dryRun ? undefined : tryLock(path);
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !device && !resume && !force) {
      throw new AppError('usage', `${name} exists`, {
        hint: `continue with it: ${command('--resume')}, or start again: ${command('--force')}`,
      });
    }
    return {
      path,
      name,
      device,
      exists: stats !== undefined,
      createdAt: stats === undefined || stats.birthtimeMs <= 0 ? undefined : stats.birthtimeMs,
      release: () => held?.release(),
    };
  } catch (error) {
    held?.release();
    throw error;
  }
}

/** The file that a run writes, and the finished output whose failed rows it requests again. */
export interface OpenOutput {
  readonly file: RowFile;
  readonly previous: RowFile | undefined;
}

/**
 * Opens the files of a run. Where failed rows are requested again, or were when a run was stopped, the rows go into a file
 * beside the output, so that the output stays whole until all of them are written.
 */
export function openOutput(
  { path, exists, device }: OutputFile,
  { resume, retryErrors }: { readonly resume?: true; readonly retryErrors?: true },
): OpenOutput {
  if (device) return { file: openRowFile(path, 'old'), previous: undefined };
  const retry = retryPath(path);
  const hasRetry = statSync(retry, { throwIfNoEntry: false }) !== undefined;
  const mode = exists ? statSync(path).mode & 0o777 : undefined;
  if (!resume || !exists) {
    for (const old of [path, retry]) attempt(old, () => rmSync(old, { force: true }));
    return { file: openRowFile(path, 'new', mode), previous: undefined };
  }
  const file = openRowFile(path, 'old');
  if (!retryErrors && !hasRetry) return { file, previous: undefined };
  return { file: openRowFile(retry, hasRetry ? 'old' : 'new', mode), previous: file };
}

function attempt<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw ioError('write', name, error);
  }
}

/** A file of rows. The system has a row that was appended; the disk has one that was flushed. */
export interface RowFile {
  readonly path: string;
  readonly size: number;
  /** @returns the offset of the text. @throws {AppError} `io_error` */
  append(text: string): number;
  /** Reads bytes. @returns how many there were */
  readBytes(into: Uint8Array, offset: number): number;
  /** Drops what follows that offset. */
  cut(size: number): void;
  /** Waits until the disk has all of it. */
  flush(): void;
  close(): void;
}

const FLAGS = { new: 'ax+', old: 'a+', look: 'r' } as const;

/**
 * Opens a file of rows to write at its end.
 * @param how `new`: it must not exist; `old`: its content stays; `look`: it is only read
 * @param mode permission bits of a new one, cut by the umask
 * @throws {AppError} `io_error`
 */
export function openRowFile(path: string, how: 'new' | 'old' | 'look', mode = 0o644): RowFile {
  const attempt = <T>(act: string, run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw ioError(act, path, error);
    }
  };
  const file = attempt('write', () => openSync(path, FLAGS[how], mode));
  const isFile = fstatSync(file).isFile();
  let size = isFile ? fstatSync(file).size : 0;

  const cut = (to: number): void => {
    if (isFile) attempt('cut', () => ftruncateSync(file, to));
    size = to;
  };

  /** A full disk takes a part of a row. If it cannot be dropped now, the next run drops it. */
  const dropPart = (): void => {
    try {
      if (isFile) ftruncateSync(file, size);
    } catch {
      // The failure of the write is reported.
    }
  };

  return {
    path,
    get size() {
      return size;
    },
    append(text) {
      const bytes = Buffer.from(text);
      try {
        writeAll(file, bytes);
      } catch (error) {
        dropPart();
        throw ioError('write', path, error);
      }
      const offset = size;
      size += bytes.length;
      return offset;
    },
    readBytes: (into, offset) => attempt('read', () => readSync(file, into, 0, into.length, offset)),
    cut,
    flush() {
      if (!isFile) return;
      attempt('write', () => fsyncSync(file));
      if (fstatSync(file).nlink === 0) throw new AppError('io_error', `${path} was deleted during the run`);
    },
    close: () => closeSync(file),
  };
}

import {
  closeSync,
  existsSync,
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
import { checkOutputFile, outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import { writeAll } from '../../storage/files.ts';
import { followLinks } from '../../storage/folders.ts';
import { ioError } from '../../storage/io-error.ts';
import { tryLock } from '../../storage/lock.ts';
import { shellWord } from '../../util/shell.ts';
import type { Input } from '../read/input.ts';

/** An output file that is locked for this run. */
export interface OutputFile {
  /** The path after resolving links. */
  readonly path: string;
  /** The path as given by the user. */
  readonly name: string;
  readonly exists: boolean;
  /** Whether this is a device or pipe, which cannot be read, truncated, or resumed. */
  readonly device: boolean;
  /** Start of the first run, in milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  release(): void;
}

/**
 * Claims the output file for this run; undefined for stdout.
 * @throws {AppError} `in_use` if another process writes it; `usage` if it exists, or is the input; `io_error`
 */
export function claimOutput(
  app: App,
  input: Input,
  { resume, force, dryRun }: { readonly resume?: true; readonly force: boolean; readonly dryRun: boolean },
): OutputFile | undefined {
  const wanted = outputPath(app);
  if (wanted === undefined) return undefined;
  const name = app.globals.output ?? wanted;
  const path = attempt('write', name, () => followLinks(wanted));
  checkOutputFile(app, true);
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  // Overwriting the list while it is read would lose data.
  if (found !== undefined && input.identity?.dev === found.dev && input.identity.ino === found.ino) {
    throw new AppError('usage', `${name} is the input itself`, {
      hint: `write to another file: restaurant enrich … -o ${shellWord(name.replace(/(\.\w+)?$/, '-enriched$1'))}`,
    });
  }
  // The folder of a link's target must exist, too.
  const folder = dirname(path);
  if (found === undefined && !existsSync(folder)) {
    throw new AppError('io_error', `cannot write ${name}: the folder ${folder} does not exist`, {
      hint: `mkdir -p ${shellWord(folder)}`,
    });
  }
  const device = found !== undefined && !found.isFile();
  if (device && resume) {
    throw new AppError('usage', `--resume needs a file, and ${name} is a device`, {
      hint: 'restaurant enrich … -o out.csv --resume',
    });
  }
  const lock = device || dryRun ? undefined : tryLock(path);
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !device && !resume && !force) {
      throw new AppError('usage', `${name} exists`, {
        hint: 'continue with it: restaurant enrich … --resume, or start again: restaurant enrich … --force',
      });
    }
    return {
      path,
      name,
      device,
      exists: stats !== undefined,
      createdAt: stats === undefined || stats.birthtimeMs <= 0 ? undefined : stats.birthtimeMs,
      release: () => lock?.release(),
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/**
 * Opens the file that a run writes. If failed rows are retried, or an earlier retry was stopped, rows are written to a
 * file next to the output. The output stays complete, as `previous`, until all of them are written.
 */
export function openRowFiles(
  { path, exists, device }: OutputFile,
  { resume, retryErrors }: { readonly resume?: true; readonly retryErrors?: true },
): { readonly file: RowFile; readonly previous?: RowFile } {
  if (device) return { file: openRowFile(path, 'a+') };
  const retry = `${path}.retry`;
  const hasRetry = statSync(retry, { throwIfNoEntry: false }) !== undefined;
  const mode = exists ? statSync(path).mode & 0o777 : undefined;
  if (!resume || !exists) {
    for (const old of [path, retry]) attempt('write', old, () => rmSync(old, { force: true }));
    return { file: openRowFile(path, 'ax+', mode) };
  }
  const file = openRowFile(path, 'a+');
  if (!retryErrors && !hasRetry) return { file };
  return { file: openRowFile(retry, hasRetry ? 'a+' : 'ax+', mode), previous: file };
}

function attempt<T>(act: string, name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw ioError(act, name, error);
  }
}

/** A file of rows. An appended row is with the operating system; a flushed row is on the disk. */
export interface RowFile {
  readonly path: string;
  readonly size: number;
  /** @returns the offset of the text. @throws {AppError} `io_error` */
  append(text: string): number;
  readBytes(into: Uint8Array, offset: number): number;
  /** Truncates the file to a size. */
  cut(size: number): void;
  /** Waits until all rows are on the disk. */
  flush(): void;
  close(): void;
}

/**
 * Opens a file of rows.
 * @param flags `ax+`: creates it, and fails if it exists; `a+`: appends to it; `r`: only reads it
 * @param mode permissions of a new file, limited by the umask
 * @throws {AppError} `io_error`
 */
export function openRowFile(path: string, flags: 'ax+' | 'a+' | 'r', mode = 0o644): RowFile {
  const file = attempt('write', path, () => openSync(path, flags, mode));
  const stats = fstatSync(file);
  const isFile = stats.isFile();
  let size = isFile ? stats.size : 0;
  const truncate = (): void => {
    if (isFile) ftruncateSync(file, size);
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
        // A full disk may accept part of a row. If it cannot be removed now, the next run removes it.
        try {
          truncate();
        } catch {}
        throw ioError('write', path, error);
      }
      const offset = size;
      size += bytes.length;
      return offset;
    },
    readBytes: (into, offset) => attempt('read', path, () => readSync(file, into, 0, into.length, offset)),
    cut(to) {
      size = to;
      attempt('cut', path, truncate);
    },
    flush() {
      if (!isFile) return;
      attempt('write', path, () => fsyncSync(file));
      if (fstatSync(file).nlink === 0) throw new AppError('io_error', `${path} was deleted during the run`);
    },
    close: () => closeSync(file),
  };
}

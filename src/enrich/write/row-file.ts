import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { writeAll } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';

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

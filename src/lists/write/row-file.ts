import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, readSync } from 'node:fs';
import { AppError, attempt } from '../../errors.ts';
import { assertRegular, ioError, openNoFollow, openOwnFile, perform, writeAll } from '../../storage/files.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = constants;

/** A file of rows. An appended row is with the operating system; a flushed row is on the disk. Methods throw `io_error`. */
export class RowFile {
  readonly path: string;
  readonly #file: number;
  #size: number;

  private constructor(path: string, open: () => number) {
    this.path = path;
    this.#file = perform('write', path, open);
    this.#size = fstatSync(this.#file).size;
  }

  /** @param mode permissions of the new file, limited by the umask */
  static create(path: string, mode = 0o644): RowFile {
    return new RowFile(path, () => openUserFile(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode));
  }

  static open(path: string): RowFile {
    return new RowFile(path, () => openUserFile(path, O_RDWR | O_APPEND));
  }

  static openForReading(path: string): RowFile {
    return new RowFile(path, () => openUserFile(path, O_RDONLY));
  }

  static openOwn(path: string): RowFile {
    return new RowFile(path, () => openOwnFile(path, O_RDWR | O_APPEND));
  }

  get size(): number {
    return this.#size;
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    try {
      writeAll(this.#file, bytes);
    } catch (error) {
      // A full disk may accept part of a row. If it cannot be removed now, the next run removes it.
      attempt(() => ftruncateSync(this.#file, this.#size));
      throw ioError('write', this.path, error);
    }
    this.#size += bytes.length;
  }

  readBytes(into: Uint8Array, offset: number): number {
    return perform('read', this.path, () => readSync(this.#file, into, 0, into.length, offset));
  }

  cut(size: number): void {
    this.#size = size;
    perform('cut', this.path, () => ftruncateSync(this.#file, size));
  }

  flush(): void {
    perform('write', this.path, () => fsyncSync(this.#file));
    if (fstatSync(this.#file).nlink === 0)
      throw new AppError('io_error', `${this.path} was deleted during the run`);
  }

  /** After a failure, its error is reported, not a disk error after it. */
  close(): void {
    attempt(() => fsyncSync(this.#file));
    closeSync(this.#file);
  }
}

const openUserFile = (path: string, flags: number, mode?: number): number =>
  assertRegular(openNoFollow(path, flags, mode));

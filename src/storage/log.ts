import { closeSync, constants, fstatSync, fsyncSync, lstatSync, readSync, writeSync } from 'node:fs';
import { attempt, failure, systemCode } from '../errors.ts';
import { tryParseJson } from '../util/json.ts';
import { fileError, openOwnFile, openRegular, perform, whenFree } from './files.ts';

/** When appended lines must be on the disk: at once, within a second of writing, or whenever the system likes. */
export type Durability = 'now' | 'soon' | 'never';

export interface LogLine {
  /** Without the line break. Undefined if the line is longer than 64 MiB. */
  readonly text: string | undefined;
  readonly offset: number;
  /** In bytes. */
  readonly length: number;
  /** From 1. */
  readonly number: number;
  /** Whether a line break follows: the last line may be cut off. */
  readonly isEnded: boolean;
}

const BLOCK_BYTES = 1024 * 1024;
const MIN_BYTES = 1024;
const MAX_LINE_BYTES = 64 * BLOCK_BYTES;
const SYNC_MS = 1000;
const LINE_BREAK = 10;
/** Lines are often read in the order in which they were written: a read takes those around them along. */
const WINDOW_BYTES = 32 * 1024;
const BEFORE_BYTES = 8 * 1024;
export const CUT_OFF = ' (cut off)';
const { O_APPEND, O_CREAT, O_RDWR } = constants;

/** Whether a writer found this line cut off, and ended it. */
export const wasCutOff = (text: string): boolean => text.endsWith(CUT_OFF);

/**
 * A file of lines that is only appended to, one line per write. A writer whose lines depend on those before them needs the
 * lock of the file (`lock.ts`). A line that a killed process left without its end is ended first, and never removed.
 */
export class Log {
  readonly path: string;
  readonly #file: number;
  #next = 0;
  #count = 0;
  #isTorn = false;
  #unsynced = false;
  #syncedAt = 0;
  #window = Buffer.alloc(0);
  #windowStart = 0;
  #windowEnd = 0;

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
  }

  /** @returns undefined for no file. @throws {AppError} `io_error` for a link; to append, for a file of another user */
  static open(path: string, access: 'read' | 'append' | 'create'): Log | undefined {
    return perform(access === 'read' ? 'read' : 'write', path, () => {
      try {
        if (access === 'read') return new Log(path, openRegular(path));
        return new Log(path, openOwnFile(path, O_RDWR | O_APPEND | (access === 'create' ? O_CREAT : 0)));
      } catch (error) {
        if (access !== 'create' && systemCode(error) === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  get size(): number {
    return fstatSync(this.#file).size;
  }

  /** Whether another file has taken its place, or none. */
  get isReplaced(): boolean {
    const there = attempt(() => lstatSync(this.path, { bigint: true }));
    const own = fstatSync(this.#file, { bigint: true });
    return there?.ino !== own.ino || there?.dev !== own.dev;
  }

  /** The lines after those of the last call, read in blocks. A last line without an end is returned again next time. */
  *lines(): Generator<LogLine> {
    const parts: Buffer[] = [];
    let length = 0;
    for (const { bytes, isEnd } of this.#pieces()) {
      length += bytes.length;
      // The next piece takes the place of this one.
      if (length <= MAX_LINE_BYTES) parts.push(isEnd ? bytes : Buffer.from(bytes));
      if (!isEnd) continue;
      yield this.#line(joined(parts.splice(0), length), length, true);
      length = 0;
    }
    if (length > 0) yield this.#line(joined(parts, length), length, false);
  }

  *#pieces(): Generator<{ readonly bytes: Buffer; readonly isEnd: boolean }> {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(this.size - this.#next, MIN_BYTES)));
    for (let at = this.#next; ; ) {
      const count = perform('read', this.path, () => readSync(this.#file, block, 0, block.length, at));
      if (count === 0) return;
      at += count;
      for (let start = 0; start < count; ) {
        const found = block.subarray(0, count).indexOf(LINE_BREAK, start);
        const isEnd = found !== -1;
        yield { bytes: block.subarray(start, isEnd ? found : count), isEnd };
        start = isEnd ? found + 1 : count;
      }
    }
  }

  #line(text: string | undefined, length: number, isEnded: boolean): LogLine {
    const line = { text, offset: this.#next, length, number: this.#count + 1, isEnded };
    if (isEnded) {
      this.#next += length + 1;
      this.#count += 1;
    }
    return line;
  }

  read(offset: number, length: number): string {
    if (offset < this.#windowStart || offset + length > this.#windowEnd) this.#moveWindow(offset, length);
    const at = offset - this.#windowStart;
    return this.#window.toString('utf8', at, Math.min(at + length, this.#windowEnd - this.#windowStart));
  }

  #moveWindow(offset: number, length: number): void {
    const start = Math.max(0, offset - BEFORE_BYTES);
    const size = Math.max(WINDOW_BYTES, offset - start + length);
    this.#windowEnd = 0;
    if (this.#window.length !== size) this.#window = Buffer.allocUnsafe(size);
    const count = perform('read', this.path, () => readSync(this.#file, this.#window, 0, size, start));
    this.#windowStart = start;
    this.#windowEnd = start + count;
  }

  /** Ends a last line that was cut off, marked as such unless `lines` has returned it whole. */
  endLastLine(): void {
    const { size } = this;
    this.#isTorn = false;
    if (size === 0 || this.read(size - 1, 1) === '\n') return;
    const length = size - this.#next;
    const isWhole = length <= MAX_LINE_BYTES && tryParseJson(this.read(this.#next, length)) !== undefined;
    this.#write(isWhole ? '\n' : `${CUT_OFF}\n`);
  }

  /** @param text one line, without its end. @throws {AppError} `io_error`; the next line then follows a line break */
  append(text: string, durability: Durability): void {
    if (this.#isTorn) this.endLastLine();
    this.#write(`${text}\n`);
    if (durability === 'never') return;
    this.#unsynced = true;
    if (durability === 'now' || Date.now() - this.#syncedAt >= SYNC_MS) this.flush();
  }

  #write(text: string): void {
    perform('write', this.path, () => {
      const bytes = Buffer.from(text);
      const written = whenFree(() => writeSync(this.#file, bytes));
      if (written === bytes.length) return;
      this.#isTorn = true;
      throw fileError('ENOSPC', 'only a part was written');
    });
  }

  flush(): void {
    if (!this.#unsynced) return;
    perform('write', this.path, () => fsyncSync(this.#file));
    this.#unsynced = false;
    this.#syncedAt = Date.now();
  }

  close(): void {
    try {
      this.flush();
    } finally {
      closeSync(this.#file);
    }
  }

  /** @throws {AppError} `io_error` if another program replaced or deleted the file */
  assertInPlace(): void {
    if (!this.isReplaced) return;
    throw failure('io_error', `another program replaced or deleted ${this.path}`, {
      text: 'run the same command again',
    });
  }
}

function joined(parts: readonly Buffer[], length: number): string | undefined {
  const [first, ...more] = parts;
  if (length > MAX_LINE_BYTES) return undefined;
  return (more.length === 0 ? first : Buffer.concat(parts))?.toString('utf8') ?? '';
}

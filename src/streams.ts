import { fstatSync, statSync, writeSync } from 'node:fs';
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import { isatty } from 'node:tty';
import type { InputStream, OutputStream } from './context.ts';
import { AppError, attempt, failure, PipeClosed, systemCode } from './errors.ts';
import { again, slot } from './hint.ts';
import { isFileOrPipe } from './util/platform.ts';

type TerminalStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

function writeFailure(error: unknown, name: string): Error {
  const code = systemCode(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new PipeClosed(`${name} was closed`);
  const why = code === 'ENOSPC' ? 'the disk is full' : (code ?? 'it failed');
  return failure(
    'io_error',
    `cannot write to ${name}: ${why}`,
    { text: 'write to a disk with free space', command: again({}, { stdout: slot('file') }) },
    error,
  );
}

/** The rest goes through the stream, where a signal can end the wait for a reader. */
const MAX_DIRECT_BYTES = 4096;

/** One of the process's streams. After a write fails, every later write fails with the same error. */
export class ProcessOutput implements OutputStream {
  readonly #descriptor: number;
  readonly #open: () => TerminalStream;
  readonly #name: string;
  readonly #signal: AbortSignal | undefined;
  readonly #isPlain: boolean;
  #written = 0;
  #stream: TerminalStream | undefined;
  #failure: Error | undefined;

  /**
   * @param descriptor short texts are written to it directly
   * @param open called on first use, because Node creates its streams on access
   * @param name for messages
   * @param signal ends the wait for a reader that does not read
   */
  constructor(descriptor: number, open: () => TerminalStream, name: string, signal?: AbortSignal) {
    this.#descriptor = descriptor;
    this.#open = open;
    this.#name = name;
    this.#signal = signal;
    this.#isPlain = isFileOrPipe(descriptor);
  }

  /** Whether the system has everything: nothing was left to a stream. */
  get isWritten(): boolean {
    return this.#stream === undefined;
  }

  get isTTY(): boolean {
    return !this.#isPlain && this.#opened().isTTY === true;
  }

  get columns(): number {
    const columns = this.#isPlain ? undefined : this.#opened().columns;
    return columns !== undefined && columns > 0 ? columns : 80;
  }

  get rows(): number | undefined {
    return this.#isPlain ? undefined : this.#opened().rows || undefined;
  }

  async write(text: string): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const rest = this.#writeDirectly(text);
      if (rest.length > 0) await this.#writeToStream(rest);
    } catch (error) {
      if (this.#signal?.aborted && error === this.#signal.reason) throw error;
      this.#failure ??= writeFailure(error, this.#name);
      throw this.#failure;
    }
  }

  /** @returns the bytes that are not written yet */
  #writeDirectly(text: string): Uint8Array {
    const bytes = Buffer.from(text);
    if (!this.#isPlain || this.#stream !== undefined || this.#written + bytes.length > MAX_DIRECT_BYTES)
      return bytes;
    try {
      const taken = writeSync(this.#descriptor, bytes);
      this.#written += taken;
      return bytes.subarray(taken);
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') throw error;
      return bytes;
    }
  }

  #writeToStream(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      const stop = () => reject(signal?.reason);
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop, { once: true });
      this.#opened().write(bytes, (error) => {
        signal?.removeEventListener('abort', stop);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  #opened(): TerminalStream {
    this.#stream ??= this.#open().on('error', (error) => {
      this.#failure ??= writeFailure(error, this.#name);
    });
    return this.#stream;
  }
}

/** @param open called on first use. @param signal ends reading with its reason */
export function inputFrom(open: () => Readable & { isTTY?: boolean }, signal: AbortSignal): InputStream {
  return {
    get isTTY() {
      return open().isTTY === true;
    },
    async *chunks() {
      const stream = addAbortSignal(signal, open());
      try {
        for await (const chunk of stream) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        throw new AppError('io_error', `cannot read stdin: ${systemCode(cause) ?? 'it failed'}`, { cause });
      }
    },
  };
}

/**
 * Returns whether one of the standard streams was a terminal that has been closed. Such a stream is still a character
 * device, but not a terminal, and not one of the memory devices (`/dev/null`, `/dev/full`).
 */
export const terminalWasClosed = (): boolean =>
  attempt(() =>
    [0, 1, 2].some((file) => {
      const stats = fstatSync(file);
      return (
        stats.isCharacterDevice() &&
        majorNumber(stats.rdev) !== majorNumber(statSync('/dev/null').rdev) &&
        !isatty(file)
      );
    }),
  ) ?? false;

const majorNumber = (device: number): number => device >>> 8;

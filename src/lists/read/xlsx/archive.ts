import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { ioReason } from '../../../storage/files.ts';
import { plural } from '../../../util/format.ts';

/** A workbook that cannot be read. The message completes the sentence `<file> cannot be read: <message>`. */
export class WorkbookError extends Error {}

const MIB = 1024 * 1024;
const MAX_ENTRIES = 10_000;
/** Limits for the size of a part. A part that is compressed more than this, above the size, is meant to fill memory or disk. */
const MAX_SIZE = 1024 * MIB;
const MAX_RATIO = 200;
const MIN_SUSPICIOUS_SIZE = 16 * MIB;

/** The parts of a workbook, a ZIP file. They are unpacked as they are read, up to the size that the directory declares. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #signal: AbortSignal;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, signal: AbortSignal) {
    this.#zip = zip;
    this.#entries = entries;
    this.#signal = signal;
  }

  /** @param descriptor of the file, which stays open. @throws {WorkbookError} */
  static async open(descriptor: number, signal: AbortSignal): Promise<Archive> {
    try {
      const zip = await fromFdPromise(descriptor, { autoClose: false, lazyEntries: true });
      const entries = new Map<string, Entry>();
      if (zip.entryCount > MAX_ENTRIES) throw new WorkbookError(`it has ${plural(zip.entryCount, 'part')}`);
      for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
      return new Archive(zip, entries, signal);
    } catch (cause) {
      throw workbookError(cause);
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** @throws {WorkbookError} if the part is missing, damaged, or too large; the signal's reason */
  async *read(name: string, maxSize = MAX_SIZE): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new WorkbookError(`it has no part ${name}`);
    checkSize(entry, maxSize);
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        this.#signal.throwIfAborted();
        yield chunk as Uint8Array;
      }
    } catch (cause) {
      this.#signal.throwIfAborted();
      throw workbookError(cause);
    }
  }
}

function checkSize({ fileName, compressedSize, uncompressedSize }: Entry, maxSize: number): void {
  if (uncompressedSize > maxSize)
    throw new WorkbookError(
      `its part ${fileName} has ${plural(Math.round(uncompressedSize / MIB), 'MiB', 'MiB')}`,
    );
  if (uncompressedSize > MIN_SUSPICIOUS_SIZE && uncompressedSize > compressedSize * MAX_RATIO)
    throw new WorkbookError(`its part ${fileName} grows ${MAX_RATIO} times and more when it is unpacked`);
}

function workbookError(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof WorkbookError) return cause;
  const reason = 'syscall' in cause ? ioReason(cause) : 'it is damaged or incomplete';
  return new WorkbookError(reason, { cause });
}

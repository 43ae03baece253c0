import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { plural } from '../../../util/format.ts';
import { MAX_BYTES, MIB, UnreadableFile } from '../limits.ts';

const MAX_ENTRIES = 10_000;

/** The parts of a workbook, a ZIP file. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** @throws {UnreadableFile} */
  static async open(bytes: Buffer): Promise<Archive> {
    try {
      const zip = await fromBufferPromise(bytes, { lazyEntries: true });
      const entries = new Map<string, Entry>();
      if (zip.entryCount > MAX_ENTRIES) throw new UnreadableFile(`it has ${plural(zip.entryCount, 'part')}`);
      for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
      return new Archive(zip, entries);
    } catch (cause) {
      throw asUnreadable(cause);
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** @throws {UnreadableFile} if the part is missing, damaged, or too large */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new UnreadableFile(`it has no part ${name}`);
    if (entry.uncompressedSize > MAX_BYTES)
      throw new UnreadableFile(
        `its part ${name} has ${plural(Math.round(entry.uncompressedSize / MIB), 'MiB', 'MiB')}`,
      );
    let sum = 0;
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        sum = crc32(chunk as Uint8Array, sum);
        yield chunk as Uint8Array;
      }
    } catch (cause) {
      throw asUnreadable(cause);
    }
    if (sum !== entry.crc32) throw new UnreadableFile(`its part ${name} is damaged`);
  }
}

const asUnreadable = (cause: unknown): unknown =>
  cause instanceof UnreadableFile ? cause : new UnreadableFile('it is damaged or incomplete', { cause });

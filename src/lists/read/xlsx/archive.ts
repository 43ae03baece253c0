import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { plural } from '../../../util/format.ts';
import { MAX_BYTES, MIB, UnreadableFile } from '../limits.ts';

const MAX_ENTRIES = 10_000;

/** The parts of a workbook, a ZIP file. */
interface Archive {
  has(name: string): boolean;
  /** @throws {UnreadableFile} if the part is missing, damaged, or too large */
  read(name: string): AsyncGenerator<Uint8Array>;
}

/** @throws {UnreadableFile} */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true }).catch(damaged);
  if (zip.entryCount > MAX_ENTRIES) throw new UnreadableFile(`it has ${plural(zip.entryCount, 'part')}`);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
  } catch (cause) {
    damaged(cause);
  }
  async function* read(name: string): AsyncGenerator<Uint8Array> {
    const entry = entries.get(name);
    if (entry === undefined) throw new UnreadableFile(`it has no part ${name}`);
    const { uncompressedSize: size } = entry;
    if (size > MAX_BYTES)
      throw new UnreadableFile(`its part ${name} has ${plural(Math.round(size / MIB), 'MiB', 'MiB')}`);
    let sum = 0;
    const chunks = (await zip.openReadStreamPromise(entry).catch(damaged))[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await chunks.next().catch(damaged);
      if (done === true) break;
      sum = crc32(value as Uint8Array, sum);
      yield value as Uint8Array;
    }
    if (sum !== entry.crc32) throw new UnreadableFile(`its part ${name} is damaged`);
  }
  return { has: (name) => entries.has(name), read };
}

function damaged(cause: unknown): never {
  throw new UnreadableFile('it is damaged or incomplete', { cause });
}

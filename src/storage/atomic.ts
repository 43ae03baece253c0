import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';
import { flushFolder, followLinks, ioError, perform, randomName, whenFree, writeAll } from './files.ts';

const CHUNK_CHARACTERS = 65_536;

export interface AtomicOptions {
  /** Limited by the umask. Default 0600. */
  readonly mode?: number;
  /** Whether to wait until the data is on the disk. Default true. */
  readonly durable?: boolean;
  /** Whether to replace a symbolic link or a device instead of writing to its target. Default false. */
  readonly replace?: boolean;
  readonly confirm?: () => boolean;
}

/** @returns false if `confirm` returned false. @throws {AppError} `io_error` */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, durable = true, replace = false, confirm = () => true }: AtomicOptions = {},
): boolean {
  return perform('write', path, () => {
    const target = replace ? path : followLinks(path);
    const isDevice = !replace && statSync(target, { throwIfNoEntry: false })?.isFile() === false;
    if (isDevice) {
      writeFileSync(target, data);
      return true;
    }
    const temp = new TempFile(target, mode);
    try {
      writeAll(temp.file, typeof data === 'string' ? Buffer.from(data) : data);
      return temp.commit(durable, confirm);
    } catch (error) {
      temp.discard();
      throw error;
    }
  });
}

export async function writeChunksAtomic(
  path: string,
  chunks: AsyncIterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  let temp: TempFile | undefined;
  try {
    temp = new TempFile(path, mode);
    let pending = '';
    for await (const chunk of chunks) {
      const isText = typeof chunk === 'string';
      if (isText) pending += chunk;
      if (isText && pending.length < CHUNK_CHARACTERS) continue;
      writeAll(temp.file, Buffer.from(pending));
      pending = '';
      if (!isText) writeAll(temp.file, chunk);
    }
    writeAll(temp.file, Buffer.from(pending));
    temp.commit(true);
  } catch (error) {
    temp?.discard();
    throw systemCode(error) === undefined ? error : ioError('write', path, error);
  }
}

/** A new file next to `target`, which replaces it on commit. Its name is short, because names have a maximum length. */
export class TempFile {
  readonly target: string;
  readonly path: string;
  readonly file: number;
  #isOpen = true;

  constructor(target: string, mode: number, path = join(dirname(target), `.restaurant-${randomName()}.tmp`)) {
    this.target = target;
    this.path = path;
    this.file = openSync(path, 'wx', mode);
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.file);
    this.#isOpen = false;
  }

  discard(): void {
    this.#close();
    whenFree(() => rmSync(this.path, { force: true }));
  }

  commit(durable: boolean, confirm = () => true): boolean {
    if (durable) fsyncSync(this.file);
    this.#close();
    if (!confirm()) {
      this.discard();
      return false;
    }
    whenFree(() => renameSync(this.path, this.target));
    if (durable) flushFolder(dirname(this.target));
    return true;
  }
}

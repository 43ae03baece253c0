import { type FileHandle, open } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { ioReason } from '../../storage/io-error.ts';
import type { ListFormat } from './row.ts';

export interface Input {
  readonly name: string;
  /** Whether this is a file, which is read twice: to check it, and to process it. */
  readonly replayable: boolean;
  readonly format: ListFormat | undefined;
  /** Device and inode, which identify the file under any name. */
  readonly identity?: { readonly dev: bigint; readonly ino: bigint };
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK = 65_536;

const EXTENSIONS: Readonly<Record<string, ListFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

export function formatOf(path: string): ListFormat | undefined {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

const INPUT_HINT = 'restaurant enrich <file>, or - for stdin';

/**
 * Opens the list. A file stays open, so it can be moved or deleted during the run. Data that is appended later is not
 * read.
 * @param file a path, or `-` for stdin
 * @throws {AppError} `bad_input` if the file cannot be opened
 */
export async function openInput(file: string, context: Pick<Context, 'stdin' | 'cwd'>): Promise<Input> {
  if (file === '-') {
    const chunks = () => context.stdin.chunks();
    return { name: 'stdin', replayable: false, format: undefined, chunks, close: async () => {} };
  }
  if (file === '') throw new AppError('bad_input', "the file name is empty: ''", { hint: INPUT_HINT });
  const handle = await open(resolve(context.cwd(), file)).catch((cause: unknown) => {
    throw new AppError('bad_input', `cannot read ${file}: ${ioReason(cause)}`, {
      cause,
      hint: INPUT_HINT,
    });
  });
  const stats = await handle.stat({ bigint: true });
  if (stats.isDirectory()) {
    await handle.close();
    throw new AppError('bad_input', `${file} is a folder`, {
      hint: 'name a file: restaurant enrich list.csv',
    });
  }
  const size = stats.isFile() ? Number(stats.size) : Number.POSITIVE_INFINITY;
  return {
    name: file,
    replayable: stats.isFile(),
    format: formatOf(file),
    ...(stats.isFile() ? { identity: { dev: stats.dev, ino: stats.ino } } : {}),
    chunks: () => readChunks(handle, file, size),
    close: () => handle.close(),
  };
}

async function* readChunks(handle: FileHandle, file: string, size: number): AsyncGenerator<Uint8Array> {
  // Pipes and devices cannot be read at a position.
  const isFile = Number.isFinite(size);
  for (let at = 0; at < size; ) {
    const length = Math.min(CHUNK, size - at);
    const { bytesRead, buffer } = await handle
      .read(Buffer.allocUnsafe(length), 0, length, isFile ? at : null)
      .catch((cause: unknown) => {
        throw new AppError('io_error', `cannot read ${file}: ${ioReason(cause)}`, { cause });
      });
    if (bytesRead === 0 && !isFile) return;
    // Without this error, the rest of the list would be lost silently.
    if (bytesRead === 0) throw new AppError('io_error', `${file} was truncated during the run`);
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

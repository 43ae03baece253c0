import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ioError } from './io-error.ts';
import { tempName } from './temp-name.ts';
import { followLinks, writeAll } from './write.ts';

const CHUNK = 65_536;

/**
 * Writes a file of any size, piece by piece: whole or not at all, as `writeFileAtomic` does.
 * @param mode permission bits of the new file, cut by the umask
 * @throws {AppError} `io_error`; what the pieces throw
 */
export async function writePieces(path: string, pieces: AsyncIterable<string>, mode: number): Promise<void> {
  const attempt = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw ioError('write', path, error);
    }
  };
  const target = attempt(() => followLinks(path));
  const temp = join(dirname(target), tempName());
  const file = attempt(() => openSync(temp, 'wx', mode));
  try {
    let waiting = '';
    const flush = (): void => attempt(() => writeAll(file, Buffer.from(waiting)));
    try {
      for await (const piece of pieces) {
        waiting += piece;
        if (waiting.length < CHUNK) continue;
        flush();
        waiting = '';
      }
      flush();
      attempt(() => fsyncSync(file));
    } finally {
      closeSync(file);
    }
    attempt(() => renameSync(temp, target));
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

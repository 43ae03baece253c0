import { accessSync, chmodSync, constants, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** A run keeps up to half of this. Memory of a container is often 64 MB. */
const MIN_BYTES = 4 * 1024 ** 3;

/** Whether files can be in memory, where storing them takes no time of a disk. */
function hasMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MIN_BYTES;
  } catch {
    return false;
  }
}

/**
 * Creates one folder for all temporary files of a run, those of its child processes included, and deletes it at the end.
 * It is in memory, unless TMPDIR names a folder. CI also tests storage on a disk.
 */
export function setup(): () => void {
  const isInMemory = process.env.TMPDIR === undefined && hasMemory();
  const folder = realpathSync(mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), 'restaurant-tests-')));
  // Some tests run the program as another user.
  chmodSync(folder, 0o755);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Creates an empty folder, which is deleted at the end of the run. */
export const tempFolder = (): string => mkdtempSync(join(tmpdir(), 'test-'));

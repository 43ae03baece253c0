import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates one folder for all temporary files of a run, those of its child processes included, and deletes it at the end. */
export function setup(): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'restaurant-tests-')));
  // Some tests run the program as another user.
  chmodSync(folder, 0o755);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Creates an empty folder, which is deleted at the end of the run. */
export const tempFolder = (): string => mkdtempSync(join(tmpdir(), 'test-'));

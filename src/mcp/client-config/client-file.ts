import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { readRegularFile } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';

/** The content of a client's file. */
export interface ClientFile {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Maximum size of a client's file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_BACKUPS = 3;
const PERMISSIONS = 0o777;
const OTHERS = 0o077;

/** Creates the error for a client's file that cannot be edited. */
export function invalidConfig(path: string, why: string): AppError {
  return new AppError('bad_config', `cannot edit ${path}: ${why}`, {
    hint: 'fix the file and try again, or add the entry that restaurant mcp config <client> prints without --write',
  });
}

/** Reads a client's file; undefined when it does not exist. @throws {AppError} `io_error`; `bad_config` for other text than UTF-8 */
export function readClientFile(path: string): ClientFile | undefined {
  try {
    const { mode } = statSync(path);
    return { text: decode(readRegularFile(path, MAX_BYTES), path), mode: mode & PERMISSIONS };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidConfig(path, 'it is not UTF-8 text');
  }
}

export interface Replacement {
  readonly path: string;
  readonly before: ClientFile | undefined;
  readonly text: string;
  /** The text holds a key, so only the user may read the file. */
  readonly secret: boolean;
  /** Permission bits of a new file. */
  readonly newMode: number;
  /** Whether a symbolic link at the path is followed. In a project folder it is not. */
  readonly followLinks: boolean;
}

/**
 * Writes a client's file. The previous content is stored beside it as `<path>.bak`; the three newest backups are kept.
 * @returns the path of the backup, when the file existed
 * @throws {AppError} `io_error`
 */
export function writeClientFile(replacement: Replacement): string | undefined {
  const { path, before, text, secret, newMode, followLinks } = replacement;
  const backup = before === undefined ? undefined : writeBackup(path, before);
  const mode = before?.mode ?? newMode;
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw ioError('create the folder', dirname(path), error);
  }
  const finalMode = secret ? mode & ~OTHERS : mode;
  writeFileAtomic(path, text, { mode: finalMode, replace: !followLinks });
  restoreMode(path, finalMode);
  return backup;
}

/** Returns the paths of the backups, newest first. */
export const backupPaths = (path: string): string[] =>
  Array.from({ length: MAX_BACKUPS }, (_, index) => `${path}.bak${index === 0 ? '' : `.${index + 1}`}`);

/** Shifts the older backups by one name and writes the newest. A link at such a name is moved, never followed. */
function writeBackup(path: string, { text, mode }: ClientFile): string {
  const [newest = '', ...older] = backupPaths(path);
  try {
    if (older.length > 0) rmSync(older.at(-1) ?? '', { force: true });
    for (let index = older.length - 1; index >= 0; index -= 1) {
      rename(index === 0 ? newest : (older[index - 1] ?? ''), older[index] ?? '');
    }
    // O_EXCL: never through a link, whatever appears at the name in the meantime.
    writeFileSync(newest, text, { mode, flag: 'wx' });
  } catch (error) {
    throw ioError('write', newest, error);
  }
  restoreMode(newest, mode);
  return newest;
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** Restores permission bits that the umask removed. */
function restoreMode(path: string, mode: number): void {
  try {
    if ((statSync(path).mode & PERMISSIONS) !== mode) chmodSync(path, mode);
  } catch {
    // The file belongs to another user, or the disk has no permissions: it is written nevertheless.
  }
}

import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { readRegularFile } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { damaged } from './damaged.ts';

/** A file of a client as it stands. */
export interface ClientFile {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Far above any client's. */
const MOST = 16 * 1024 * 1024;
const PERMISSIONS = 0o777;
const OTHERS = 0o077;

/** Reads a client's file; undefined where there is none. @throws {AppError} `io_error`; `bad_config` where it is no text */
export function readClientFile(path: string): ClientFile | undefined {
  try {
    const { mode } = statSync(path);
    return { text: decode(readRegularFile(path, MOST), path), mode: mode & PERMISSIONS };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw damaged(path, 'it is not UTF-8 text');
  }
}

export interface Replacement {
  readonly path: string;
  readonly before: ClientFile | undefined;
  readonly text: string;
  /** It holds a key: nobody else may read it. */
  readonly secret: boolean;
  /** Permission bits of a new file. */
  readonly newMode: number;
}

/**
 * Writes a client's file; what it held before is kept beside it.
 * @returns the path of that copy, where there was something to keep
 * @throws {AppError} `io_error`
 */
export function writeClientFile({ path, before, text, secret, newMode }: Replacement): string | undefined {
  const backup = before === undefined ? undefined : keepCopy(path, before);
  const mode = before?.mode ?? newMode;
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw ioError('create the folder', dirname(path), error);
  }
  write(path, text, secret ? mode & ~OTHERS : mode);
  return backup;
}

/** The first free name of `<path>.bak`, `<path>.bak.2`, …; or one that holds the same already. */
function keepCopy(path: string, { text, mode }: ClientFile): string {
  for (let number = 1; ; number += 1) {
    const copy = number === 1 ? `${path}.bak` : `${path}.bak.${number}`;
    const held = readBytes(copy);
    if (held?.equals(Buffer.from(text)) === true) return copy;
    if (held !== undefined) continue;
    write(copy, text, mode);
    return copy;
  }
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, MOST);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

function write(path: string, text: string, mode: number): void {
  writeFileAtomic(path, text, { mode });
  try {
    // The umask may have taken rights that the file had.
    if ((statSync(path).mode & PERMISSIONS) !== mode) chmodSync(path, mode);
  } catch {
    // Another's file, or a disk without permissions: it is written all the same.
  }
}

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../errors.ts';

/** What stands at a path where a plain file should: a folder, pipe, socket or device; or far too much of a file. */
const NO_FILE = ['ENOTPLAIN', 'ENXIO', 'EISDIR', 'ETOOLARGE'];

/**
 * Opens a plain file and nothing else, without ever waiting: a named pipe would wait for its other end, for ever and
 * deaf to Ctrl-C.
 * @throws the system's error; one with the code `ENOTPLAIN` for what is no plain file.
 */
export function openPlain(path: string, flags: number = constants.O_RDONLY, mode = 0o600): number {
  // Windows has no such flag, and no named pipes among its files.
  const file = openSync(path, flags | (constants.O_NONBLOCK ?? 0), mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw Object.assign(new Error('no plain file'), { code: 'ENOTPLAIN' });
}

/**
 * The bytes of a plain file.
 * @throws as {@link openPlain}; one with the code `ETOOLARGE` for more than `most` bytes.
 */
export function readPlain(path: string, most: number): Buffer {
  return readAndClose(openPlain(path), most);
}

/**
 * The bytes of whatever a user named: a file, or a pipe as in `--key-file <(pass restaurant)`.
 * @throws the system's error; one with the code `ETOOLARGE` for more than `most` bytes.
 */
export function readNamed(path: string, most: number): Buffer {
  return readAndClose(openSync(path, 'r'), most);
}

function readAndClose(file: number, most: number): Buffer {
  try {
    return readAll(file, most);
  } finally {
    closeSync(file);
  }
}

/** All bytes from here on, of anything that can be read. @throws one with the code `ETOOLARGE` for more than `most`. */
export function readAll(file: number, most: number): Buffer {
  const tooLarge = () => Object.assign(new Error('too large'), { code: 'ETOOLARGE' });
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size > most) throw tooLarge();
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.allocUnsafe(Math.max(64 * 1024, stats.size - size + 1));
    const count = readSync(file, part, 0, part.length, null);
    if (count === 0) return Buffer.concat(parts);
    size += count;
    if (size > most) throw tooLarge();
    parts.push(part.subarray(0, count));
  }
}

/** Whether it failed because something else stands in the place of a file of ours. */
export function isNoFile(error: unknown): boolean {
  return NO_FILE.includes(systemCode(error) ?? '');
}

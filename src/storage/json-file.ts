import { lstatSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../errors.ts';
import { ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { ioReason } from './io-error.ts';
import { isNoFile, readPlain } from './plain.ts';

/** Far above what is remembered. */
const MAX_BYTES = 16 * 1024 * 1024;

export type Warn = (message: string) => void;

/** What can be remembered as JSON under a path. Nothing here throws: state is a convenience. */
export interface JsonFile<T> {
  /** What was written last; undefined when nothing was, or it is damaged (the file is set aside then). */
  read(): T | undefined;
  write(value: T): void;
}

/**
 * A small file of state.
 * @param path undefined where no state folder is known: nothing is remembered then.
 * @param decode gives undefined for a value of another shape.
 * @param warn told, in a sentence, what could not be read or written.
 */
export function openJsonFile<T>(
  path: string | undefined,
  decode: (value: unknown) => T | undefined,
  warn?: Warn,
): JsonFile<T> {
  if (path === undefined) return { read: () => undefined, write: () => {} };
  return {
    read() {
      const text = readText(path, warn);
      if (text === undefined) return undefined;
      const value = parse(text);
      const decoded = value === undefined ? undefined : decode(value);
      if (decoded === undefined) setAside(path, warn);
      return decoded;
    },
    write(value) {
      try {
        ensurePrivateFolder(dirname(path));
        sweepTemps(dirname(path), Date.now());
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) setAside(path, warn);
        writeFileAtomic(path, `${JSON.stringify(value)}\n`, { durable: false, replace: true });
      } catch (error) {
        warn?.(error instanceof Error ? error.message : `cannot write ${path}`);
      }
    },
  };
}

function readText(path: string, warn: Warn | undefined): string | undefined {
  try {
    return readPlain(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isNoFile(error)) {
      setAside(path, warn);
      return undefined;
    }
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') warn?.(`cannot read ${path}: ${ioReason(error)}`);
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function setAside(path: string, warn: Warn | undefined): void {
  try {
    renameSync(path, `${path}.damaged`);
    warn?.(`${path} is damaged and was set aside as ${path}.damaged`);
  } catch (error) {
    warn?.(`${path} is damaged and cannot be set aside: ${ioReason(error)}`);
  }
}

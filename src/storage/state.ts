import { lstatSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DetectedProtocol } from '../client/mcp/protocol.ts';
import { systemCode } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { isNotRegularFile, readOwnFile } from './files.ts';
import { ioReason } from './io-error.ts';

export type Warn = (message: string) => void;

/** A value that is stored as JSON. Its methods never throw, because state is not essential. */
export interface JsonFile<T> {
  /** Returns the stored value; undefined if there is none, or if it is damaged, in which case the file is renamed. */
  read(): T | undefined;
  write(value: T): void;
  forget(): void;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Renames a damaged file, so that a new one can replace it. Never throws. */
export function quarantine(path: string, warn?: Warn): void {
  try {
    rmSync(`${path}.damaged`, { recursive: true, force: true });
    renameSync(path, `${path}.damaged`);
    warn?.(`${path} was damaged; renamed it to ${path}.damaged`);
  } catch (error) {
    warn?.(`${path} is damaged and cannot be renamed: ${ioReason(error)}`);
  }
}

/**
 * Opens a small state file. Accesses no files until it is used.
 * @param path if undefined, nothing is stored
 * @param decode returns undefined for an invalid value
 * @param warn called with a message if the file cannot be read or written
 */
export function openJsonFile<T>(
  path: string | undefined,
  decode: (value: Readonly<Record<string, unknown>>) => T | undefined,
  warn?: Warn,
): JsonFile<T> {
  if (path === undefined) return { read: () => undefined, write: () => {}, forget: () => {} };

  return {
    read() {
      try {
        // Checked first, because creating the error of a failed open takes much longer.
        if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
        const value: unknown = JSON.parse(readOwnFile(path, MAX_BYTES).bytes.toString('utf8'));
        const decoded = decode(Object(value));
        if (decoded === undefined) quarantine(path, warn);
        return decoded;
      } catch (error) {
        const code = systemCode(error);
        if (error instanceof SyntaxError || isNotRegularFile(error)) quarantine(path, warn);
        else if (code !== 'ENOENT' && code !== 'ENOTDIR') warn?.(`cannot read ${path}: ${ioReason(error)}`);
        return undefined;
      }
    },
    write(value) {
      try {
        ensurePrivateFolder(dirname(path));
        sweepTemps(dirname(path));
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) quarantine(path, warn);
        writeFileAtomic(path, `${JSON.stringify(value)}\n`, { durable: false, replace: true });
      } catch (error) {
        warn?.(error instanceof Error ? error.message : `cannot write ${path}`);
      }
    },
    forget() {
      try {
        rmSync(path, { force: true });
      } catch (error) {
        warn?.(`cannot delete ${path}: ${ioReason(error)}`);
      }
    },
  };
}

/** Opens the stored protocol of one endpoint. Each endpoint has its own file, so no lock is needed. Never throws. */
export function openProtocolStore(
  stateDir: string | undefined,
  endpoint: string,
  warn?: Warn,
): JsonFile<DetectedProtocol> {
  const path = stateDir === undefined ? undefined : join(stateDir, 'protocol', `${sha256Hex(endpoint)}.json`);
  return openJsonFile(path, decodeProtocol, warn);
}

function decodeProtocol({ era, version }: Readonly<Record<string, unknown>>): DetectedProtocol | undefined {
  if (typeof era !== 'string' || !['string', 'undefined'].includes(typeof version)) return undefined;
  return { era, ...(typeof version === 'string' ? { version } : {}) };
}

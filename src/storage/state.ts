import { createHash } from 'node:crypto';
import { lstatSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';
import { ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { isNotRegularFile, readRegularFile } from './files.ts';
import { ioReason } from './io-error.ts';

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
      if (decoded === undefined) quarantine(path, warn);
      return decoded;
    },
    write(value) {
      try {
        ensurePrivateFolder(dirname(path));
        sweepTemps(dirname(path), Date.now());
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) quarantine(path, warn);
        writeFileAtomic(path, `${JSON.stringify(value)}\n`, { durable: false, replace: true });
      } catch (error) {
        warn?.(error instanceof Error ? error.message : `cannot write ${path}`);
      }
    },
  };
}

function readText(path: string, warn: Warn | undefined): string | undefined {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isNotRegularFile(error)) {
      quarantine(path, warn);
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

function quarantine(path: string, warn: Warn | undefined): void {
  try {
    renameSync(path, `${path}.damaged`);
    warn?.(`${path} is damaged and was set aside as ${path}.damaged`);
  } catch (error) {
    warn?.(`${path} is damaged and cannot be set aside: ${ioReason(error)}`);
  }
}

/** The rows of the last search, for `lookup 2`. */
export interface LastResults {
  readonly endpoint: string;
  /** When it was asked, in milliseconds since the epoch. */
  readonly at: number;
  /** Ids in the order of the rows shown. */
  readonly ids: readonly string[];
  /** Names in the same order. */
  readonly names: readonly string[];
}

/** Remembers the rows of a search. Never throws; what fails is told to `warn`. */
export function saveLastResults(stateDir: string | undefined, find: LastResults, warn?: Warn): void {
  const { endpoint, at, ids, names } = find;
  open(stateDir, warn).write({ endpoint, at, ids, names });
}

/** The rows of the last search, or undefined when there is none to rely on. A damaged file is set aside. */
export function readLastResults(stateDir: string | undefined, warn?: Warn): LastResults | undefined {
  return open(stateDir, warn).read();
}

function open(stateDir: string | undefined, warn: Warn | undefined): JsonFile<LastResults> {
  return openJsonFile(
    stateDir === undefined ? undefined : join(stateDir, 'last-find.json'),
    decodeResults,
    warn,
  );
}

function decodeResults(value: unknown): LastResults | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { endpoint, at, ids, names } = value as Record<string, unknown>;
  if (typeof endpoint !== 'string' || typeof at !== 'number') return undefined;
  if (!isTexts(ids) || !isTexts(names) || ids.length !== names.length) return undefined;
  return { endpoint, at, ids, names };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The protocol that an endpoint was found to speak. */
export interface DetectedProtocol {
  readonly era: string;
  /** Protocol version that was agreed on. */
  readonly version?: string;
}

/** What one endpoint speaks. Never throws. */
export interface ProtocolStore {
  read(): DetectedProtocol | undefined;
  write(value: DetectedProtocol): void;
  forget(): void;
}

/** Opens the memory of one endpoint: a file of its own, so that processes need no lock. */
export function openProtocolStore(
  stateDir: string | undefined,
  endpoint: string,
  warn?: Warn,
): ProtocolStore {
  const name = createHash('sha256').update(endpoint).digest('hex');
  const path = stateDir === undefined ? undefined : join(stateDir, 'protocol', `${name}.json`);
  const file = openJsonFile(path, decodeProtocol, warn);
  return {
    read() {
      const found = file.read();
      if (found?.endpoint !== endpoint) return undefined;
      return { era: found.era, ...(found.version === undefined ? {} : { version: found.version }) };
    },
    write({ era, version }) {
      file.write({ endpoint, era, version });
    },
    forget() {
      if (path === undefined) return;
      try {
        rmSync(path, { force: true });
      } catch (error) {
        warn?.(`cannot delete ${path}: ${ioReason(error)}`);
      }
    },
  };
}

interface Remembered {
  endpoint: string;
  era: string;
  version: string | undefined;
}

function decodeProtocol(value: unknown): Remembered | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { endpoint, era, version } = value as Record<string, unknown>;
  if (typeof endpoint !== 'string' || typeof era !== 'string') return undefined;
  if (version !== undefined && typeof version !== 'string') return undefined;
  return { endpoint, era, version };
}

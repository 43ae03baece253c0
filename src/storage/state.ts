import { lstatSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DetectedProtocol } from '../client/mcp/protocol.ts';
import { systemCode } from '../errors.ts';
import { sha256Hex } from '../util/sha256.ts';
import { deleteFiles, ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { isNotRegularFile, readOwnFile } from './files.ts';
import { ioReason } from './io-error.ts';

export type Warn = (message: string) => void;

/** A value that is stored as JSON. Nothing here throws: state is a convenience. */
export interface JsonFile<T> {
  /** Returns the stored value; undefined when there is none, or it is damaged (the file is renamed then). */
  read(): T | undefined;
  write(value: T): void;
  forget(): void;
}

const MAX_BYTES = 16 * 1024 * 1024;
const KEEP_MS = 30 * 86_400_000;

/**
 * Opens a small file of state. Touches no file until it is used.
 * @param path undefined where no state folder is known: nothing is stored then.
 * @param decode returns undefined for a value of another shape.
 * @param warn receives, as a sentence, what could not be read or written.
 */
export function openJsonFile<T>(
  path: string | undefined,
  decode: (value: Readonly<Record<string, unknown>>) => T | undefined,
  warn?: Warn,
): JsonFile<T> {
  if (path === undefined) return { read: () => undefined, write: () => {}, forget: () => {} };

  function quarantine(file: string): void {
    try {
      renameSync(file, `${file}.damaged`);
      warn?.(`${file} was damaged; renamed it to ${file}.damaged`);
    } catch (error) {
      warn?.(`${file} is damaged and cannot be renamed: ${ioReason(error)}`);
    }
  }

  return {
    read() {
      try {
        const value: unknown = JSON.parse(readOwnFile(path, MAX_BYTES).bytes.toString('utf8'));
        const decoded = decode(Object(value));
        if (decoded === undefined) quarantine(path);
        return decoded;
      } catch (error) {
        const code = systemCode(error);
        if (error instanceof SyntaxError || isNotRegularFile(error)) quarantine(path);
        else if (code !== 'ENOENT' && code !== 'ENOTDIR') warn?.(`cannot read ${path}: ${ioReason(error)}`);
        return undefined;
      }
    },
    write(value) {
      try {
        ensurePrivateFolder(dirname(path));
        sweepTemps(dirname(path));
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) quarantine(path);
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

/** A search, stored for `lookup 2` and `last`. */
export interface Search {
  readonly endpoint: string;
  /** When it was sent, in milliseconds since the epoch. */
  readonly at: number;
  readonly query: { readonly name: string; readonly city: string };
  /** The restaurants that were found, in the order in which they were shown. */
  readonly rows: readonly unknown[];
}

export interface LastResults extends Search {
  /** The id of each row; '' for one that has none. */
  readonly ids: readonly string[];
  /** The name of each row. */
  readonly names: readonly string[];
}

/**
 * Opens the last results that were shown in this terminal and to this user. Nothing here throws.
 * @param terminal identifies the terminal or session, as `terminalId` returns it.
 */
export function openResultsStore(stateDir: string | undefined, terminal: string | undefined, warn?: Warn) {
  const open = (name: string) =>
    openJsonFile(stateDir === undefined ? undefined : join(stateDir, name), decodeSearch, warn);
  const ofUser = open('last-find.json');
  const ofTerminal =
    terminal === undefined ? undefined : open(join('terminals', `${sha256Hex(terminal)}.json`));
  return {
    /** Returns the results of this terminal; of the user's last terminal when this one has none. */
    read(): LastResults | undefined {
      const search = ofTerminal?.read() ?? ofUser.read();
      if (search === undefined) return undefined;
      const texts = (field: string): string[] =>
        search.rows.map((row) => Object(row)[field]).map((text) => (typeof text === 'string' ? text : ''));
      return { ...search, ids: texts('service_id'), names: texts('name') };
    },
    /**
     * Stores a search. One without results keeps the earlier list.
     * @param shown whether the rows were shown, numbered, in this terminal
     */
    write(search: Search, shown = true): void {
      if (search.rows.length === 0) return;
      if (shown) ofTerminal?.write(search);
      if (stateDir !== undefined) deleteFiles(join(stateDir, 'terminals'), Date.now() - KEEP_MS);
      ofUser.write(search);
    },
  };
}

function decodeSearch({ endpoint, at, query, rows }: Readonly<Record<string, unknown>>): Search | undefined {
  const { name, city } = Object(query);
  if (typeof endpoint !== 'string' || typeof at !== 'number' || !Array.isArray(rows)) return undefined;
  if (typeof name !== 'string' || typeof city !== 'string') return undefined;
  return { endpoint, at, query: { name, city }, rows };
}

/** Opens the stored protocol of one endpoint: each has its own file, so that processes need no lock. Never throws. */
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

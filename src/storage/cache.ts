import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { parseExact, rawNumber, stringifyExact } from '../util/exact-json.ts';
import { sha256Hex } from '../util/sha256.ts';
import { ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { readOwnFile } from './files.ts';
import { ioError } from './io-error.ts';

/** The parts of a request that a response depends on. */
export interface CacheKey {
  readonly endpoint: string;
  /** From `hashKey`: one account never sees another's responses. */
  readonly keyHash: string;
  readonly tool: string;
  /** The tool's arguments; the order of their keys does not matter. */
  readonly args: unknown;
}

export interface CachedResponse {
  readonly value: unknown;
  /** When it was stored, in milliseconds since the epoch. */
  readonly at: number;
}

/** Responses that were stored by this process or another. */
export interface ResponseCache {
  /**
   * Returns the response, if there is one at most this old (milliseconds). Otherwise the caller sends the request, and
   * then calls `put` or `release`.
   * @param preview the caller will send nothing
   */
  get(
    key: CacheKey,
    maxAgeMs: number,
    preview?: boolean,
  ): CachedResponse | undefined | Promise<CachedResponse | undefined>;
  /** Stores a response (JSON), if possible. */
  put(key: CacheKey, value: unknown): void | Promise<void>;
  /** The request failed, or its response is not to be stored. */
  release?(key: CacheKey): Promise<void>;
}

/** Responses on disk, shared by processes. Failures of the disk and damaged entries are misses, never errors. */
export interface Cache extends ResponseCache {
  /** The folder of the responses. */
  readonly path: string | undefined;
  /** Returns the response, if there is one at most this old (milliseconds). */
  get(key: CacheKey, maxAgeMs: number): CachedResponse | undefined;
  /** Stores a response (JSON), if possible. */
  put(key: CacheKey, value: unknown): void;
  /** Deletes all responses and returns how many. @throws {AppError} `io_error` when they cannot be deleted. */
  clear(): number;
  /** Deletes the responses of one account and returns how many. */
  clearFor(keyHash: string): number;
}

const VERSION = 2;
const MAX_AGE_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{16}-[0-9a-f]{64}\.json$/;
const ACCOUNT_CHARACTERS = 16;
/** An entry may take this share of the cache. */
const MAX_SHARE = 16;
/** After writing this share of the cache, what has become too much is deleted. */
const PRUNE_SHARE = 50;
/** Deleting a little more than needed makes the next time rare. */
const KEEP = 0.9;
/** However many files are there, no more are looked at in one go. */
const MAX_LOOKED_AT = 20_000;

/** Returns the SHA-256 of an API key in hex: identifies an account without naming the key. */
export function hashKey(key: string): string {
  return sha256Hex(`restaurant api key\n${key}`);
}

/**
 * Opens the cache, which keeps about so many entries and bytes. Touches no file until it is used.
 * @param options.cacheDir undefined where no cache folder is known: nothing is cached then
 * @param options.now milliseconds since the epoch
 */
export function openCache({
  cacheDir,
  now,
  maxEntries = 10_000,
  maxBytes = 134_217_728,
}: {
  readonly cacheDir: string | undefined;
  readonly now: () => number;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}): Cache {
  if (cacheDir === undefined) {
    return { path: undefined, get: () => undefined, put: () => {}, clear: () => 0, clearFor: () => 0 };
  }
  const folder = join(cacheDir, 'responses');
  const maxEntryBytes = Math.floor(maxBytes / MAX_SHARE);
  let isReady = false;
  const pruneBytes = Math.ceil(maxBytes / PRUNE_SHARE);
  // Not 0, so that many short runs prune now and then, too.
  let written = Math.floor(Math.random() * pruneBytes);

  function write(path: string, bytes: Uint8Array): void {
    const save = () => writeFileAtomic(path, bytes, { durable: false, replace: true });
    if (!isReady) ensurePrivateFolder(folder);
    isReady = true;
    try {
      save();
    } catch {
      // Perhaps the folder was deleted while this process runs.
      ensurePrivateFolder(folder);
      save();
    }
    written += Math.max(bytes.length, maxBytes / maxEntries);
    if (written < pruneBytes) return;
    written = 0;
    prune(folder, now(), maxEntries, maxBytes);
  }

  return {
    path: folder,
    get(key, maxAgeMs) {
      try {
        const { path, text } = locate(folder, key);
        // A failed open costs much more than this, because of its error.
        if (maxAgeMs <= 0 || !existsSync(path)) return undefined;
        const {
          version,
          key: found,
          at,
          value,
        } = Object(parseExact(readOwnFile(path, maxEntryBytes).toString('utf8'))) as Record<string, unknown>;
        if (version !== VERSION || found !== text || typeof at !== 'number') return undefined;
        const age = now() - at;
        const isUsable = value !== undefined && age >= 0 && age <= Math.min(maxAgeMs, MAX_AGE_MS);
        return isUsable ? { value, at } : undefined;
      } catch {
        return undefined;
      }
    },
    put(key, value) {
      try {
        const { path, text } = locate(folder, key);
        const json = stringifyExact(value);
        if (json === undefined) return;
        const head = JSON.stringify({ version: VERSION, key: text, at: now() }).slice(0, -1);
        const bytes = Buffer.from(`${head},"value":${json}}`);
        if (bytes.length <= maxEntryBytes) write(path, bytes);
      } catch {
        // A full or read-only disk, or a value that is not JSON: not cached.
      }
    },
    clear() {
      try {
        const count = entriesIn(folder).length;
        if (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
        return count;
      } catch (error) {
        throw ioError('clear the cache', folder, error);
      }
    },
    clearFor(keyHash) {
      try {
        const names = entriesIn(folder).filter((name) => name.startsWith(`${accountOf(keyHash)}-`));
        return names.filter((name) => remove(join(folder, name))).length;
      } catch {
        return 0;
      }
    },
  };
}

function accountOf(keyHash: string): string {
  return sha256Hex(keyHash).slice(0, ACCOUNT_CHARACTERS);
}

/** Returns the path of an entry, and the text of its key. @throws {RangeError} for arguments nested too deep. */
function locate(folder: string, { endpoint, keyHash, tool, args }: CacheKey): { path: string; text: string } {
  const text = canonicalJson([endpoint, keyHash, tool, args]);
  return { path: join(folder, `${accountOf(keyHash)}-${sha256Hex(`${VERSION}\n${text}`)}.json`), text };
}

/**
 * Returns JSON with the keys of each object sorted by code unit: equal texts for equal values. Numbers count as they are
 * written, since two long ones may be the same for JavaScript; Unicode is not normalized.
 * @throws {RangeError} when nested too deep.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const member = (name: string | number, inner: unknown) => rawNumber(value, name) ?? canonicalJson(inner);
  if (Array.isArray(value)) return `[${value.map((inner, index) => member(index, inner)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${member(name, inner)}`);
  return `{${members.join(',')}}`;
}

/** @throws the system's error, unless there is no folder. */
function entriesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => ENTRY_NAME.test(name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw error;
  }
}

/** Deletes entries that are too old, then the oldest until the cache is within its limits. */
function prune(folder: string, now: number, maxEntries: number, maxBytes: number): void {
  sweepTemps(folder, now);
  const names = entriesIn(folder);
  const entries = names.slice(0, MAX_LOOKED_AT).flatMap((name) => {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, size: stats.size, mtimeMs: stats.mtimeMs }];
  });
  entries.sort((a, b) => a.mtimeMs - b.mtimeMs);
  let count = names.length;
  let bytes = entries.reduce((sum, { size }) => sum + size, 0);
  const isFull = count > maxEntries || bytes > maxBytes;
  for (const { path, size, mtimeMs } of entries) {
    const isExpired = now - mtimeMs > MAX_AGE_MS;
    const isExcess = isFull && (count > maxEntries * KEEP || bytes > maxBytes * KEEP);
    if (!isExpired && !isExcess) continue;
    remove(path);
    count -= 1;
    bytes -= size;
  }
}

/** Returns whether the file was deleted; it may be gone already, or the disk may be read-only. */
function remove(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}

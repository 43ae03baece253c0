import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { parseExact, rawNumber, stringifyExact } from '../util/exact-json.ts';
import { sha256Hex } from '../util/sha256.ts';
import { deleteFiles, ensurePrivateFolder, sweepTemps, writeFileAtomic } from './atomic.ts';
import { readOwnFile } from './files.ts';
import { ioError } from './io-error.ts';

export interface CachedResponse {
  readonly value: unknown;
  /** When it was stored, in milliseconds since the epoch. */
  readonly at: number;
}

type MaybePromise<T> = T | Promise<T>;

/** Responses that one account received from one endpoint, stored by this process or another. */
export interface ResponseCache {
  /**
   * Returns the response, if there is one at most this old (milliseconds). Otherwise the caller sends the request, and
   * then calls `put` or `release`.
   * @param args the tool's arguments; the order of their keys does not matter
   * @param preview the caller will send nothing
   */
  get(
    tool: string,
    args: unknown,
    maxAgeMs: number,
    preview?: boolean,
  ): MaybePromise<CachedResponse | undefined>;
  /** Stores a response (JSON), if possible. */
  put(tool: string, args: unknown, value: unknown): MaybePromise<void>;
  /** The request failed, or its response is not to be stored. */
  release(tool: string, args: unknown): MaybePromise<void>;
}

/** Responses on disk, shared by processes. Failures of the disk and damaged entries are misses, never errors. */
interface DiskCache extends ResponseCache {
  get(tool: string, args: unknown, maxAgeMs: number): CachedResponse | undefined;
  put(tool: string, args: unknown, value: unknown): void;
}

const VERSION = 2;
const MAX_AGE_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{16}-[0-9a-f]{64}\.json$/;
const ACCOUNT_CHARACTERS = 16;
/** An entry counts as at least so many bytes, so that there are never more than some 10,000 of them. */
const MIN_ENTRY_BYTES = 13_000;
/** An entry may take this share of the cache. */
const MAX_SHARE = 16;
/** After writing this share of the cache, what has become too much is deleted. */
const PRUNE_SHARE = 50;
/** Deleting a little more than needed makes the next time rare. */
const KEEP = 0.9;
/** However many files are there, no more are looked at in one go. */
const MAX_LOOKED_AT = 20_000;

const folderIn = (cacheDir: string): string => join(cacheDir, 'responses');

const hashAccount = (account: string): string => sha256Hex(`restaurant api key\n${account}`);

/** Returns the part of the file names that all responses of an account share. */
const namePrefix = (accountHash: string): string => `${sha256Hex(accountHash).slice(0, ACCOUNT_CHARACTERS)}-`;

/**
 * Opens the cache, which keeps about `maxBytes`. Touches no file until it is used.
 * @param options.cacheDir undefined if no cache folder is known: nothing is cached then
 * @param options.account the API key, and whatever else authenticates: one account never sees another's responses
 * @param options.now milliseconds since the epoch
 */
export function openCache({
  cacheDir,
  endpoint,
  account,
  now,
  maxBytes = 134_217_728,
}: {
  readonly cacheDir: string | undefined;
  readonly endpoint: string;
  readonly account: string;
  readonly now: () => number;
  readonly maxBytes?: number;
}): DiskCache {
  if (cacheDir === undefined) return { get: () => undefined, put() {}, release() {} };
  const folder = folderIn(cacheDir);
  const accountHash = hashAccount(account);
  const prefix = namePrefix(accountHash);
  const maxEntryBytes = Math.floor(maxBytes / MAX_SHARE);
  const pruneBytes = Math.ceil(maxBytes / PRUNE_SHARE);
  // Not 0, so that many short runs prune now and then, too.
  let written = Math.floor(Math.random() * pruneBytes);

  /** Returns the path of an entry, and the text of its key. @throws {RangeError} for arguments nested too deep. */
  function locate(tool: string, args: unknown): { path: string; key: string } {
    const key = canonicalJson([endpoint, accountHash, tool, args]);
    const name = `${prefix}${sha256Hex(`${VERSION}\n${key}`)}.json`;
    return { path: join(folder, name), key };
  }

  return {
    get(tool, args, maxAgeMs) {
      try {
        const { path, key } = locate(tool, args);
        // A failed open costs much more than this, because of its error.
        if (maxAgeMs <= 0 || !existsSync(path)) return undefined;
        const entry: unknown = parseExact(readOwnFile(path, maxEntryBytes).bytes.toString('utf8'));
        const { version, key: found, at, value } = Object(entry) as Record<string, unknown>;
        if (version !== VERSION || found !== key || typeof at !== 'number') return undefined;
        const age = now() - at;
        const isUsable = value !== undefined && age >= 0 && age <= Math.min(maxAgeMs, MAX_AGE_MS);
        return isUsable ? { value, at } : undefined;
      } catch {
        return undefined;
      }
    },
    put(tool, args, value) {
      try {
        const { path, key } = locate(tool, args);
        const json = stringifyExact(value);
        if (json === undefined) return;
        const head = JSON.stringify({ version: VERSION, key, at: now() }).slice(0, -1);
        const bytes = Buffer.from(`${head},"value":${json}}`);
        if (bytes.length > maxEntryBytes) return;
        ensurePrivateFolder(folder);
        writeFileAtomic(path, bytes, { durable: false, replace: true });
        written += Math.max(bytes.length, MIN_ENTRY_BYTES);
        if (written < pruneBytes) return;
        written = 0;
        prune(folder, now(), maxBytes);
      } catch {
        // A full or read-only disk, or a value that is not JSON: not cached.
      }
    },
    release() {},
  };
}

/** Deletes all responses and returns how many. @throws {AppError} `io_error` when they cannot be deleted. */
export function clearResponses(cacheDir: string | undefined): number {
  if (cacheDir === undefined) return 0;
  const folder = folderIn(cacheDir);
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return 0;
    const count = stats.isDirectory() ? entriesIn(folder).length : 0;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    return count;
  } catch (error) {
    if (systemCode(error) === 'ENOTDIR') return 0;
    throw ioError('clear the cache', folder, error);
  }
}

/** Deletes the responses of one account. Never throws. */
export function clearAccount(cacheDir: string | undefined, account: string): void {
  if (cacheDir === undefined) return;
  const prefix = namePrefix(hashAccount(account));
  deleteFiles(folderIn(cacheDir), Number.POSITIVE_INFINITY, (name) => name.startsWith(prefix));
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

const entriesIn = (folder: string): string[] => readdirSync(folder).filter((name) => ENTRY_NAME.test(name));

/** Deletes entries that are too old, then the oldest until the cache is within its limit. */
function prune(folder: string, now: number, maxBytes: number): void {
  sweepTemps(folder);
  const entries = entriesIn(folder)
    .slice(0, MAX_LOOKED_AT)
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats === undefined
        ? []
        : [{ path, size: Math.max(stats.size, MIN_ENTRY_BYTES), mtimeMs: stats.mtimeMs }];
    })
    .sort((a, b) => a.mtimeMs - b.mtimeMs);
  let bytes = entries.reduce((sum, { size }) => sum + size, 0);
  const limit = bytes > maxBytes ? maxBytes * KEEP : maxBytes;
  for (const { path, size, mtimeMs } of entries) {
    if (now - mtimeMs <= MAX_AGE_MS && bytes <= limit) break;
    rmSync(path, { recursive: true, force: true });
    bytes -= size;
  }
}

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
   * Returns the response if there is one of this age (in milliseconds) or newer. Otherwise the caller must send the
   * request, and then call `put` or `release`.
   * @param args the tool's arguments; the order of their keys does not matter
   * @param preview the caller will not send a request
   */
  get(
    tool: string,
    args: unknown,
    maxAgeMs: number,
    preview?: boolean,
  ): MaybePromise<CachedResponse | undefined>;
  /** Stores a response (JSON), if possible. */
  put(tool: string, args: unknown, value: unknown): MaybePromise<void>;
  /** Reports that the request failed, or that its response must not be stored. */
  release(tool: string, args: unknown): MaybePromise<void>;
}

/** Responses on disk, shared by processes. Disk errors and damaged entries count as misses. */
interface DiskCache extends ResponseCache {
  get(tool: string, args: unknown, maxAgeMs: number): CachedResponse | undefined;
  put(tool: string, args: unknown, value: unknown): void;
}

const VERSION = 2;
const MAX_AGE_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{16}-[0-9a-f]{64}\.json$/;
const ACCOUNT_CHARACTERS = 16;
/** Each entry counts as at least this many bytes, which limits the number of entries to about 10,000. */
const MIN_ENTRY_BYTES = 13_000;
/** An entry may take up one part in this many of the cache. */
const MAX_SHARE = 16;
/** The cache is pruned after one part in this many of it has been written. */
const PRUNE_SHARE = 50;
/** Share of the limit that pruning keeps. Deleting more than necessary makes pruning less frequent. */
const KEEP = 0.9;
/** Maximum number of files that pruning checks at a time. */
const MAX_LOOKED_AT = 20_000;

const folderIn = (cacheDir: string): string => join(cacheDir, 'responses');

const hashAccount = (account: string): string => sha256Hex(`restaurant api key\n${account}`);

/** Returns the common prefix of the file names of an account's responses. */
const namePrefix = (accountHash: string): string => `${sha256Hex(accountHash).slice(0, ACCOUNT_CHARACTERS)}-`;

/**
 * Opens the cache, which is limited to about `maxBytes`. Accesses no files until it is used.
 * @param options.cacheDir if undefined, nothing is cached
 * @param options.account the API key and other credentials; accounts never share responses
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
  // Not 0, so that short runs sometimes prune the cache, too.
  let written = Math.floor(Math.random() * pruneBytes);

  /** Returns the path of an entry and the text of its key. @throws {RangeError} if the arguments nest too deep */
  function locate(tool: string, args: unknown): { path: string; key: string } {
    const key = canonicalJson([endpoint, accountHash, tool, args]);
    const name = `${prefix}${sha256Hex(`${VERSION}\n${key}`)}.json`;
    return { path: join(folder, name), key };
  }

  return {
    get(tool, args, maxAgeMs) {
      try {
        const { path, key } = locate(tool, args);
        // Checked first, because creating the error of a failed open takes much longer.
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
        // The disk is full or read-only, or the value is not JSON: do not cache it.
      }
    },
    release() {},
  };
}

/** Deletes all responses. @returns their number @throws {AppError} `io_error` if they cannot be deleted */
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
 * Returns JSON with the keys of each object sorted by code unit: equal texts for equal values. Numbers keep all their
 * digits, because long ones may be equal in JavaScript. Unicode is not normalized.
 * @throws {RangeError} if the value nests too deep
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

/** Deletes expired entries, then the oldest ones until the cache is within its limit. */
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

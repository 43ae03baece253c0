import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../errors.ts';
import { canonicalJson, tryParseJson } from '../util/json.ts';
import { sha256Hex } from '../util/sha256.ts';
import { sweepTemps, TEMP_NAME } from './files.ts';
import { OwnFolder } from './store.ts';

export interface CachedResponse {
  readonly value: unknown;
  readonly text: string;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

type MaybePromise<T> = T | Promise<T>;

export interface ResponseCache {
  /** If there is none, the caller sends the request, unless `offline`, and then calls `put` or `release`. */
  get(
    tool: string,
    args: unknown,
    maxAgeMs: number,
    offline?: boolean,
  ): MaybePromise<CachedResponse | undefined>;
  put(tool: string, args: unknown, text: string): MaybePromise<void>;
  release(tool: string, args: unknown): MaybePromise<void>;
}

type DiskCache = Pick<FolderCache, 'get' | 'put' | 'release' | 'latest'>;

const VERSION = 2;
/** Precedes the text of the response in an entry. */
const VALUE = ',"value":';
const MAX_AGE_MS = 30 * 86_400_000;
const ENTRY_NAME = /^[0-9a-f]{16}-[0-9a-f]{64}\.json$/;
const ACCOUNT_CHARACTERS = 16;
/** Limits the number of entries to about 10,000. */
const MIN_ENTRY_BYTES = 13_000;
const MAX_ENTRY_SHARE = 1 / 16;
const PRUNE_SHARE = 1 / 50;
const MAX_PRUNED = 20_000;
const MAX_LISTED = 2000;

const folderIn = (cacheDir: string): OwnFolder => new OwnFolder(join(cacheDir, 'responses'));

const hashAccount = (account: string): string => sha256Hex(`restaurant api key\n${account}`);

const namePrefix = (account: string): string =>
  `${sha256Hex(hashAccount(account)).slice(0, ACCOUNT_CHARACTERS)}-`;

interface CacheOptions {
  readonly cacheDir: string | undefined;
  readonly endpoint: string;
  /** The API key. Accounts never share responses. */
  readonly account: string;
  readonly credentials?: string;
  readonly now: () => number;
  readonly maxBytes?: number;
}

export function openCache(options: CacheOptions): DiskCache {
  const { cacheDir } = options;
  if (cacheDir === undefined) return { get: () => undefined, put() {}, release() {}, latest: () => [] };
  return new FolderCache(folderIn(cacheDir), options);
}

class FolderCache implements ResponseCache {
  readonly #folder: OwnFolder;
  readonly #options: CacheOptions;
  readonly #credentials: string;
  readonly #prefix: string;
  readonly #maxBytes: number;
  readonly #pruneBytes: number;
  #written: number;

  constructor(folder: OwnFolder, options: CacheOptions) {
    const { account, credentials = account, maxBytes = 134_217_728 } = options;
    this.#folder = folder;
    this.#options = options;
    this.#credentials = hashAccount(credentials);
    this.#prefix = namePrefix(account);
    this.#maxBytes = maxBytes;
    this.#pruneBytes = Math.ceil(maxBytes * PRUNE_SHARE);
    // Not 0, so that short runs sometimes prune the cache, too.
    this.#written = Math.floor(Math.random() * this.#pruneBytes);
  }

  #locate(tool: string, args: unknown): { name: string; key: string } {
    const key = canonicalJson([this.#options.endpoint, this.#credentials, tool, args]);
    return { name: `${this.#prefix}${sha256Hex(`${VERSION}\n${key}`)}.json`, key };
  }

  get #maxEntryBytes(): number {
    return Math.floor(this.#maxBytes * MAX_ENTRY_SHARE);
  }

  get(tool: string, args: unknown, maxAgeMs: number): CachedResponse | undefined {
    if (maxAgeMs <= 0) return undefined;
    try {
      const { name, key } = this.#locate(tool, args);
      const content = this.#folder.read(name, this.#maxEntryBytes);
      if (content === undefined) return undefined;
      const entry = content.bytes.toString('utf8');
      const { version, at, value, ...more } = Object(JSON.parse(entry)) as Record<string, unknown>;
      if (version !== VERSION || more.key !== key || typeof at !== 'number') return undefined;
      const age = this.#options.now() - at;
      if (value === undefined || age < 0 || age > Math.min(maxAgeMs, MAX_AGE_MS)) return undefined;
      // The quotes in the key are escaped, so this is the first match.
      return { value, text: entry.slice(entry.indexOf(VALUE) + VALUE.length, -1), at };
    } catch {
      return undefined;
    }
  }

  put(tool: string, args: unknown, text: string): void {
    try {
      const { name, key } = this.#locate(tool, args);
      const head = JSON.stringify({ version: VERSION, key, at: this.#options.now() }).slice(0, -1);
      const bytes = Buffer.from(`${head}${VALUE}${text}}`);
      if (bytes.length > this.#maxEntryBytes) return;
      this.#folder.write(name, bytes);
      this.#written += Math.max(bytes.length, MIN_ENTRY_BYTES);
      if (this.#written < this.#pruneBytes) return;
      this.#written = 0;
      prune(this.#folder, this.#options.now(), this.#maxBytes);
    } catch {}
  }

  release(): void {}

  latest(tool: string, most: number): unknown[] {
    const start = canonicalJson([this.#options.endpoint, this.#credentials, tool]).slice(0, -1);
    return listEntries(this.#folder, MAX_LISTED, this.#prefix)
      .slice(-most)
      .reverse()
      .flatMap(({ name }) => {
        const content = attempt(() => this.#folder.read(name, this.#maxEntryBytes));
        const { version, key, value } = Object(tryParseJson(content?.bytes.toString('utf8') ?? ''));
        return version === VERSION && String(key).startsWith(start) ? [value] : [];
      });
  }
}

/** The oldest first. */
function listEntries(folder: OwnFolder, most: number, prefix = '') {
  return folder
    .names(ENTRY_NAME)
    .filter((name) => name.startsWith(prefix))
    .slice(0, most)
    .flatMap((name) => {
      const stats = lstatSync(join(folder.path, name), { throwIfNoEntry: false });
      return stats?.isFile()
        ? [{ name, size: Math.max(stats.size, MIN_ENTRY_BYTES), mtimeMs: stats.mtimeMs }]
        : [];
    })
    .sort((one, other) => one.mtimeMs - other.mtimeMs);
}

export function clearResponses(cacheDir: string | undefined): number {
  if (cacheDir === undefined) return 0;
  const folder = folderIn(cacheDir);
  folder.sweep(TEMP_NAME);
  return folder.clear(ENTRY_NAME);
}

export function clearAccount(cacheDir: string | undefined, account: string): void {
  if (cacheDir !== undefined)
    folderIn(cacheDir).sweep(new RegExp(`^${namePrefix(account)}[0-9a-f]{64}\\.json$`));
}

function prune(folder: OwnFolder, now: number, maxBytes: number): void {
  sweepTemps(folder.path);
  const entries = listEntries(folder, MAX_PRUNED);
  let bytes = entries.reduce((sum, { size }) => sum + size, 0);
  for (const { name, size, mtimeMs } of entries) {
    if (now - mtimeMs <= MAX_AGE_MS && bytes <= maxBytes) break;
    folder.deleteFiles([name]);
    bytes -= size;
  }
}

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseExact, stringifyExact } from '../util/exact-json.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { makeFolders, writeEntryFile } from './entry-file.ts';
import { ENTRY_NAME, type EvictionClock, evict, openEvictionClock, type ShardLimits } from './evict.ts';
import { ioError } from './io-error.ts';
import { readPlain } from './plain.ts';

/** What an answer depends on. */
export interface CacheKey {
  readonly endpoint: string;
  /** From `hashKey`: one account never sees another's answers. */
  readonly keyHash: string;
  readonly tool: string;
  /** The tool's arguments; the order of their keys does not matter. */
  readonly args: unknown;
}

export interface CacheOptions {
  /** Undefined where no cache folder is known: every question is a miss then. */
  readonly cacheDir: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How many answers are kept, about. Default 10,000. */
  readonly maxEntries?: number;
  /** How many bytes they may take, about. Default 128 MiB. */
  readonly maxBytes?: number;
  /** How long an answer is kept at most. Default 30 days. */
  readonly maxAgeMs?: number;
}

/** Answers on disk, for several processes at once. Faults of the disk or of an entry are misses, never errors. */
export interface Cache {
  /** The folder of the answers. */
  readonly path: string | undefined;
  /** The answer, if there is one at most this old (milliseconds). `at`: when it was put, milliseconds since the epoch. */
  get(key: CacheKey, maxAgeMs: number): { value: unknown; at: number } | undefined;
  /** Keeps an answer (JSON), if it can. */
  put(key: CacheKey, value: unknown): void;
  /** Deletes all answers. @returns how many. @throws {AppError} `io_error` when they cannot be deleted. */
  clear(): number;
  /** Deletes the answers given to one account. @returns how many. */
  clearFor(keyHash: string): number;
}

const VERSION = 1;
const SHARDS = [...'0123456789abcdef'];
const DAY_MS = 86_400_000;
const ACCOUNT_CHARACTERS = 16;

/** SHA-256 of an API key, in hex: tells accounts apart without saying the key. */
export function hashKey(key: string): string {
  return sha256(`restaurant api key\n${key}`);
}

/** Opens the cache. Touches nothing until asked. */
export function openCache(options: CacheOptions): Cache {
  const {
    cacheDir,
    now,
    maxEntries = 10_000,
    maxBytes = 134_217_728,
    maxAgeMs: keptMs = 30 * DAY_MS,
  } = options;
  if (cacheDir === undefined) return noCache();
  const root = join(cacheDir, 'answers');
  const limits: ShardLimits = {
    entries: Math.max(1, Math.floor(maxEntries / SHARDS.length)),
    bytes: Math.floor(maxBytes / SHARDS.length),
    ageMs: keptMs,
  };
  const clocks = new Map<string, EvictionClock>();
  /** Makes the shard ready to take entries, once. */
  const clockOf = (shard: string): EvictionClock => {
    const known = clocks.get(shard);
    if (known !== undefined) return known;
    makeFolders(root, shard);
    const clock = openEvictionClock(shard, limits);
    clocks.set(shard, clock);
    return clock;
  };

  return {
    path: root,
    get(key, maxAgeMs) {
      const place = placeOf(root, key);
      const entry = place === undefined ? undefined : readEntry(place.path, place.text, limits.bytes);
      if (entry === undefined) return undefined;
      const age = now() - entry.at;
      return maxAgeMs > 0 && age >= 0 && age <= Math.min(maxAgeMs, keptMs) ? entry : undefined;
    },
    put(key, value) {
      try {
        const place = placeOf(root, key);
        const json = stringifyExact(value);
        if (place === undefined || json === undefined) return;
        const at = now();
        const head = JSON.stringify({ version: VERSION, key: place.text, at }).slice(0, -1);
        const bytes = Buffer.from(`${head},"value":${json}}`);
        if (bytes.length > limits.bytes) return;
        const shard = dirname(place.path);
        const clock = clockOf(shard);
        writeEntryFile(root, place.path, bytes, at);
        if (clock.isDue(bytes.length, at)) evict(shard, at, limits);
      } catch {
        // Full or read-only disk, or a value that is no JSON: not cached.
      }
    },
    clear() {
      if (!existsSync(root)) return 0;
      try {
        const count = SHARDS.reduce((sum, shard) => sum + entriesIn(join(root, shard)).length, 0);
        rmSync(root, { recursive: true, force: true, maxRetries: 3 });
        return count;
      } catch (error) {
        throw ioError('clear the cache', root, error);
      }
    },
    clearFor(keyHash) {
      return SHARDS.reduce((sum, shard) => sum + deleteAccount(join(root, shard), accountOf(keyHash)), 0);
    },
  };
}

function noCache(): Cache {
  return { path: undefined, get: () => undefined, put: () => {}, clear: () => 0, clearFor: () => 0 };
}

function accountOf(keyHash: string): string {
  return sha256(keyHash).slice(0, ACCOUNT_CHARACTERS);
}

/** `<root>/<shard>/<account>-<hash>.json`; undefined for a key that is no JSON. */
function placeOf(root: string, key: CacheKey): { path: string; text: string } | undefined {
  try {
    const text = canonicalJson([key.endpoint, key.keyHash, key.tool, key.args]);
    const hash = sha256(`${VERSION}\n${text}`);
    return { path: join(root, hash.slice(0, 1), `${accountOf(key.keyHash)}-${hash}.json`), text };
  } catch {
    return undefined;
  }
}

function readEntry(path: string, key: string, maxBytes: number): { value: unknown; at: number } | undefined {
  try {
    // An open in vain costs many times as much, for its error.
    if (!existsSync(path)) return undefined;
    const entry: unknown = parseExact(readPlain(path, maxBytes).toString('utf8'));
    if (typeof entry !== 'object' || entry === null) return undefined;
    const { version, key: found, at, value } = entry as Record<string, unknown>;
    if (version !== VERSION || found !== key || typeof at !== 'number' || value === undefined)
      return undefined;
    return { value, at };
  } catch {
    return undefined;
  }
}

function entriesIn(shard: string): string[] {
  try {
    return readdirSync(shard).filter((name) => ENTRY_NAME.test(name));
  } catch {
    return [];
  }
}

function deleteAccount(shard: string, account: string): number {
  let count = 0;
  for (const name of entriesIn(shard)) {
    if (!name.startsWith(`${account}-`)) continue;
    try {
      rmSync(join(shard, name));
      count += 1;
    } catch {
      // Another process was faster, or the disk is read-only.
    }
  }
  return count;
}

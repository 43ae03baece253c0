import { hash, randomInt } from 'node:crypto';
import {
  closeSync,
  existsSync,
  futimesSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from '../errors.ts';
import { parseExact, rawNumber, stringifyExact } from '../util/exact-json.ts';
import { ensurePrivateFolder, sweepTemps, tempName } from './atomic.ts';
import { readRegularFile, writeAll } from './files.ts';
import { ioError } from './io-error.ts';

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
    const entry: unknown = parseExact(readRegularFile(path, maxBytes).toString('utf8'));
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

/** SHA-256 in hex. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/**
 * JSON with the keys of each object sorted by code unit: equal texts for equal values. Unicode is kept as it is, not
 * normalised.
 * @throws {RangeError} when nested too deep.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((_, index) => memberJson(value, index)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name]) => `${JSON.stringify(name)}:${memberJson(value, name)}`);
  return `{${members.join(',')}}`;
}

/** Numbers count as they are written: two long ones may be the same for JavaScript. */
function memberJson(container: object, key: string | number): string {
  return rawNumber(container, key) ?? canonicalJson((container as Record<string | number, unknown>)[key]);
}

// Thousands of entries may be written in a row, so this does less than other files get: nothing waits for the disk, since
// an entry that a power cut leaves in pieces is a miss.

/**
 * Writes an entry whole, or leaves the old one.
 * @param root the folder of all entries
 * @param at when it was put, in milliseconds since the epoch: the time of the file
 * @throws the system's error
 */
export function writeEntryFile(root: string, path: string, bytes: Uint8Array, at: number): void {
  const folder = dirname(path);
  const temp = join(folder, tempName());
  const file = openIn(root, folder, temp);
  try {
    try {
      writeAll(file, bytes);
      futimesSync(file, at / 1000, at / 1000);
    } finally {
      closeSync(file);
    }
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

function openIn(root: string, folder: string, path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    // Deleted while we run.
    makeFolders(root, folder);
    return openSync(path, 'wx', 0o600);
  }
}

/** Makes the folders, private. @throws {AppError} `io_error` */
export function makeFolders(root: string, shard: string): void {
  ensurePrivateFolder(root);
  ensurePrivateFolder(shard);
}

/** What one shard (a sixteenth of the cache) may hold. */
export interface ShardLimits {
  readonly entries: number;
  readonly bytes: number;
  readonly ageMs: number;
}

interface Found {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export const ENTRY_NAME = /^[0-9a-f]{16}-[0-9a-f]{64}\.json$/;
const ONE_IN = 16;
const MOST_AT_ONCE = 2000;
/** Deleting a little more than needed makes the next pass rare. */
const KEEP = 0.9;
/** So many entries are put into a shard between two counts of it, which takes as long as many entries. */
const COUNT_EVERY = 64;
/** So often, in milliseconds, a process that goes on looks for what has become too old. */
const LOOK_EVERY_MS = 3_600_000;

/** Tells when it is time to look through a shard. */
export interface EvictionClock {
  /** To be told of each new entry. @param now milliseconds since the epoch. @returns whether it is time */
  isDue(newBytes: number, now: number): boolean;
}

/**
 * Opens the clock of a shard for one process: by chance at its first entry there, when the shard is over its number, when
 * much was added, and now and then.
 */
export function openEvictionClock(shard: string, limits: ShardLimits): EvictionClock {
  let count = 0;
  let uncounted = COUNT_EVERY;
  let bytes = 0;
  let lookedAt = 0;
  const due = (now: number): true => {
    bytes = 0;
    lookedAt = now;
    uncounted = COUNT_EVERY;
    return true;
  };
  return {
    isDue(newBytes, now) {
      uncounted += 1;
      bytes += newBytes;
      const first = lookedAt === 0;
      if (bytes * ONE_IN > limits.bytes || (first && randomInt(ONE_IN) === 0)) return due(now);
      if (first) lookedAt = now;
      if (Math.abs(now - lookedAt) > LOOK_EVERY_MS) return due(now);
      if (uncounted > COUNT_EVERY) {
        count = readdirSync(shard).length;
        uncounted = 0;
      }
      return count + uncounted > limits.entries && due(now);
    },
  };
}

/**
 * Deletes what is too old (or from the future), then the oldest until the shard is within its limits. Looks at a bounded
 * number of entries, whatever is there.
 * @param now milliseconds since the epoch.
 */
export function evict(shard: string, now: number, limits: ShardLimits): void {
  sweepTemps(shard, now);
  const names = readdirSync(shard).filter((name) => ENTRY_NAME.test(name));
  const start = names.length > MOST_AT_ONCE ? randomInt(names.length - MOST_AT_ONCE) : 0;
  const looked = names.slice(start, start + MOST_AT_ONCE).flatMap((name) => inspect(join(shard, name)));
  const [alive, expired] = partition(
    looked,
    ({ mtimeMs }) => mtimeMs <= now + 1000 && now - mtimeMs < limits.ageMs,
  );
  expired.forEach(remove);

  let count = names.length - expired.length;
  let bytes = alive.reduce((sum, { size }) => sum + size, 0);
  if (count <= limits.entries && bytes <= limits.bytes) return;
  for (const entry of alive.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (count <= Math.max(1, limits.entries * KEEP) && bytes <= limits.bytes * KEEP) return;
    remove(entry);
    count -= 1;
    bytes -= entry.size;
  }
}

function inspect(path: string): Found[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? [] : [{ path, size: stats.size, mtimeMs: stats.mtimeMs }];
}

function remove({ path }: Found): void {
  rmSync(path, { force: true });
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

import { randomInt } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sweepTemps } from './atomic.ts';

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

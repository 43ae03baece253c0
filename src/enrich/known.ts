import { decodeFind, decodeLookup } from '../api/decode.ts';
import type { FindOutput, Level, LookupOutput } from '../api/types.ts';
import { type CacheKey, hashKey, openCache } from '../cache/cache.ts';
import type { Found, Search } from './lookups.ts';

/** Answers that were given before, to this program or another command. */
export interface Known {
  find(query: Search): Found | undefined;
  lookup(id: string, level: Level): LookupOutput | undefined;
  keepFind(query: Search, output: FindOutput): void;
  keepLookup(id: string, level: Level, output: LookupOutput): void;
}

export interface KnownOptions {
  readonly cacheDir: string | undefined;
  readonly now: () => number;
  readonly endpoint: string;
  readonly key: string;
  /** How old an answer may be, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Time for keeping answers: this much, and this share of the time of the run. */
const FREE_MS = 1000;
const SHARE = 0.1;

export const nothingKnown: Known = {
  find: () => undefined,
  lookup: () => undefined,
  keepFind: () => {},
  keepLookup: () => {},
};

/**
 * Opens the response cache for a list. Keeping an answer takes longer than a near service needs to give it, so a run
 * that outpaces the disk keeps only a part: its output holds them all.
 */
export function openKnown({ cacheDir, now, endpoint, key, maxAgeMs }: KnownOptions): Known {
  const cache = openCache({ cacheDir, now });
  const keyHash = hashKey(key);
  const startedAt = performance.now();
  let spent = 0;

  const findKey = ({ name, city }: Search): CacheKey => ({
    endpoint,
    keyHash,
    tool: 'find_restaurant',
    args: { name, city },
  });
  const lookupKey = (id: string, fields: Level): CacheKey => ({
    endpoint,
    keyHash,
    tool: 'lookup_restaurant',
    args: { restaurant_id: id, fields },
  });

  function held(cacheKey: CacheKey): unknown {
    return maxAgeMs > 0 ? cache.get(cacheKey, maxAgeMs)?.value : undefined;
  }

  function keep(cacheKey: CacheKey, value: unknown): void {
    const before = performance.now();
    if (spent > FREE_MS + (before - startedAt) * SHARE) return;
    cache.put(cacheKey, value);
    spent += performance.now() - before;
  }

  return {
    find(query) {
      const value = held(findKey(query));
      return value === undefined ? undefined : foundIn(value);
    },
    lookup(id, level) {
      const value = held(lookupKey(id, level));
      return value === undefined ? undefined : attempt(() => decodeLookup({ structuredContent: value }));
    },
    keepFind: (query, output) => keep(findKey(query), output),
    keepLookup: (id, level, output) => keep(lookupKey(id, level), output),
  };
}

function foundIn(value: unknown): Found | undefined {
  const answer = attempt(() => decodeFind({ structuredContent: value }));
  return answer === undefined ? undefined : { results: answer.results, total: answer.output.total_matches };
}

/** An answer that cannot be read is none. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

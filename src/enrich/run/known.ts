import { decodeFind, decodeLookup } from '../../client/results.ts';
import type { FindOutput, Level, LookupOutput } from '../../client/types.ts';
import { type CacheKey, hashKey, openCache } from '../../storage/cache.ts';
import type { Found, Search } from './lookups.ts';

/** Answers that were given before, to this program or another command. */
export interface Known {
  find(query: Search): Found | undefined;
  lookup(id: string, level: Level): LookupOutput | undefined;
  keepFind(query: Search, output: FindOutput): void;
  keepLookup(id: string, level: Level, output: LookupOutput): void;
}

/** How old an answer may be. */
export interface Age {
  readonly maxAgeMs: number;
  /** One that was given since then (milliseconds since the epoch) may be older. */
  readonly since?: number | undefined;
}

export interface KnownOptions extends Age {
  readonly cacheDir: string | undefined;
  readonly now: () => number;
  readonly endpoint: string;
  readonly key: string;
  /** Whether to give up where the disk is slower than the service. */
  readonly thrifty: boolean;
}

/** What may be lost to the disk, for each of looking and keeping: so many answers, then this share of the time of the run. */
const FREE = 500;
const SHARE = 0.02;

export const nothingKnown: Known = {
  find: () => undefined,
  lookup: () => undefined,
  keepFind: () => {},
  keepLookup: () => {},
};

/**
 * Opens the response cache for a list. To keep an answer, or to look for one in vain, takes longer than a near service
 * needs to give it; so a run that outpaces the disk uses the cache for a part of its rows alone. Its output holds the
 * answers anyway.
 */
export function openKnown({ cacheDir, now, endpoint, key, maxAgeMs, since, thrifty }: KnownOptions): Known {
  const cache = openCache({ cacheDir, now });
  const keyHash = hashKey(key);
  const looking = thrifty ? openThrift() : spendthrift;
  const keeping = thrifty ? openThrift() : spendthrift;

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
    const mostMs = since === undefined ? maxAgeMs : Number.POSITIVE_INFINITY;
    if (mostMs <= 0 || !looking.mayGoOn()) return undefined;
    const before = performance.now();
    const answer = cache.get(cacheKey, mostMs);
    if (answer === undefined) looking.lost(performance.now() - before);
    // Told by its time: an age would grow while the list is worked on.
    const isUsable = answer !== undefined && (answer.at >= (since ?? 0) || now() - answer.at <= maxAgeMs);
    return isUsable ? answer.value : undefined;
  }

  function keep(cacheKey: CacheKey, value: unknown): void {
    if (!keeping.mayGoOn()) return;
    const before = performance.now();
    cache.put(cacheKey, value);
    keeping.lost(performance.now() - before);
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

interface Thrift {
  mayGoOn(): boolean;
  lost(ms: number): void;
}

const spendthrift: Thrift = { mayGoOn: () => true, lost: () => {} };

function openThrift(): Thrift {
  const startedAt = performance.now();
  let count = 0;
  let spent = 0;
  return {
    mayGoOn: () => count < FREE || spent <= (performance.now() - startedAt) * SHARE,
    lost: (ms) => {
      count += 1;
      spent += ms;
    },
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

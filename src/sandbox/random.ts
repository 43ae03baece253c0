import { createHash } from 'node:crypto';

/** Derives a UUID (in the format of version 4) from the parts. */
export function stableId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return groups.join('-');
}

/** A random number generator that always gives the same sequence for a seed. */
export interface SeededRandom {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns an integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** Returns one of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** Returns `count` different choices, in their order. */
  some<T>(choices: readonly T[], count: number): T[];
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

/** Creates a generator from a text (mulberry32 over an FNV-1a hash). */
export function seededRandom(seed: string): SeededRandom {
  let state = 0x811c9dc5;
  for (const byte of Buffer.from(seed)) state = Math.imul(state ^ byte, 0x01000193);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    integer: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
    some(choices, count) {
      const left = choices.map((choice, index) => ({ choice, index, order: next() }));
      left.sort((a, b) => a.order - b.order);
      const taken = left.slice(0, count).sort((a, b) => a.index - b.index);
      return taken.map(({ choice }) => choice);
    },
    chance: (probability) => next() < probability,
  };
}

import { createHash } from 'node:crypto';

/** A UUID (version 4 in looks) that is always the same for the same parts. */
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

/** Draws that look random and are always the same for the same seed. */
export interface Draw {
  /** A number in [0, 1). */
  next(): number;
  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** One of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** `count` different ones of the choices, in their order. */
  some<T>(choices: readonly T[], count: number): T[];
  /** True in `share` of the draws. */
  chance(share: number): boolean;
}

/** Draws from a seed text (mulberry32 over an FNV-1a hash). */
export function drawFrom(seed: string): Draw {
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
      const left = choices.map((choice, place) => ({ choice, place, order: next() }));
      left.sort((a, b) => a.order - b.order);
      const taken = left.slice(0, count).sort((a, b) => a.place - b.place);
      return taken.map(({ choice }) => choice);
    },
    chance: (share) => next() < share,
  };
}

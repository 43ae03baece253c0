import { expect } from 'vitest';

const MAX_ATTEMPTS = 20;
/** Shorter times, in milliseconds, depend on the clock and the garbage collector. */
const MIN_MS = 5;

function measure(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Expects work to take at most three times as long for each doubling of its input. The input grows eightfold, where
 * quadratic time would be 64 times as long. The fastest attempts count, because a busy machine only slows down.
 * @param size a size that takes a millisecond or more
 */
export function expectLinearTime(work: (size: number) => unknown, size: number): void {
  let small = Number.POSITIVE_INFINITY;
  let large = Number.POSITIVE_INFINITY;
  const ratio = (): number => large / Math.max(small, MIN_MS);
  for (let attempt = 0; attempt < MAX_ATTEMPTS && !(ratio() < 27); attempt += 1) {
    for (let run = 0; run < 3; run += 1) {
      small = Math.min(
        small,
        measure(() => work(size)),
      );
      large = Math.min(
        large,
        measure(() => work(size * 8)),
      );
    }
  }
  expect(ratio()).toBeLessThan(27);
}

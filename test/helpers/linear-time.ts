import { expect } from 'vitest';

/** Milliseconds of the fastest of three runs: on a busy machine a run may take too long, never too short. */
function fastest(work: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}

/**
 * Expects work to take at most three times as long for each doubling of its input. The input grows eightfold, where
 * quadratic time would be 64 times as long; below some milliseconds the clock and the garbage collector decide.
 * @param size a size that takes a millisecond or more
 */
export function expectLinearTime(work: (size: number) => unknown, size: number): void {
  work(size);
  const ratio = () =>
    fastest(() => work(size * 8)) /
    Math.max(
      fastest(() => work(size)),
      5,
    );
  const first = ratio();
  expect(first < 27 ? first : ratio()).toBeLessThan(27);
}

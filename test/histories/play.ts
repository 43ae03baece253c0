import { expect } from 'vitest';
import { History, type NamedStep } from './history.ts';
import { STEPS } from './steps.ts';

/** A new one in each run. HISTORY_SEED repeats a history that failed. */
export const SEED = Number(process.env.HISTORY_SEED ?? Date.now() % 2 ** 31);
const MAX_SHOWN = 5;
/** Number of histories between two lines about the progress of a long run. */
const PROGRESS = 100;
/** `npm run histories` runs for an hour or two. */
export const MAX_MS = 4 * 3_600_000;

/** Numbers of histories: for `npm test`, in CI, and for `npm run histories`. */
interface Counts {
  readonly few: number;
  readonly full: number;
  readonly histories: number;
}

/** Returns how many histories this run has. The variable HISTORIES sets another number. */
export function countOf(counts: Counts): number {
  const { HISTORIES, TEST_MODE = '' } = process.env;
  if (HISTORIES !== undefined) return Number(HISTORIES);
  return TEST_MODE === 'full' || TEST_MODE === 'histories' ? counts[TEST_MODE] : counts.few;
}

interface Plan {
  readonly steps?: readonly NamedStep[];
  /** Number of steps of each history. */
  readonly length: number;
  readonly start?: number;
}

/** Plays histories, and fails with the seeds and steps of those that broke a rule. */
export async function playAll(count: number, { steps = STEPS, length, start }: Plan): Promise<void> {
  const violations: string[] = [];
  for (let seed = SEED; seed < SEED + count; seed += 1) {
    const history = new History(seed, steps, start);
    try {
      await history.play(length);
    } catch (error) {
      const { message } = error as Error;
      const violation = `HISTORY_SEED=${seed}: ${message}\n  ${history.log.join('\n  ')}`;
      violations.push(violation);
      process.stderr.write(`${violation}\n`);
    }
    const played = seed - SEED + 1;
    if (played % PROGRESS === 0)
      process.stderr.write(`${played} of ${count} histories, ${violations.length} broke a rule\n`);
  }
  const shown = violations.slice(0, MAX_SHOWN).join('\n');
  expect(violations.length, `${violations.length} of ${count} histories broke a rule:\n${shown}`).toBe(0);
}

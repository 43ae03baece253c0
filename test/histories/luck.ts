// How the service treats the requests of a run: by what they ask for, so that neither order nor time changes it.
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { Random } from './random.ts';
import { type Answered, lookupKey } from './record.ts';

export interface Sent {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
}

export const isSearch = ({ tool }: Sent): boolean => tool === 'find_restaurant';
export const isLookup = ({ tool }: Sent): boolean => tool === 'lookup_restaurant';
export const searchKeyOf = ({ args }: Sent): string => JSON.stringify([args.name, args.city]);
export const lookupKeyOf = ({ args }: Sent): string => lookupKey(args.restaurant_id ?? '', args.fields);

/** Of a request. One that is held has no response before its run is stopped. */
export type Fate = 'answered' | 'failed' | 'held';

/** The faults of the sandbox, and the number that chooses between them. */
export const FAULTS: readonly Fault[] = [
  { kind: 'hang', rate: 0.25 },
  { kind: '500', rate: 0.75 },
];
export const NUMBERS: Readonly<Record<Fate, number>> = { held: 0, failed: 0.5, answered: 0.9 };

export interface Luck {
  fateOf(sent: Sent): Fate;
  /** Resolves when the run is to be stopped. @param recorded what the answers file says now */
  stopped?(recorded: () => Answered, isOver: () => boolean): Promise<void>;
}

export const GOOD: Luck = { fateOf: () => 'answered' };

/** Every second request fails. */
export function badLuck(random: Random): Luck {
  const salt = String(random.next());
  const isBad = (sent: Sent) =>
    (createHash('sha256').update(salt).update(JSON.stringify(sent)).digest()[0] ?? 0) % 2 === 0;
  return { fateOf: (sent) => (isBad(sent) ? 'failed' : 'answered') };
}

/** Requests that a run has under way at a time. */
const MAX_REQUESTS = 4;

/**
 * Stops a run in the middle of its searches. Some of them, and all lookups, are held. It is stopped when nothing else can
 * be answered, and the answers are in the file: these are the same each time, whatever comes first.
 * @param due the searches that the run will send
 */
export function stoppingLuck(random: Random, due: readonly string[]): Luck {
  const never = due.length === 0 ? [] : [random.pick(due)];
  const held = new Set([...due.filter(() => random.chance(0.4)), ...never]);
  const lacking = new Set(due);
  let countHeld = 0;
  const isStuck = () => countHeld >= MAX_REQUESTS;
  return {
    fateOf: (sent) => {
      const key = searchKeyOf(sent);
      if (isSearch(sent)) lacking.delete(key);
      if (isSearch(sent) && !held.has(key)) return 'answered';
      countHeld += 1;
      return 'held';
    },
    stopped: async (recorded, isOver) => {
      const answered = due.filter((key) => !held.has(key));
      const isReached = () =>
        countHeld > 0 && lacking.size === 0 && answered.every((key) => recorded().finds.has(key));
      while (!isStuck() && !isOver() && !isReached()) await setImmediate();
    },
  };
}

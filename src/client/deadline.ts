import type { AppError } from '../errors.ts';
import { inWords } from './duration.ts';
import type { Exchange, TransportOptions } from './exchange.ts';
import { ExchangeError } from './failure.ts';
import type { Phase } from './system-error.ts';

/** setTimeout takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Deadline {
  /** Where no time is left, the exchange ends at once. */
  start(): void;
  /** The rest of the answer is not waited for longer than `ms`. */
  leave(ms: number, done: () => void): void;
  stop(): void;
}

/**
 * The time limit of an exchange. There is one for all of it: it also ends an answer that drips, and one that keeps its
 * connection alive for ever.
 */
export function openDeadline(
  { endpoint, now }: TransportOptions,
  { deadline, totalMs }: Exchange,
  phase: () => Phase,
  fail: (error: AppError) => void,
): Deadline {
  const { host } = endpoint;
  const left = Math.max(0, deadline - now());
  const within = inWords(totalMs ?? left);
  const tell = {
    connecting: `no connection to ${host} within ${within}`,
    waiting: `no answer from ${host} within ${within}`,
    reading: `the answer of ${host} did not end within ${within}`,
  };
  const late = () => fail(new ExchangeError('timeout', 'time', tell[phase()]));
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (left === 0) late();
      else timer = setTimeout(late, Math.min(left, MAX_TIMER_MS));
    },
    leave: (ms, done) => {
      clearTimeout(timer);
      timer = setTimeout(done, ms);
    },
    stop: () => clearTimeout(timer),
  };
}

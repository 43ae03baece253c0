import type { AppError } from '../errors.ts';
import { inWords } from './duration.ts';
import type { Exchange, TransportOptions } from './exchange.ts';
import { ExchangeError } from './failure.ts';
import type { Phase } from './system-error.ts';

/** setTimeout takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Deadlines {
  /** The request went out. */
  sent(): void;
  /** A part of the answer came. */
  heard(): void;
  /** The rest of the answer is not waited for longer than `ms`. */
  leave(ms: number, done: () => void): void;
  stop(): void;
}

/** Starts the timers of an exchange. Each has its own message. */
export function startDeadlines(
  { endpoint, now, firstByteMs, silenceMs }: TransportOptions,
  { deadline, totalMs }: Exchange,
  phase: () => Phase,
  fail: (error: AppError) => void,
): Deadlines {
  const { host } = endpoint;
  const left = Math.max(0, deadline - now());
  const within = inWords(totalMs ?? left);
  const tell = {
    connecting: `no connection to ${host} within ${within}`,
    waiting: `no answer from ${host} within ${within}`,
    reading: `the answer of ${host} did not end within ${within}`,
  };
  let total = setTimeout(() => fail(tooLate(tell[phase()])), Math.min(left, MAX_TIMER_MS));
  let pause: NodeJS.Timeout | undefined;
  const arm = (ms: number | undefined, message: (time: string) => string) => {
    clearTimeout(pause);
    if (ms !== undefined)
      pause = setTimeout(() => fail(tooLate(message(inWords(ms)))), Math.min(ms, MAX_TIMER_MS));
  };
  return {
    sent: () => arm(firstByteMs, (time) => `no answer from ${host} within ${time}`),
    heard: () => arm(silenceMs, (time) => `${host} stopped in the middle of its answer, silent for ${time}`),
    leave: (ms, done) => {
      clearTimeout(total);
      total = setTimeout(done, ms);
    },
    stop: () => {
      clearTimeout(total);
      clearTimeout(pause);
    },
  };
}

function tooLate(message: string): AppError {
  return new ExchangeError('timeout', 'time', message);
}

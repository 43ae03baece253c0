import { Refusal } from './refusal.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Counts requests an account made in sliding windows of 60 seconds and 24 hours. */
export interface Limiter {
  /**
   * Books one request. A request that is turned away is not booked, so `Retry-After` holds.
   * @throws {Refusal} 429 with `Retry-After` in whole seconds, rounded up.
   */
  book(account: string): void;
}

/** A limiter; 0 switches a window off. `now` is in milliseconds. */
export function createLimiter(perMinute: number, perDay: number, now: () => number): Limiter {
  const booked = new Map<string, number[]>();
  const windows = [
    { length: MINUTE, limit: perMinute, name: 'minute' },
    { length: DAY, limit: perDay, name: 'day' },
  ].filter((window) => window.limit > 0);
  const longest = Math.max(0, ...windows.map((window) => window.length));

  return {
    book(account) {
      const time = now();
      const times = (booked.get(account) ?? []).filter((at) => at > time - longest && at <= time);
      booked.set(account, times);
      let wait = 0;
      let reason = '';
      for (const { length, limit, name } of windows) {
        const inside = times.filter((at) => at > time - length);
        const blocking = inside[inside.length - limit];
        if (blocking === undefined) continue;
        wait = Math.max(wait, blocking + length - time);
        reason = `more than ${limit} ${limit === 1 ? 'request' : 'requests'} in a ${name}`;
      }
      if (wait > 0) throw tooMany(reason, Math.max(1, Math.ceil(wait / 1000)));
      if (windows.length > 0) times.push(time);
    },
  };
}

/** The 429 as the service gives it. */
export function tooMany(message: string, retryAfterSeconds: number): Refusal {
  return new Refusal(429, 'rate_limited', message, { 'Retry-After': String(retryAfterSeconds) });
}

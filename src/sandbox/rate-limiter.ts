import { HttpError } from './reply.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Counts the requests of each account in sliding windows of 60 seconds and 24 hours. */
export interface RateLimiter {
  /**
   * Counts one request. A rejected request is not counted, so `Retry-After` holds.
   * @throws {HttpError} 429 with `Retry-After` in whole seconds, rounded up.
   */
  consume(account: string): void;
}

/** Creates a limiter; 0 disables a window. `now` returns milliseconds. */
export function createRateLimiter(perMinute: number, perDay: number, now: () => number): RateLimiter {
  const requests = new Map<string, number[]>();
  const windows = [
    { lengthMs: MINUTE_MS, limit: perMinute, name: 'minute' },
    { lengthMs: DAY_MS, limit: perDay, name: 'day' },
  ].filter(({ limit }) => limit > 0);
  const keepMs = Math.max(0, ...windows.map(({ lengthMs }) => lengthMs));

  return {
    consume(account) {
      const time = now();
      const times = (requests.get(account) ?? []).filter((at) => at > time - keepMs && at <= time);
      requests.set(account, times);
      let waitMs = 0;
      let reason = '';
      for (const { lengthMs, limit, name } of windows) {
        const inWindow = times.filter((at) => at > time - lengthMs);
        const blocking = inWindow[inWindow.length - limit];
        if (blocking === undefined) continue;
        waitMs = Math.max(waitMs, blocking + lengthMs - time);
        reason = `more than ${limit} ${limit === 1 ? 'request' : 'requests'} in a ${name}`;
      }
      if (waitMs > 0) throw tooManyRequests(reason, Math.max(1, Math.ceil(waitMs / 1000)));
      if (windows.length > 0) times.push(time);
    },
  };
}

/** The 429 of the service. */
export function tooManyRequests(message: string, retryAfterSeconds: number): HttpError {
  return new HttpError(429, 'rate_limited', message, { 'Retry-After': String(retryAfterSeconds) });
}

import { randomUUID } from 'node:crypto';
import {
  DAY_MS,
  type Grant,
  type Ledger,
  type Limits,
  longestWait,
  type TakeBack,
  type Usage,
  type WindowUsage,
} from '../storage/ledger.ts';
import { NOW, type Store } from './store.ts';

/** A minute, and the time between a grant and the arrival of the request at the service. */
const MINUTE_MS = 62_000;
const MAX_DELAY_MS = 1500;

/**
 * KEYS: times of requests (sorted set), end of the pause. ARGV: action (grant, record, usage), requests per minute and
 * per day, id of this request. A request that is repeated because the reply was lost or late counts once.
 */
const LEDGER = `${NOW}
redis.call('ZREM', KEYS[1], ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${DAY_MS})
local function window(limit, length)
  local used = redis.call('ZCOUNT', KEYS[1], '(' .. (now - length), '+inf')
  if limit == 0 or used < limit then return used, 0 end
  return used, tonumber(redis.call('ZRANGE', KEYS[1], -limit, -limit, 'WITHSCORES')[2]) + length
end
local minuteUsed, minuteFree = window(tonumber(ARGV[2]), ${MINUTE_MS})
local dayUsed, dayFree = window(tonumber(ARGV[3]), ${DAY_MS})
local pause = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
if not (pause > now and pause <= now + ${DAY_MS}) then pause = 0 end
local granted = 0
if ARGV[1] == 'record' or (ARGV[1] == 'grant' and minuteFree == 0 and dayFree == 0 and pause == 0) then
  granted = 1
  redis.call('ZADD', KEYS[1], now, ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ${DAY_MS})
end
return { granted, now, minuteUsed, minuteFree, dayUsed, dayFree, pause }`;

/** KEYS: end of the pause. ARGV: its length in milliseconds. */
const PAUSE = `${NOW}
local pause = now + math.min(tonumber(ARGV[1]), ${DAY_MS})
local last = tonumber(redis.call('GET', KEYS[1]) or 0) or 0
if pause > last or last > now + ${DAY_MS} then
  redis.call('SET', KEYS[1], string.format('%.0f', pause), 'PX', math.max(1, pause - now))
end
return 'OK'`;

type Reply = readonly [
  granted: number,
  now: number,
  minuteUsed: number,
  minuteFree: number,
  dayUsed: number,
  dayFree: number,
  pause: number,
];

const isReply = (reply: unknown): reply is Reply =>
  Array.isArray(reply) &&
  reply.length === 7 &&
  reply.every((number) => Number.isSafeInteger(number) && number >= 0 && number < 1e14);

/** A ledger in Redis, whose script counts by the clock of the server. */
export function sharedLedger(store: Store, prefix: string, { perMinute, perDay }: Limits): Ledger {
  const { now } = store.context;

  /** Calls the script, and converts the times in its reply to the clock of this machine. */
  async function call(action: 'grant' | 'record' | 'usage', id: string) {
    const [granted, serverNow, minuteUsed, minuteFree, dayUsed, dayFree, pause] = await store.run<Reply>({
      script: LEDGER,
      keys: [`${prefix}:requests`, `${prefix}:pause`],
      args: [action, `${perMinute}`, `${perDay}`, id],
      parse: (reply) => (isReply(reply) ? reply : undefined),
    });
    const localTime = (time: number): number => now() + (time - serverNow);
    const windowOf = (limit: number, used: number, free: number): WindowUsage => ({
      limit,
      used,
      ...(free === 0 ? {} : { freeAt: localTime(free) }),
    });
    const usage: Usage = {
      perMinute: windowOf(perMinute, minuteUsed, minuteFree),
      perDay: windowOf(perDay, dayUsed, dayFree),
      ...(pause === 0 ? {} : { pausedUntil: localTime(pause) }),
    };
    return { granted: granted === 1, usage };
  }

  async function takeBack(id: string): Promise<void> {
    await call('usage', id);
  }

  return {
    async record(): Promise<TakeBack> {
      const id = randomUUID();
      await call('record', id);
      return () => takeBack(id);
    },
    async grant(): Promise<Grant> {
      const id = randomUUID();
      const usableUntil = now() + MAX_DELAY_MS;
      const { granted, usage } = await call('grant', id);
      if (granted) return { granted, usableUntil, takeBack: () => takeBack(id) };
      // A reply without a reason to wait makes no sense.
      return { granted, ...(longestWait(usage) ?? { freeAt: usableUntil, window: 'minute' }) };
    },
    async pauseUntil(until) {
      const args = [`${Math.max(0, Math.ceil(until - now()))}`];
      const parse = (reply: unknown) => reply === 'OK' || undefined;
      await store.run({ script: PAUSE, keys: [`${prefix}:pause`], args, parse });
    },
    usage: async () => (await call('usage', '')).usage,
  };
}

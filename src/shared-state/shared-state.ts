import { createHmac, hash, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createClient } from '@redis/client';
import { privateCaHint, UNKNOWN_AUTHORITY } from '../client/http/network-error.ts';
import type { Context } from '../context.ts';
import { systemCode } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { type CachedResponse, canonicalJson, type ResponseCache } from '../storage/cache.ts';
import {
  type Ledger,
  type Limits,
  longestWait,
  SharedStateError,
  tooLate,
  type Usage,
} from '../storage/ledger.ts';
import { DAY_MS } from '../storage/time-log.ts';
import { parseExact, stringifyExact } from '../util/exact-json.ts';

/** The request ledger and the response cache of many machines, in Redis or Valkey. */
export interface SharedState {
  ledger(endpoint: string, key: string, limits: Limits): Ledger;
  /** @param account the API key and other credentials */
  cache(endpoint: string, account: string): ResponseCache;
  close(): void;
}

interface SharedStateOptions {
  readonly url: URL;
  readonly context: Pick<Context, 'now' | 'sleep' | 'signal'>;
  /** How long to retry if the store fails during a run, in milliseconds. */
  readonly maxWaitMs: number;
  readonly warn: (message: string) => void;
}

type Connection = ReturnType<typeof connectionTo>;
type Reply = number | string | null | readonly Reply[];

/** A minute, and the time between a grant and the arrival of the request at the service. */
const MINUTE_MS = 62_000;
const MAX_DELAY_MS = 1500;
const CONNECT_MS = 5000;
/** A reply that takes longer counts as a failure of the connection. */
const REPLY_MS = 5000;
const RETRY_MS = 250;
const KEEP_MS = 30 * DAY_MS;
/** Lifetime of a claim after its process last renewed it, so that others wait only briefly for a killed process. */
const CLAIM_MS = 6000;
const RENEW_MS = 2000;
/** Maximum time to wait for the response to a query that another process has sent. */
const MAX_CLAIM_WAIT_MS = 120_000;
const POLL_MS = 100;

/** Milliseconds on the clock of the server, which is the same for all machines. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

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
local pause = tonumber(redis.call('GET', KEYS[2]) or 0)
if pause <= now then pause = 0 end
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
if pause > tonumber(redis.call('GET', KEYS[1]) or 0) then
  redis.call('SET', KEYS[1], string.format('%.0f', pause), 'PX', math.max(1, pause - now))
end`;

/**
 * KEYS: response, claim. ARGV: maximum age, id of this process or '' for a preview. Returns the response, or whether to
 * wait for the response to another process.
 */
const GET = `${NOW}
local stored = redis.call('GET', KEYS[1])
if stored then
  local at = tonumber(string.match(stored, '^%d+'))
  if now - at <= tonumber(ARGV[1]) then return { now - at, stored } end
end
if ARGV[2] == '' then return 'missing' end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ${CLAIM_MS}) then return 'claimed' end
return 'wait'`;

/** KEYS: response, claim. ARGV: the response. */
const PUT = `${NOW}
redis.call('SET', KEYS[1], string.format('%.0f', now) .. ' ' .. ARGV[1], 'PX', ${KEEP_MS})
redis.call('DEL', KEYS[2])`;

/** KEYS: claim. ARGV: id of this process. */
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ${CLAIM_MS}) end`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** Opens the shared state. Connects on first use. */
export function openSharedState(options: SharedStateOptions): SharedState {
  const { context } = options;
  const run = openRunner(options);
  return {
    ledger: (endpoint, key, limits) => sharedLedger(run.retrying, prefixOf(endpoint, key), limits, context),
    cache: (endpoint, account) => sharedCache(run, prefixOf(endpoint, account), context),
    close: run.close,
  };
}

/**
 * Returns a prefix with a keyed hash, so that the store does not reveal the API key or the endpoint. Braces keep all
 * keys on one cluster node.
 */
function prefixOf(endpoint: string, key: string): string {
  return `restaurant:{${createHmac('sha256', key).update(`shared state\n${endpoint}`).digest('hex')}}`;
}

type Script = (script: string, keys: readonly string[], args: readonly string[]) => Promise<Reply>;

interface Runner {
  /** Runs a script, with retries if the store fails. @throws {SharedStateError} */
  readonly retrying: Script;
  /** Runs a script once. @throws the error of the store */
  readonly once: Script;
  close(): void;
}

function openRunner({ url, context, maxWaitMs, warn }: SharedStateOptions): Runner {
  // Each waiting call adds a listener; Node prints a warning if there are more than ten.
  setMaxListeners(0, context.signal);
  let connection: Promise<Connection> | undefined;
  let wasConnected = false;
  let isClosed = false;

  function disconnect(): void {
    const last = connection;
    connection = undefined;
    void last?.then((open) => open.destroy()).catch(() => {});
  }

  const once: Script = async (script, keys, args) => {
    if (isClosed) throw new Error('closed');
    connection ??= connect(url);
    const current = connection;
    try {
      const open = await current;
      const reply = await inTime(open.eval(script, { keys: [...keys], arguments: [...args] }));
      wasConnected = true;
      return reply as Reply;
    } catch (error) {
      // The next attempt opens a new connection.
      if (connection === current) disconnect();
      throw error;
    }
  };

  return {
    once,
    async retrying(script, keys, args) {
      const deadline = context.now() + maxWaitMs;
      for (let tries = 0; ; tries += 1) {
        context.signal.throwIfAborted();
        try {
          return await once(script, keys, args);
        } catch (error) {
          const reason = reasonOf(error);
          const place = url.host || url.pathname;
          if (isClosed || !wasConnected || context.now() >= deadline) throw unreachable(place, reason, error);
          if (tries === 0) warn(`the shared state at ${place} failed (${reason}); retrying`);
          await context.sleep(RETRY_MS, context.signal);
        }
      }
    },
    close() {
      isClosed = true;
      disconnect();
    },
  };
}

function connectionTo(url: URL) {
  const isSocket = url.protocol === 'unix:';
  return createClient({
    ...(isSocket ? {} : { url: url.href }),
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: false,
      ...(isSocket ? { path: decodeURIComponent(url.pathname) } : {}),
    },
    ...(isSocket && url.password !== '' ? { password: decodeURIComponent(url.password) } : {}),
    disableOfflineQueue: true,
  });
}

async function connect(url: URL): Promise<Connection> {
  const connection = connectionTo(url);
  // Errors are handled by the commands that they reject.
  connection.on('error', () => {});
  try {
    await inTime(connection.connect());
    return connection;
  } catch (error) {
    if (connection.isOpen) connection.destroy();
    throw error;
  }
}

/** Settles like the promise, or rejects if it takes too long. */
function inTime<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no reply in time')), REPLY_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && first.message !== '' ? first.message : 'the connection failed';
}

function unreachable(place: string, reason: string, cause: unknown): SharedStateError {
  if (UNKNOWN_AUTHORITY.test(systemCode(cause) ?? '')) {
    const problem = 'is not signed by an authority that this machine trusts';
    return new SharedStateError('tls', `the certificate of the shared state at ${place} ${problem}`, {
      cause,
      hint: privateCaHint('status'),
    });
  }
  return new SharedStateError('network', `cannot use the shared state at ${place}: ${reason}`, {
    cause,
    hint: [
      { text: 'see where its address is set', command: restaurant('config', 'list') },
      { text: 'without one, requests are counted on this machine alone' },
    ],
  });
}

function sharedLedger(
  run: Script,
  prefix: string,
  { perMinute, perDay }: Limits,
  { now }: Pick<Context, 'now'>,
): Ledger {
  const pauseKey = `${prefix}:pause`;

  /** Calls the ledger script, and converts the times in its reply to the clock of this machine. */
  async function call(
    action: 'grant' | 'record' | 'usage',
    id: string,
  ): Promise<{ granted: boolean; usage: Usage }> {
    const reply = await run(
      LEDGER,
      [`${prefix}:requests`, pauseKey],
      [action, `${perMinute}`, `${perDay}`, id],
    );
    const [granted = 0, serverNow = 0, minuteUsed = 0, minuteFree = 0, dayUsed = 0, dayFree = 0, pause = 0] =
      reply as readonly number[];
    const localTime = (time: number) => now() + (time - serverNow);
    const windowOf = (limit: number, used: number, free: number) => ({
      limit,
      used,
      ...(free === 0 ? {} : { freeAt: localTime(free) }),
    });
    return {
      granted: granted === 1,
      usage: {
        perMinute: windowOf(perMinute, minuteUsed, minuteFree),
        perDay: windowOf(perDay, dayUsed, dayFree),
        ...(pause === 0 ? {} : { pausedUntil: localTime(pause) }),
      },
    };
  }

  return {
    async record() {
      await call('record', randomUUID());
    },
    async grant() {
      const id = randomUUID();
      const at = now();
      const { granted, usage } = await call('grant', id);
      if (granted && Math.abs(now() - at) <= MAX_DELAY_MS) return { granted: true };
      // A grant that came too late is not used, so it does not count.
      if (granted) await call('usage', id);
      const wait = longestWait(usage);
      return wait === undefined ? tooLate(now()) : { granted: false, ...wait };
    },
    async pauseUntil(until) {
      await run(PAUSE, [pauseKey], [`${Math.max(0, Math.ceil(until - now()))}`]);
    },
    usage: async () => (await call('usage', '')).usage,
  };
}

function sharedCache(
  { retrying, once }: Runner,
  prefix: string,
  { now, sleep, signal }: Pick<Context, 'now' | 'sleep' | 'signal'>,
): ResponseCache {
  const process = randomUUID();
  const renewals = new Map<string, NodeJS.Timeout>();
  const stopRenewing = (claim: string): void => {
    clearInterval(renewals.get(claim));
    renewals.delete(claim);
  };
  const startRenewing = (claim: string): void => {
    stopRenewing(claim);
    const timer = setInterval(() => void once(RENEW, [claim], [process]).catch(() => {}), RENEW_MS);
    renewals.set(claim, timer.unref());
  };
  const keysOf = (tool: string, args: unknown): [response: string, claim: string] => {
    const id = hash('sha256', canonicalJson([tool, args]));
    return [`${prefix}:response:${id}`, `${prefix}:claim:${id}`];
  };
  return {
    async get(tool, args, maxAgeMs, preview = false): Promise<CachedResponse | undefined> {
      if (maxAgeMs <= 0) return undefined;
      const maxAge = `${Math.min(maxAgeMs, KEEP_MS)}`;
      const [response, claim] = keysOf(tool, args);
      for (const deadline = now() + MAX_CLAIM_WAIT_MS; ; ) {
        const reply = await retrying(GET, [response, claim], [maxAge, preview ? '' : process]);
        if (Array.isArray(reply)) {
          const [age, stored] = reply as [number, string];
          return { value: parseExact(stored.slice(stored.indexOf(' ') + 1)), at: now() - age };
        }
        if (reply === 'claimed') startRenewing(claim);
        if (reply !== 'wait' || now() >= deadline) return undefined;
        // Another process has sent this query.
        await sleep(POLL_MS, signal);
      }
    },
    async put(tool, args, value) {
      const [response, claim] = keysOf(tool, args);
      const text = stringifyExact(value);
      // If the store fails, the only loss is that the request has to be sent again later.
      if (text !== undefined) await once(PUT, [response, claim], [text]).catch(() => {});
      stopRenewing(claim);
    },
    async release(tool, args) {
      const [, claim] = keysOf(tool, args);
      stopRenewing(claim);
      await once(RELEASE, [claim], [process]).catch(() => {});
    },
  };
}

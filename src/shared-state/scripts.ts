import { DAY_MS } from '../storage/ledger.ts';

/** A minute, and the time between a grant and the arrival of the request at the service. */
const MINUTE_MS = 62_000;
export const KEEP_MS = 30 * DAY_MS;
/** Lifetime of a claim after its process last renewed it, so that others wait only briefly for a killed process. */
const CLAIM_MS = 6000;
/** A longer response counts as missing. */
const MAX_STORED_BYTES = 64 * 1024 ** 2;

/** Milliseconds on the clock of the server, which is the same for all machines. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * KEYS: times of requests (sorted set), end of the pause. ARGV: action (grant, record, usage), requests per minute and
 * per day, id of this request. A request that is repeated because the reply was lost or late counts once.
 */
export const LEDGER = `${NOW}
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
export const PAUSE = `${NOW}
local pause = now + math.min(tonumber(ARGV[1]), ${DAY_MS})
local last = tonumber(redis.call('GET', KEYS[1]) or 0) or 0
if pause > last or last > now + ${DAY_MS} then
  redis.call('SET', KEYS[1], string.format('%.0f', pause), 'PX', math.max(1, pause - now))
end
return 'OK'`;

/**
 * KEYS: response, claim. ARGV: maximum age, id of this process or '' for a preview. Returns the age of the response and
 * the response, or whether to wait for the response to another process. `full`: nothing can be stored.
 */
export const GET = `${NOW}
if redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('STRLEN', KEYS[1]) <= ${MAX_STORED_BYTES} then
  local stored = redis.call('GET', KEYS[1])
  local at = tonumber(string.match(stored, '^%d+') or 0)
  if at <= now and now - at <= tonumber(ARGV[1]) then return { now - at, stored } end
end
if ARGV[2] == '' then return 'missing' end
local claim = redis.pcall('SET', KEYS[2], ARGV[2], 'NX', 'PX', ${CLAIM_MS})
if not claim then return 'wait' end
if claim.err then return 'full' end
return 'claimed'`;

/** KEYS: response, claim. ARGV: the response. */
export const PUT = `${NOW}
redis.call('SET', KEYS[1], string.format('%.0f', now) .. ' ' .. ARGV[1], 'PX', ${KEEP_MS})
redis.call('DEL', KEYS[2])`;

/** KEYS: claim. ARGV: id of this process. */
export const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ${CLAIM_MS}) end`;
export const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

import { createHmac, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { CachedResponse, ResponseCache } from '../storage/cache.ts';
import { DAY_MS } from '../storage/ledger.ts';
import { canonicalJson, parseJsonOrNone } from '../util/json.ts';
import { type Call, NOW, type Store } from './store.ts';

const KEEP_MS = 30 * DAY_MS;
/** Lifetime of a claim after its process last renewed it, so that others wait only briefly for a killed process. */
const CLAIM_MS = 6000;
/** A longer response counts as missing. */
const MAX_STORED_BYTES = 64 * 1024 ** 2;
const RENEW_MS = 2000;
/** Maximum time to wait for the response to a query that another process has sent. */
const MAX_CLAIM_WAIT_MS = 120_000;
const POLL_MS = 100;

/**
 * KEYS: response, claim. ARGV: maximum age, id of this process or '' if it is offline. Returns the age of the response and
 * the response, or whether to wait for the response to another process. `full`: nothing can be stored.
 */
const GET = `${NOW}
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
const PUT = `${NOW}
redis.call('SET', KEYS[1], string.format('%.0f', now) .. ' ' .. ARGV[1], 'PX', ${KEEP_MS})
redis.call('DEL', KEYS[2])`;

/** KEYS: claim. ARGV: id of this process. */
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ${CLAIM_MS}) end`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

const STATES = ['claimed', 'wait', 'full', 'missing'] as const;

interface Stored {
  readonly age: number;
  readonly text: string;
}
type Reply = Stored | (typeof STATES)[number];

function parseReply(reply: unknown): Reply | undefined {
  if (!Array.isArray(reply)) return STATES.find((state) => state === reply);
  const [age, text] = reply;
  return Number.isSafeInteger(age) && age >= 0 && typeof text === 'string' ? { age, text } : undefined;
}

const ignored = () => true;

/** Responses in Redis, each as `<ms> <MAC> <JSON>`. Anything else counts as a miss. */
export function sharedCache(store: Store, prefix: string, account: string): ResponseCache {
  const ownId = randomUUID();
  const renewals = new Map<string, NodeJS.Timeout>();

  const tryRun = async (script: string, keys: readonly string[], arg: string): Promise<void> =>
    void (await store.once({ script, keys, args: [arg], parse: ignored }).catch(() => {}));

  function stopRenewing(claim: string): void {
    clearInterval(renewals.get(claim));
    renewals.delete(claim);
  }

  function startRenewing(claim: string): void {
    stopRenewing(claim);
    renewals.set(claim, setInterval(() => void tryRun(RENEW, [claim], ownId), RENEW_MS).unref());
  }

  return {
    async get(tool, args, maxAgeMs, offline = false) {
      if (maxAgeMs <= 0) return undefined;
      const { response, claim } = keysOf(prefix, tool, args);
      const call = {
        script: GET,
        keys: [response, claim],
        args: [`${Math.min(maxAgeMs, KEEP_MS)}`, offline ? '' : ownId],
        parse: parseReply,
      };
      const reply = await waitForReply(store, call);
      if (reply === 'claimed') startRenewing(claim);
      if (reply === 'full') store.warn('is full: it stores no more responses');
      return typeof reply === 'object' ? open(account, response, reply, store.context.now()) : undefined;
    },
    async put(tool, args, json) {
      const { response, claim } = keysOf(prefix, tool, args);
      await tryRun(PUT, [response, claim], `${macOf(account, response, json)} ${json}`);
      stopRenewing(claim);
    },
    async release(tool, args) {
      const { claim } = keysOf(prefix, tool, args);
      stopRenewing(claim);
      await tryRun(RELEASE, [claim], ownId);
    },
  };
}

async function waitForReply(store: Store, call: Call<Reply>): Promise<Reply> {
  const { now, sleep, signal } = store.context;
  for (const deadline = now() + MAX_CLAIM_WAIT_MS; ; ) {
    const reply = await store.run(call);
    if (reply !== 'wait' || now() >= deadline) return reply;
    await sleep(POLL_MS, signal);
  }
}

function open(account: string, name: string, { age, text }: Stored, now: number): CachedResponse | undefined {
  const [, mac = '', json = ''] = /^\d+ ([0-9a-f]{64}) ([\s\S]*)$/.exec(text) ?? [];
  const isOurs = mac !== '' && timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(account, name, json)));
  const value = isOurs ? parseJsonOrNone(json) : undefined;
  return value === undefined ? undefined : { value, text: json, at: now - age };
}

/** Returns a MAC of an entry, so that nobody else who can write to the store can make up a response. */
const macOf = (account: string, name: string, json: string): string =>
  createHmac('sha256', account).update(`response\n${name}\n${json}`).digest('hex');

function keysOf(prefix: string, tool: string, args: unknown) {
  const id = hash('sha256', canonicalJson([tool, args]));
  return { response: `${prefix}:response:${id}`, claim: `${prefix}:claim:${id}` };
}

import { createHmac, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { parseJsonOrNone } from '../client/rpc/json.ts';
import type { CachedResponse, ResponseCache } from '../storage/cache.ts';
import { canonicalJson } from '../util/json.ts';
import { GET, KEEP_MS, PUT, RELEASE, RENEW } from './scripts.ts';
import type { Store } from './store.ts';

const RENEW_MS = 2000;
/** Maximum time to wait for the response to a query that another process has sent. */
const MAX_CLAIM_WAIT_MS = 120_000;
const POLL_MS = 100;
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

interface Keys {
  readonly response: string;
  readonly claim: string;
}

/** Responses in Redis, each as `<ms> <MAC> <JSON>`. Anything else counts as a miss. */
export class SharedCache implements ResponseCache {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #account: string;
  readonly #process = randomUUID();
  readonly #renewals = new Map<string, NodeJS.Timeout>();

  constructor(store: Store, prefix: string, account: string) {
    this.#store = store;
    this.#prefix = prefix;
    this.#account = account;
  }

  async get(
    tool: string,
    args: unknown,
    maxAgeMs: number,
    preview = false,
  ): Promise<CachedResponse | undefined> {
    if (maxAgeMs <= 0) return undefined;
    const { now, sleep, signal } = this.#store.context;
    const { response, claim } = this.#keysOf(tool, args);
    const call = {
      script: GET,
      keys: [response, claim],
      args: [`${Math.min(maxAgeMs, KEEP_MS)}`, preview ? '' : this.#process],
      parse: parseReply,
    };
    for (const deadline = now() + MAX_CLAIM_WAIT_MS; ; ) {
      const reply = await this.#store.run<Reply>(call);
      if (typeof reply === 'object') return this.#open(response, reply);
      if (reply === 'claimed') this.#startRenewing(claim);
      if (reply === 'full') this.#store.warn('is full: it stores no more responses');
      if (reply !== 'wait' || now() >= deadline) return undefined;
      // Another process has sent this query.
      await sleep(POLL_MS, signal);
    }
  }

  async put(tool: string, args: unknown, json: string): Promise<void> {
    const { response, claim } = this.#keysOf(tool, args);
    await this.#try(PUT, [response, claim], `${this.#mac(response, json)} ${json}`);
    this.#stopRenewing(claim);
  }

  async release(tool: string, args: unknown): Promise<void> {
    const { claim } = this.#keysOf(tool, args);
    this.#stopRenewing(claim);
    await this.#try(RELEASE, [claim], this.#process);
  }

  async #try(script: string, keys: readonly string[], arg: string): Promise<void> {
    await this.#store.once({ script, keys, args: [arg], parse: ignored }).catch(() => {});
  }

  #open(name: string, { age, text }: Stored): CachedResponse | undefined {
    const [, mac = '', json = ''] = /^\d+ ([0-9a-f]{64}) ([\s\S]*)$/.exec(text) ?? [];
    const isOurs = mac !== '' && timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(name, json)));
    const value = isOurs ? parseJsonOrNone(json) : undefined;
    return value === undefined ? undefined : { value, text: json, at: this.#store.context.now() - age };
  }

  /** Returns a MAC of an entry, so that nobody else who can write to the store can make up a response. */
  #mac(name: string, json: string): string {
    return createHmac('sha256', this.#account).update(`response\n${name}\n${json}`).digest('hex');
  }

  #keysOf(tool: string, args: unknown): Keys {
    const id = hash('sha256', canonicalJson([tool, args]));
    return { response: `${this.#prefix}:response:${id}`, claim: `${this.#prefix}:claim:${id}` };
  }

  #startRenewing(claim: string): void {
    this.#stopRenewing(claim);
    const timer = setInterval(() => void this.#try(RENEW, [claim], this.#process), RENEW_MS);
    this.#renewals.set(claim, timer.unref());
  }

  #stopRenewing(claim: string): void {
    clearInterval(this.#renewals.get(claim));
    this.#renewals.delete(claim);
  }
}

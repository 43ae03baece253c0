import { randomUUID } from 'node:crypto';
import {
  type Grant,
  type Ledger,
  type Limits,
  longestWait,
  tooLate,
  type Usage,
  type WindowUsage,
} from '../storage/ledger.ts';
import { LEDGER, PAUSE } from './scripts.ts';
import type { Store } from './store.ts';

const MAX_DELAY_MS = 1500;

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
export class SharedLedger implements Ledger {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #limits: Limits;

  constructor(store: Store, prefix: string, limits: Limits) {
    this.#store = store;
    this.#prefix = prefix;
    this.#limits = limits;
  }

  readonly record = async (): Promise<void> => {
    await this.#call('record', randomUUID());
  };

  readonly grant = async (): Promise<Grant> => {
    const { now } = this.#store.context;
    const id = randomUUID();
    const at = now();
    const { granted, usage } = await this.#call('grant', id);
    if (granted && Math.abs(now() - at) <= MAX_DELAY_MS) return { granted: true };
    // A grant that came too late is not used, so it does not count.
    if (granted) await this.#call('usage', id);
    const wait = longestWait(usage);
    return wait === undefined ? tooLate(now()) : { granted: false, ...wait };
  };

  readonly pauseUntil = async (until: number): Promise<void> => {
    const ms = Math.max(0, Math.ceil(until - this.#store.context.now()));
    const keys = [`${this.#prefix}:pause`];
    await this.#store.run({
      script: PAUSE,
      keys,
      args: [`${ms}`],
      parse: (reply) => reply === 'OK' || undefined,
    });
  };

  readonly usage = async (): Promise<Usage> => (await this.#call('usage', '')).usage;

  /** Calls the script, and converts the times in its reply to the clock of this machine. */
  async #call(action: 'grant' | 'record' | 'usage', id: string): Promise<{ granted: boolean; usage: Usage }> {
    const { perMinute, perDay } = this.#limits;
    const [granted, serverNow, minuteUsed, minuteFree, dayUsed, dayFree, pause] =
      await this.#store.run<Reply>({
        script: LEDGER,
        keys: [`${this.#prefix}:requests`, `${this.#prefix}:pause`],
        args: [action, `${perMinute}`, `${perDay}`, id],
        parse: (reply) => (isReply(reply) ? reply : undefined),
      });
    const localTime = (time: number): number => this.#store.context.now() + (time - serverNow);
    const windowOf = (limit: number, used: number, free: number): WindowUsage => ({
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
}

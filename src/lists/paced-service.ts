import type { App } from '../app/app.ts';
import { quotaLimits, type Waiting } from '../app/quota.ts';
import { NO_RESPONSES, openStoredResponses, type StoredResponses } from '../app/responses.ts';
import { openService, type Service } from '../app/service.ts';
import type { Target } from '../app/target.ts';
import { TOOLS } from '../client/tools.ts';
import type { FindQuery, Level, LookupOutput } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { Limits } from '../storage/ledger.ts';
import { longWaitOf } from '../storage/pacer.ts';
import type { ResolveOptions } from './resolve.ts';

export interface PacedFlags extends Partial<Limits> {
  readonly wait?: true | undefined;
  readonly progress?: 'json' | undefined;
}

interface Opening {
  readonly reporter: { waiting(waiting: Waiting): void; warn(text: string): void };
  /** Which cached responses may answer: those of this machine, too, or only those that a team shares. */
  readonly cache: 'all' | 'shared';
  readonly recent?: ResolveOptions['recent'];
  readonly signal?: AbortSignal;
}

/** A long list would push everything else out of the cache. */
const MAX_STORED = 2000;

/** The service as a list uses it: every request waits for the quota. Its calls throw AppError. */
export class PacedService {
  readonly perMinute: number;
  requests = 0;
  readonly #app: App;
  readonly #target: Target;
  readonly #flags: PacedFlags;
  #service!: Service;
  #leftToday: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, target: Target, flags: PacedFlags) {
    this.#app = app;
    this.#target = target;
    this.#flags = flags;
    this.perMinute = target.demo ? 0 : quotaLimits(app, flags).perMinute;
  }

  /** Must be called before the first request. */
  async open({ reporter, cache, recent, signal = this.#app.context.signal }: Opening): Promise<this> {
    const [app, target, flags] = [this.#app, this.#target, this.#flags];
    const isCached = cache === 'all' || (!target.demo && (await app.sharedState()) !== undefined);
    this.#service = await openService(app, {
      target,
      limits: quotaLimits(app, flags),
      patience: flags.wait === true ? 'day' : 'minute',
      onWaiting: (waiting) => reporter.waiting(waiting),
      signal,
      stored: isCached ? limited(await openStoredResponses(app, target), recent) : NO_RESPONSES,
      traced: flags.progress !== 'json',
      warn: (text) => reporter.warn(text),
      client: {
        onRequest: () => {
          this.requests += 1;
        },
      },
    });
    return this;
  }

  /** Requests left in today's quota; undefined if there is no limit. Read at most once a second. */
  get leftToday(): number | undefined {
    const { now } = this.#app.context;
    if (now() - this.#readAt >= 1000) {
      this.#readAt = now();
      // If reading fails, the next request reports the error.
      void this.#readLeftToday().catch(() => {});
    }
    return this.#leftToday;
  }

  async #readLeftToday(): Promise<void> {
    const { limit, used } = (await (await this.#service.ledger()).usage()).perDay;
    this.#leftToday = limit === 0 ? undefined : Math.max(0, limit - used);
  }

  async find({ name, city }: FindQuery) {
    const { value } = await this.#withQuota(() => this.#service.call(TOOLS.find, { name, city }));
    return { results: value.results, total: value.output.total_matches };
  }

  async lookup(id: string, level: Level): Promise<LookupOutput> {
    return (await this.#withQuota(() => this.#service.call(TOOLS.lookup, { id, level }))).value;
  }

  /** With `--wait`, repeats a call that the service refused: the quota then waits until the pause ends. */
  async #withQuota<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (this.#withPause(error) === undefined || this.#flags.wait !== true) throw error;
      }
    }
  }

  /** A pause that the service requests in its response is a long wait, too. */
  #withPause(error: unknown): number | undefined {
    const freeAt = longWaitOf(error);
    if (freeAt !== undefined || !(error instanceof AppError) || error.kind !== 'rate_limit') return freeAt;
    const { settings, context } = this.#app;
    const ms = (error.details.retryAfter ?? 0) * 1000;
    return ms > settings.get('max-wait') ? longWaitOf(error.add({ freeAt: context.now() + ms })) : undefined;
  }
}

/** @param recent with --older: responses from before are not accepted */
function limited(stored: StoredResponses, recent: ResolveOptions['recent']): StoredResponses {
  let count = 0;
  return {
    ...stored,
    async get(tool, args) {
      const found = await stored.get(tool, args);
      return found === undefined || recent === undefined || found.at >= recent.start ? found : undefined;
    },
    put(tool, args, text) {
      count += 1;
      return count > MAX_STORED ? stored.release(tool, args) : stored.put(tool, args, text);
    },
  };
}

import type { App } from '../../app/app.ts';
import { quotaLimits } from '../../app/quota.ts';
import { openStoredResponses } from '../../app/responses.ts';
import { openService, type Service } from '../../app/service.ts';
import { configuredTarget, type Target } from '../../app/target.ts';
import { type ServiceTool, TOOLS } from '../../client/tools.ts';
import type { FindQuery, Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import type { Limits } from '../../storage/ledger.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import type { Found } from '../match/match.ts';
import type { RestaurantService } from '../match/query.ts';
import type { Progress } from '../progress/progress.ts';

export interface PacedFlags extends Partial<Limits> {
  readonly wait?: true | undefined;
  readonly progress?: 'json' | undefined;
}

interface Opening {
  readonly reporter: Pick<Progress, 'waiting' | 'warn'>;
  /** Accept responses that were stored since then, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Sends every request, also if its response is stored. */
  readonly fresh?: boolean;
  readonly signal?: AbortSignal;
}

/** A long list would push everything else out of the cache. */
const MAX_STORED = 2000;

/** The service as a list uses it. */
export class PacedService implements RestaurantService {
  readonly perMinute: number;
  requests = 0;
  readonly #app: App;
  readonly #target: Target;
  readonly #flags: PacedFlags;
  #service!: Service;
  /** Number of responses for the cache. */
  #stored = 0;
  // An array, although it is searched by id: a Map with short-lived entries keeps deleted ones alive (see AGENTS.md).
  readonly #pending: { readonly id: string; readonly response: Promise<LookupOutput> }[] = [];
  #leftToday: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, target: Target, flags: PacedFlags) {
    this.#app = app;
    this.#target = target;
    this.#flags = flags;
    this.perMinute = target.demo ? 0 : quotaLimits(app, flags).perMinute;
  }

  /** Must be called before the first request. */
  async open({ reporter, since, fresh, signal = this.#app.context.signal }: Opening): Promise<this> {
    const [app, target, flags] = [this.#app, this.#target, this.#flags];
    const stored = await openStoredResponses(app, target, { since, fresh });
    this.#service = await openService(app, {
      target,
      paced: true,
      limits: quotaLimits(app, flags),
      waitLong: flags.wait === true,
      onWaiting: (waiting) => reporter.waiting(waiting),
      signal,
      stored: {
        ...stored,
        put: (tool, args, text) =>
          this.#isFull() ? stored.release(tool, args) : stored.put(tool, args, text),
      },
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

  #isFull(): boolean {
    this.#stored += 1;
    return this.#stored > MAX_STORED;
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

  async find({ name, city }: FindQuery): Promise<Found> {
    const { value } = await this.#withQuota(() => this.#service.call(TOOLS.find, { name, city }));
    return { results: value.results, total: value.output.total_matches };
  }

  /** Equal lookups share a request until the response arrives; later ones get it from the cache. */
  lookup(id: string, level: Level): Promise<LookupOutput> {
    const pending = this.#pending.find((each) => each.id === id);
    if (pending !== undefined) return pending.response;
    const entry = { id, response: this.#lookup(id, level) };
    const remove = () => {
      this.#pending.splice(this.#pending.indexOf(entry), 1);
    };
    this.#pending.push(entry);
    entry.response.then(remove, remove);
    return entry.response;
  }

  async #lookup(id: string, level: Level): Promise<LookupOutput> {
    return (await this.#withQuota(() => this.#service.call(TOOLS.lookup, { id, level }))).value;
  }

  /** With `--wait`, repeats a call after a long pause that the service requests. */
  async #withQuota<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const limit = this.#rateLimitOf(error);
        if (limit === undefined) throw error;
        if (this.#flags.wait !== true) throw limit;
        // Makes the next request wait until then.
        await (await this.#service.ledger()).pauseUntil(limit.freeAt);
      }
    }
  }

  #rateLimitOf(error: unknown): RateLimitError | undefined {
    if (error instanceof RateLimitError) return error;
    if (!(error instanceof AppError) || error.kind !== 'rate_limit') return undefined;
    const { settings, context } = this.#app;
    const ms = (error.details.retryAfter ?? 0) * 1000;
    return ms > settings.get('max-wait') ? new RateLimitError(error, context.now() + ms) : undefined;
  }
}

/** Reads stored responses, and sends nothing. @param since accept all responses stored since then */
export async function openCacheReader(app: App, since?: number) {
  const target = configuredTarget(app);
  const stored = target && (await openStoredResponses(app, target, { since, preview: true }));
  return async <Query, Result>(
    tool: ServiceTool<Query, Result>,
    query: Query,
  ): Promise<Result | undefined> => {
    const response = await stored?.get(tool.definition.name, tool.args(query));
    return response && tool.parse(response.value);
  };
}

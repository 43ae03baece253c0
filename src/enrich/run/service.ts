import type { App } from '../../app/app.ts';
import type { Waiting } from '../../app/quota.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { openService, type Service } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import { TOOLS } from '../../client/tools.ts';
import type { FindQuery, Level, LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import type { Found } from '../match/match.ts';
import type { RestaurantService } from '../match/resolve-row.ts';
import { InFlight } from './in-flight.ts';
import type { EnrichOptions } from './plan.ts';

type QuotaOptions = Pick<EnrichOptions, 'perMinute' | 'perDay' | 'wait' | 'progress'>;

interface PacedOptions {
  readonly target: Target;
  readonly options: QuotaOptions;
  /** Accept responses that were stored since then, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Sends every request, also if its response is stored. */
  readonly fresh?: boolean;
  readonly signal: AbortSignal;
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onWarning: (text: string) => void;
}

export async function openPacedService(
  app: App,
  { target, options, since, fresh = false, signal, onWaiting, onWarning }: PacedOptions,
): Promise<PacedService> {
  const requests = { count: 0 };
  const service = await openService(app, {
    target,
    paced: true,
    limits: options,
    waitLong: options.wait === true,
    onWaiting,
    signal,
    stored: new FirstResponses(await openStoredResponses(app, target, { since }), fresh),
    traced: options.progress !== 'json',
    warn: onWarning,
    client: {
      onRequest() {
        requests.count += 1;
      },
    },
  });
  return new PacedService(app, service, options, requests);
}

/** The service as a list uses it. Equal lookups share a request. */
export class PacedService implements RestaurantService {
  readonly #app: App;
  readonly #service: Service;
  readonly #options: QuotaOptions;
  readonly #requests: { readonly count: number };
  readonly #lookups = new InFlight<LookupOutput>();
  #leftToday: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, service: Service, options: QuotaOptions, requests: { readonly count: number }) {
    this.#app = app;
    this.#service = service;
    this.#options = options;
    this.#requests = requests;
  }

  get requests(): number {
    return this.#requests.count;
  }

  /** Requests left in today's quota; undefined if there is no limit. Read at most once a second. */
  get leftToday(): number | undefined {
    const { now } = this.#app.context;
    if (this.#options.perDay > 0 && now() - this.#readAt >= 1000) {
      this.#readAt = now();
      // If reading fails, the next request reports the error.
      void this.#readLeftToday().catch(() => {});
    }
    return this.#leftToday;
  }

  async find({ name, city }: FindQuery): Promise<Found> {
    const { value } = await this.#withQuota(() => this.#service.call(TOOLS.find, { name, city }));
    return { results: value.results, total: value.output.total_matches };
  }

  lookup(id: string, level: Level): Promise<LookupOutput> {
    return this.#lookups.get(id) ?? this.#lookups.add(id, this.#lookup(id, level));
  }

  async #lookup(id: string, level: Level): Promise<LookupOutput> {
    return (await this.#withQuota(() => this.#service.call(TOOLS.lookup, { id, level }))).value;
  }

  async #readLeftToday(): Promise<void> {
    const { limit, used } = (await (await this.#service.ledger()).usage()).perDay;
    this.#leftToday = limit === 0 ? undefined : Math.max(0, limit - used);
  }

  /** With `--wait`, repeats a call after a long pause that the service requests. */
  async #withQuota<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const limit = this.#rateLimitOf(error);
        if (limit === undefined) throw error;
        if (!this.#options.wait) throw limit;
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

const MAX_STORED = 2000;

class FirstResponses implements StoredResponses {
  readonly #stored: StoredResponses;
  readonly #fresh: boolean;
  #left = MAX_STORED;

  constructor(stored: StoredResponses, fresh: boolean) {
    this.#stored = stored;
    this.#fresh = fresh;
  }

  async get(tool: string, args: unknown) {
    return this.#fresh ? undefined : this.#stored.get(tool, args);
  }

  put(tool: string, args: unknown, text: string) {
    if (this.#left === 0) return this.release(tool, args);
    this.#left -= 1;
    return this.#stored.put(tool, args, text);
  }

  release(tool: string, args: unknown) {
    return this.#stored.release(tool, args);
  }
}

import type { App } from '../../app/app.ts';
import type { Waiting } from '../../app/quota.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { openService } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import { AppError } from '../../errors.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import type { RestaurantService } from '../match/resolve-row.ts';
import type { EnrichOptions } from './plan.ts';

/** A service whose requests are paced and counted. */
export interface PacedService extends RestaurantService {
  readonly requests: () => number;
  /** Requests left in today's quota; undefined if there is no limit. */
  readonly leftToday: () => number | undefined;
}

/**
 * Opens the service for a list. It is closed when the program ends.
 * @param options `since`: accept responses that were stored since then, in milliseconds since the epoch; `signal`:
 * aborts all requests
 */
export async function openPacedService(
  app: App,
  {
    target,
    options,
    since,
    signal,
    onWaiting,
    onWarning: warn,
  }: {
    readonly target: Target;
    readonly options: EnrichOptions;
    readonly since: number | undefined;
    readonly signal: AbortSignal;
    readonly onWaiting: (waiting: Waiting) => void;
    readonly onWarning: (text: string) => void;
  },
): Promise<PacedService> {
  const { now } = app.context;
  const maxWaitMs = app.settings.get('max-wait');
  let sent = 0;
  const service = await openService(app, {
    target,
    paced: true,
    limits: options,
    waitLong: options.wait === true,
    onWaiting,
    signal,
    stored: withinBudget(await openStoredResponses(app, target, { since })),
    traced: options.progress !== 'json',
    warn,
    client: {
      onRequest() {
        sent += 1;
      },
    },
  });

  /** Returns the error that stops the whole run; undefined if only the row failed. */
  function rateLimitOf(error: unknown): RateLimitError | undefined {
    if (error instanceof RateLimitError) return error;
    if (!(error instanceof AppError) || error.kind !== 'rate_limit') return undefined;
    const ms = (error.details.retryAfter ?? 0) * 1000;
    return ms > maxWaitMs ? new RateLimitError(error, now() + ms) : undefined;
  }

  /** With `--wait`, repeats a call after a long pause that the service requests. */
  async function withQuota<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const limit = rateLimitOf(error);
        if (limit === undefined) throw error;
        if (!options.wait) throw limit;
        // Makes the next request wait until then.
        await (await service.ledger()).pauseUntil(limit.freeAt);
      }
    }
  }

  let leftToday: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  async function readLeftToday(): Promise<void> {
    readAt = now();
    const { limit, used } = (await (await service.ledger()).usage()).perDay;
    leftToday = limit === 0 ? undefined : Math.max(0, limit - used);
  }

  return {
    requests: () => sent,
    leftToday() {
      // Read at most once a second. If reading fails, the next request reports the error.
      if (options.perDay > 0 && now() - readAt >= 1000) void readLeftToday().catch(() => {});
      return leftToday;
    },
    find: ({ name, city }) =>
      withQuota(async () => {
        const { answer } = await service.find({ name, city });
        return { results: answer.results, total: answer.output.total_matches };
      }),
    lookup: (id, fields) => withQuota(async () => (await service.lookup(id, fields)).output),
  };
}

/** Number of responses that are always cached, and the share of the run time that caching more may take. */
const FREE_STORES = 500;
const STORE_SHARE = 0.05;

/** Limits the time for caching responses, so that a slow disk does not slow down a run with a fast service. */
function withinBudget(stored: StoredResponses): StoredResponses {
  const startedAt = performance.now();
  let count = 0;
  let storeTimeMs = 0;
  return {
    ...stored,
    put(tool, args, value) {
      const now = performance.now();
      if (count >= FREE_STORES && storeTimeMs > (now - startedAt) * STORE_SHARE) return;
      const done = stored.put(tool, args, value);
      count += 1;
      storeTimeMs += performance.now() - now;
      return done;
    },
  };
}

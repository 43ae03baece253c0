import type { App } from '../../app/app.ts';
import type { Waiting } from '../../app/quota.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { openService } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import type { LookupOutput } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import type { RestaurantService } from '../match/resolve-row.ts';
import { InFlight } from './in-flight.ts';
import type { EnrichOptions } from './plan.ts';

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
    stored: firstOf(await openStoredResponses(app, target, { since })),
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

  const lookups = new InFlight<LookupOutput>();
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
    lookup: (id, fields) =>
      lookups.get(id) ??
      lookups.add(
        id,
        withQuota(async () => (await service.lookup(id, fields)).output),
      ),
  };
}

const MAX_STORED = 2000;

function firstOf(stored: StoredResponses): StoredResponses {
  let left = MAX_STORED;
  return {
    ...stored,
    put(tool, args, text) {
      if (left === 0) return stored.release(tool, args);
      left -= 1;
      return stored.put(tool, args, text);
    },
  };
}

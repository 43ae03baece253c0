import type { App } from '../../app/app.ts';
import { ledgerOf, openClientFor } from '../../app/service.ts';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import type { Known } from './known.ts';
import { QuotaError, type RestaurantService } from './lookups.ts';
import { pacedRequests, type ServiceOptions } from './paced-requests.ts';

/** Timers overflow, clocks are set, machines are suspended: a long wait consists of short ones. */
const MAX_SLEEP_MS = 60_000;

/** A service that is paced, and counted. */
export interface PacedService extends RestaurantService {
  /** HTTP requests so far. */
  readonly requests: () => number;
  /** Requests that the day's budget still has; undefined where it has no limit. */
  readonly leftToday: () => number | undefined;
}

/** Opens the service for a list. It is closed when the program ends. */
export function openPaced(app: App, service: ServiceOptions, known: Known): PacedService {
  const { target, options, onWarning } = service;
  const ledger = target.demo ? undefined : ledgerOf(app, target, options, onWarning);
  let requests = 0;
  const onSent = (): void => {
    requests += 1;
  };
  const client = openClientFor(app, target, pacedRequests(app, service, ledger, onSent));
  app.onClose(async () => ledger?.close());
  const patient = patience(app, service);
  return {
    requests: () => requests,
    leftToday: options.perDay === 0 || ledger === undefined ? () => undefined : roomOfDay(ledger, app),
    async find(query) {
      const before = known.find(query);
      if (before !== undefined) return before;
      const { output, results } = await patient(() => client.find({ name: query.name, city: query.city }));
      known.keepFind(query, output);
      return { results, total: output.total_matches };
    },
    async lookup(id, level) {
      const before = known.lookup(id, level);
      if (before !== undefined) return before;
      const output = await patient(() => client.lookup(id, level));
      known.keepLookup(id, level, output);
      return output;
    },
  };
}

/** Returns what is left of the day's quota, looked up at most once a second; undefined until the first look. */
function roomOfDay(ledger: Ledger, { context: { now } }: App): () => number | undefined {
  let at = Number.NEGATIVE_INFINITY;
  let room: number | undefined;
  const look = async (): Promise<void> => {
    at = now();
    const { limit, used } = (await ledger.usage()).perDay;
    room = Math.max(0, limit - used);
  };
  // When the look fails, so does the next request, which reports it.
  void look().catch(() => {});
  return () => {
    if (now() - at >= 1000) void look().catch(() => {});
    return room;
  };
}

/** Tells a pause of the whole run from the failure of a row; with `--wait` sits it out. */
function patience({ context, settings }: App, { options, signal, onWaiting }: ServiceOptions) {
  const maxWaitMs = settings.need('max-wait');
  const pauseOf = (error: unknown): QuotaError | undefined => {
    if (!(error instanceof AppError) || error.kind !== 'rate_limit') return undefined;
    const ms = (error.details.retryAfter ?? 0) * 1000;
    if (error.code !== 'budget_spent' && ms <= maxWaitMs) return undefined;
    return new QuotaError(error, error instanceof RateLimitError ? error.freeAt : context.now() + ms);
  };
  return async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const pause = pauseOf(error);
        if (pause === undefined) throw error;
        if (!options.wait) throw pause;
        onWaiting({ until: pause.freeAt, why: pause.message });
        await sleepUntil(() => pause.freeAt, context, signal);
      }
    }
  };
}

/** Sleeps until that time, which may be postponed meanwhile. @throws the signal's reason. */
export async function sleepUntil(
  time: () => number,
  { now, sleep }: Pick<Context, 'now' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  for (let left = time() - now(); left > 0; left = time() - now()) {
    await sleep(Math.min(left, MAX_SLEEP_MS), signal);
  }
}

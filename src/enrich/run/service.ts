import type { App } from '../../app/app.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { openLedgerFor, openService } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import type { ClientOptions } from '../../client/restaurant.ts';
import { AppError } from '../../errors.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { openPacer, RateLimitError } from '../../storage/pacer.ts';
import { QuotaError, type RestaurantService } from '../match/resolve-row.ts';
import type { Waiting } from '../progress/progress.ts';
import type { EnrichOptions } from './plan.ts';

/** A service that is paced, and whose requests are counted. */
export interface PacedService extends RestaurantService {
  /** HTTP requests so far. */
  readonly requests: () => number;
  /** Requests that the day's quota still has; undefined where it has no limit. */
  readonly leftToday: () => number | undefined;
}

export interface PacedOptions {
  readonly target: Target;
  readonly options: EnrichOptions;
  /** Accept responses that were stored since then, in milliseconds since the epoch. */
  readonly since: number | undefined;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onWarning: (text: string) => void;
}

/** Longest single sleep: a clock may be set or a machine suspended meanwhile. */
const MAX_SLEEP_MS = 60_000;
const WAITS = {
  minute: 'the quota of this minute is used up',
  day: 'the quota of this day is used up',
  pause: 'the service asks to wait',
} as const;

/** Opens the service for a list. It is closed when the program ends. */
export async function openPacedService(app: App, paced: PacedOptions): Promise<PacedService> {
  const { target, options, since } = paced;
  const ledger = target.demo ? undefined : await openLedgerFor(app, target, options, paced.onWarning);
  let sent = 0;
  const client = pacedRequests(app, paced, ledger, () => {
    sent += 1;
  });
  const stored = withinBudget(await openStoredResponses(app, target, { since }));
  const traced = options.progress !== 'json';
  const service = await openService(app, { target, client, stored, traced, warn: paced.onWarning });
  const withQuota = withQuotaWait(app, paced);
  return {
    requests: () => sent,
    leftToday: options.perDay === 0 || ledger === undefined ? () => undefined : leftOfDay(ledger, app),
    find: ({ name, city }) =>
      withQuota(async () => {
        const { answer } = await service.find({ name, city });
        return { results: answer.results, total: answer.output.total_matches };
      }),
    lookup: (id, fields) => withQuota(async () => (await service.lookup(id, fields)).output),
  };
}

/** Responses that are stored in any case, and the share of the time of the run that storing more may take. */
const FREE_STORES = 500;
const STORE_SHARE = 0.05;

/** Stores what the disk takes in a share of the time, so that it does not slow a run with a near service down. */
function withinBudget(stored: StoredResponses): StoredResponses {
  const startedAt = performance.now();
  let count = 0;
  let spent = 0;
  return {
    ...stored,
    put(tool, args, value) {
      const now = performance.now();
      if (count >= FREE_STORES && spent > (now - startedAt) * STORE_SHARE) return;
      const done = stored.put(tool, args, value);
      count += 1;
      spent += performance.now() - now;
      return done;
    },
  };
}

/** Paces the requests of the client to the quota. @param ledger undefined: there is no quota */
function pacedRequests(
  { context, settings }: App,
  { options, signal, onWaiting }: PacedOptions,
  ledger: Ledger | undefined,
  onSent: () => void,
): Partial<ClientOptions> {
  const pacer =
    ledger &&
    openPacer({
      ledger,
      context,
      wait: options.wait === true,
      maxWaitMs: settings.need('max-wait'),
      onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
    });
  return {
    context: { ...context, signal },
    async onRequest() {
      await pacer?.acquire(signal);
      onSent();
    },
    onRateLimited: (until) => ledger?.pauseUntil(until),
    onWait: ({ ms, error }) => onWaiting({ until: context.now() + ms, why: error.message }),
  };
}

/** The rest of the day's quota, read at most once a second; undefined until it was read. */
function leftOfDay(ledger: Ledger, { context: { now } }: App): () => number | undefined {
  let at = Number.NEGATIVE_INFINITY;
  let left: number | undefined;
  const read = async (): Promise<void> => {
    at = now();
    const { limit, used } = (await ledger.usage()).perDay;
    left = Math.max(0, limit - used);
  };
  return () => {
    // Where reading fails, so does the next request, which reports it.
    if (now() - at >= 1000) void read().catch(() => {});
    return left;
  };
}

/** Distinguishes a pause of the whole run from the failure of a row; with `--wait` sits it out. */
function withQuotaWait({ context, settings }: App, { options, signal, onWaiting }: PacedOptions) {
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
        for (let left = pause.freeAt - context.now(); left > 0; left = pause.freeAt - context.now())
          await context.sleep(Math.min(left, MAX_SLEEP_MS), signal);
      }
    }
  };
}

import { type Client, openClient } from '../api/client.ts';
import { assertMayCarryKey } from '../api/endpoint.ts';
import { type Ledger, openLedger } from '../budget/ledger.ts';
import { openPacer } from '../budget/pacer.ts';
import { AppError } from '../errors.ts';
import type { App } from '../run/app.ts';
import { configuredEndpoint, configuredKey, needEndpoint, needKey } from '../run/target.ts';
import { traceTo } from '../run/trace.ts';
import { openSessionMemory } from '../state/sessions.ts';
import { VERSION } from '../version.ts';
import { type Known, nothingKnown, openKnown } from './known.ts';
import { Exhausted, type Lookups } from './lookups.ts';
import type { EnrichOptions } from './options.ts';
import { openPace } from './pace.ts';
import type { Waiting } from './progress.ts';

/** Which service a list is about, and with which key. */
export interface Target {
  readonly url: URL;
  readonly key: string;
  /** The sandbox in this process: nothing is counted and nothing kept. */
  readonly demo: boolean;
}

/**
 * The service of this run. With `--demo` it is started.
 * @throws {AppError} `no_service`, `no_key`, …
 */
export async function needTarget(app: App): Promise<Target> {
  if (app.globals.demo === true) {
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ perMinute: 0, perDay: 0 });
    app.onClose(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url } = needEndpoint(app);
  const key = needKey(app, url).value;
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return { url, key, demo: false };
}

/** The service of this run as far as it is set: for an estimate, which sends nothing. */
export function knownTarget(app: App): Target | undefined {
  if (app.globals.demo === true) return undefined;
  const url = configuredEndpoint(app)?.url;
  const key = url === undefined ? undefined : configuredKey(app, url)?.value;
  return url === undefined || key === undefined ? undefined : { url, key, demo: false };
}

/** The count of the requests to a service. */
export function ledgerOf(
  app: App,
  { url, key }: Target,
  { perMinute, perDay }: Pick<EnrichOptions, 'perMinute' | 'perDay'>,
  warn?: (text: string) => void,
): Ledger {
  const { stateDir } = app.paths;
  const { now } = app.context;
  return openLedger({
    stateDir,
    key,
    endpoint: url.href,
    now,
    perMinute,
    perDay,
    ...(warn === undefined ? {} : { warn }),
  });
}

/** What was answered before, at most so old. */
export function knownOf(app: App, target: Target, maxAgeMs: number): Known {
  if (target.demo) return nothingKnown;
  const { cacheDir } = app.paths;
  return openKnown({ cacheDir, now: app.context.now, endpoint: target.url.href, key: target.key, maxAgeMs });
}

export interface ServiceOptions {
  readonly target: Target;
  readonly options: EnrichOptions;
  readonly known: Known;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onWarning: (text: string) => void;
}

/** A service that is paced, and counted. */
export interface PacedService extends Lookups {
  /** HTTP requests so far. */
  readonly requests: () => number;
  /** Requests that the day's budget still has; undefined where it has no limit. */
  readonly leftToday: () => number | undefined;
}

/** Opens the service for a list. It is closed when the program ends. */
export function openPaced(app: App, service: ServiceOptions): PacedService {
  const { target, options, known, onWarning } = service;
  const ledger = target.demo ? undefined : ledgerOf(app, target, options, onWarning);
  let requests = 0;
  const client = clientOf(app, service, ledger, () => {
    requests += 1;
  });
  app.onClose(() => client.close());
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

/** What the day's budget still has, looked up once a second at most. */
function roomOfDay(ledger: Ledger, { context: { now } }: App): () => number {
  let at = Number.NEGATIVE_INFINITY;
  let room = 0;
  return () => {
    if (now() - at >= 1000) {
      const { limit, used } = ledger.usage().perDay;
      room = Math.max(0, limit - used);
      at = now();
    }
    return room;
  };
}

function clientOf(
  app: App,
  { target, options, signal, onWaiting, onWarning }: ServiceOptions,
  ledger: Ledger | undefined,
  onSent: () => void,
): Client {
  const { context, settings, paths } = app;
  const { url, key, demo } = target;
  const maxWaitMs = settings.need('max-wait');
  const { now } = context;
  const pace =
    ledger === undefined
      ? undefined
      : openPace({
          ledger,
          now,
          signal,
          unlimited: options.perMinute === 0 && options.perDay === 0,
          pacer: openPacer({
            ledger,
            context,
            wait: options.wait,
            maxWaitMs,
            onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
          }),
        });
  return openClient({
    endpoint: url,
    key,
    insecureHttp: app.globals.insecureHttp === true,
    protocol: settings.need('protocol'),
    timeoutMs: settings.need('timeout'),
    retries: settings.need('retries'),
    maxWaitMs,
    version: VERSION,
    context: { ...context, signal },
    async onRequest() {
      await pace?.onRequest();
      onSent();
    },
    onRateLimited: (until) => pace?.onRateLimited(until),
    onWait: ({ ms, error }) => onWaiting({ until: now() + ms, why: error.message }),
    ...(app.verbose ? { trace: traceTo(app) } : {}),
    ...(demo ? {} : { session: openSessionMemory(paths.stateDir, url.href, onWarning) }),
  });
}

const WAITS = {
  minute: 'the budget of a minute is spent',
  day: 'the budget of the day is spent',
  hold: 'the service asks to wait',
} as const;

/** Tells a pause of the whole run from the failure of a row; with `--wait` sits it out. */
function patience(app: App, { options, signal, onWaiting }: ServiceOptions) {
  const { now, sleep } = app.context;
  const maxWaitMs = app.settings.need('max-wait');
  const pauseOf = (error: unknown): Exhausted | undefined => {
    if (!(error instanceof AppError) || error.kind !== 'rate_limit') return undefined;
    const { retryAfter } = error.details;
    const ms = (retryAfter ?? 0) * 1000;
    if (error.code !== 'budget_spent' && ms <= maxWaitMs) return undefined;
    return new Exhausted(error, now() + ms);
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
        while (now() < pause.freeAt) await sleep(Math.min(pause.freeAt - now(), LONGEST_SLEEP_MS), signal);
      }
    }
  };
}

/** Timers overflow, clocks are set, machines sleep: a long wait is made of short ones. */
const LONGEST_SLEEP_MS = 60_000;

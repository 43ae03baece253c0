import { type Ledger, type Limits, openLedger } from '../storage/ledger.ts';
import type { App } from './app.ts';
import type { Target } from './target.ts';

/** Why nothing is sent. */
export interface Waiting {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly why: string;
}

/** How the requests of a service keep to its quota. */
export interface QuotaOptions {
  /** For many calls: each request waits until the quota, which all processes with the key share, allows it. */
  readonly paced?: boolean;
  /** The quota. Default: as set. */
  readonly limits?: Limits;
  /** Whether paced calls also wait for the next day, or through a long pause that the service asks for. */
  readonly waitLong?: boolean;
  /** Reports a wait. Default: a line on stderr. */
  readonly onWaiting?: (waiting: Waiting) => void;
  /** Receives what goes wrong with the files of this run. Default: {@link App.remark}. */
  readonly warn?: (text: string) => void;
}

export const NO_LIMITS: Limits = { perMinute: 0, perDay: 0 };
/** A wait that is reported also where no person reads stderr, in milliseconds. */
const LONG_WAIT_MS = 5000;
/** Waits that end so close to each other are for one pause. */
const SAME_PAUSE_MS = 1000;
const WAITS = {
  minute: 'the quota of this minute is used up',
  day: 'the quota of this day is used up',
  pause: 'the service asks to wait',
} as const;

/** Returns the quota as set. @throws {AppError} `bad_config` */
export const quotaLimits = ({ settings }: App): Limits => ({
  perMinute: settings.get('per-minute'),
  perDay: settings.get('per-day'),
});

/** Opens the count of the requests to a service. That of the embedded sandbox is in memory. */
export async function openLedgerFor(
  app: App,
  { url, key, demo = false }: Pick<Target, 'url' | 'key'> & Partial<Pick<Target, 'demo'>>,
  { perMinute, perDay }: Limits,
  warn = warnOf(app),
): Promise<Ledger> {
  const shared = demo ? undefined : await app.sharedState();
  if (shared !== undefined) return shared.ledger(url.href, key, { perMinute, perDay });
  const stateDir = demo ? undefined : app.paths.stateDir;
  const { now } = app.context;
  return openLedger({ stateDir, key, endpoint: url.href, now, perMinute, perDay, warn });
}

/** Returns what counts each request before it is sent; with `paced`, it waits until the quota allows the request. */
export async function requestCounter(
  app: App,
  ledger: Ledger,
  signal: AbortSignal,
  onWaiting: (waiting: Waiting) => void,
  { paced = false, waitLong = false }: QuotaOptions,
): Promise<() => Promise<void>> {
  if (!paced) return ledger.record;
  const { openPacer } = await import('../storage/pacer.ts');
  const acquire = openPacer({
    ledger,
    context: app.context,
    wait: waitLong,
    maxWaitMs: app.settings.get('max-wait'),
    onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
  });
  return () => acquire(signal);
}

/** Returns what reports the waits of a service. */
export function waitReporter(app: App, options: QuotaOptions): (waiting: Waiting) => void {
  const { onWaiting, paced } = options;
  let reported = 0;
  const print = ({ until, why }: Waiting): void => {
    // Several requests wait for the same pause.
    if (until <= reported + SAME_PAUSE_MS) return;
    reported = until;
    const ms = until - app.context.now();
    const text = `${why}; trying again in ${Math.max(1, Math.round(ms / 1000))} s`;
    void (ms > LONG_WAIT_MS ? app.warn(text, paced) : app.remark(text));
  };
  return onWaiting ?? print;
}

/** Returns what receives problems with the files of a run that the program solves itself. */
export const warnOf = (app: App, { warn }: Pick<QuotaOptions, 'warn'> = {}) =>
  warn ?? ((text: string) => void app.remark(text));

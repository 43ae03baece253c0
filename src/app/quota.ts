import type { Ledger, Limits, TakeBack } from '../storage/ledger.ts';
import type { Patience } from '../storage/pacer.ts';
import type { Warn } from '../storage/store.ts';
import type { App } from './app.ts';
import type { Target } from './target.ts';

export interface Waiting {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly why: string;
}

export interface QuotaOptions {
  /** How long each request waits for the quota that all processes with the key share. Default: not at all. */
  readonly patience?: Patience | undefined;
  readonly limits?: Limits;
  readonly onWaiting?: (waiting: Waiting) => void;
  /** Called with problems of our own files. Default: a remark on stderr. */
  readonly warn?: Warn;
}

export const NO_LIMITS: Limits = { perMinute: 0, perDay: 0 };
/** Minimum wait, in milliseconds, that is reported even if stderr is not a terminal. */
const LONG_WAIT_MS = 5000;
/** Waits that end within this time of each other belong to the same pause. */
const SAME_PAUSE_MS = 1000;
const WAITS = {
  minute: 'the quota per minute is used up',
  day: 'the daily quota is used up',
  pause: 'the service requested a pause',
} as const;

/** @param flags the options of a command, which override the settings */
export const quotaLimits = ({ settings }: App, flags: Partial<Limits> = {}): Limits => ({
  perMinute: flags.perMinute ?? settings.get('per-minute'),
  perDay: flags.perDay ?? settings.get('per-day'),
});

/** For the embedded sandbox, the ledger is in memory. */
export async function openLedgerFor(
  app: App,
  { url, key, demo }: Pick<Target, 'url' | 'key' | 'demo'>,
  { perMinute, perDay }: Limits,
  warn = warnOf(app),
): Promise<Ledger> {
  const shared = demo ? undefined : await app.sharedState();
  if (shared !== undefined) return shared.ledger(url.href, key, { perMinute, perDay });
  const stateDir = demo ? undefined : app.paths.stateDir;
  const { now } = app.context;
  const { openLedger } = await import('../storage/ledger.ts');
  return openLedger({ stateDir, key, endpoint: url.href, now, perMinute, perDay, warn });
}

/** Counts a request before it is sent. With patience, waits until the quota allows it. */
export async function requestCounter(
  app: App,
  ledger: Ledger,
  signal: AbortSignal,
  onWaiting: (waiting: Waiting) => void,
  { patience }: QuotaOptions,
): Promise<() => Promise<TakeBack>> {
  if (patience === undefined) return () => ledger.record();
  const { openPacer } = await import('../storage/pacer.ts');
  const { timeText } = await import('../util/format.ts');
  const acquire = openPacer({
    ledger,
    context: app.context,
    patience,
    maxWaitMs: app.settings.get('max-wait'),
    onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
    timeText: (ms) => timeText(app, ms),
  });
  return () => acquire(signal);
}

/** Reports pauses to `onWaiting`, by default each once on stderr. */
export function waitReporter(app: App, { onWaiting, patience }: QuotaOptions): (waiting: Waiting) => void {
  const { context, notes } = app;
  let reported = 0;
  function report({ until, why }: Waiting): void {
    if (until <= reported + SAME_PAUSE_MS) return;
    reported = until;
    const ms = until - context.now();
    const text = `${why}; retrying in ${Math.max(1, Math.round(ms / 1000))} s`;
    void (ms > LONG_WAIT_MS ? notes.warn(text, patience !== undefined) : notes.remark(text));
  }
  return onWaiting ?? report;
}

export const warnOf = (app: App, { warn }: Pick<QuotaOptions, 'warn'> = {}): Warn =>
  warn ?? ((text, cause) => void app.notes.remark(text, cause));

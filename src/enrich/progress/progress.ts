import type { Context } from '../../context.ts';
import { toJson } from '../../util/json.ts';
import { asLines, type Counts, type RunSummary, summaryJson, summaryLines } from './summary.ts';

/** A pause of a run. */
export interface Waiting {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly why: string;
}

/** Shows what a run does. */
export interface Progress {
  waiting(waiting: Waiting): void;
  /** Shows a fault that does not end the run. */
  warn(text: string): void;
  /** Ends it and shows the summary. */
  finish(summary: RunSummary): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** The figures to show, read when they are shown. */
export interface ProgressSource {
  readonly counts: () => Counts;
  readonly requests: () => number;
  /** Requests that the day's quota still has; undefined where it has no limit. */
  readonly leftToday: () => number | undefined;
  readonly total: number | undefined;
  /** Requests a minute; 0 = no limit. */
  readonly perMinute: number;
}

export type ProgressContext = Pick<Context, 'stderr' | 'now' | 'sleep'>;
export type Print = (text: string) => Promise<void>;

/** Time, and rows, before the time left is estimated. */
const ESTIMATE_AFTER_MS = 2000;
const ESTIMATE_AFTER_ROWS = 3;
/** Pauses that are reported without a bar, in milliseconds. */
const LONG_PAUSE_MS = 5000;
const EVENT_EVERY_MS = 1000;

/** Warnings and the first long pause while it runs, the summary at its end. */
export function quietProgress(
  { now }: Pick<Context, 'now'>,
  print: Print,
  shows: { readonly notes: boolean; readonly summary: boolean },
): Progress {
  let paused = false;
  const note = (text: string): void => {
    if (shows.notes) void print(asLines([text]));
  };
  return {
    waiting({ until, why }) {
      if (paused || until - now() < LONG_PAUSE_MS) return;
      paused = true;
      note(`waiting until ${new Date(until).toISOString()}: ${why}`);
    },
    warn: (text) => note(`warning: ${text}`),
    finish: async (summary) => {
      if (shows.notes && shows.summary) await print(asLines(summaryLines(summary)));
    },
    stop: async () => {},
  };
}

/** One JSON object a line. */
export function jsonProgress(context: ProgressContext, print: Print, source: ProgressSource): Progress {
  const startedAt = context.now();
  const event = (name: string, rest: Record<string, unknown>): Promise<void> =>
    print(`${toJson({ event: name, ...rest }, false)}\n`);
  void event('start', { rows: source.total ?? null });
  const ticker = every(context, EVENT_EVERY_MS, () => {
    const { matched, likely, ambiguous, not_found, skipped, error, done } = source.counts();
    const left = timeLeft(source, context.now() - startedAt);
    return event('progress', {
      rows: source.total ?? null,
      done,
      matched,
      likely,
      ambiguous,
      not_found,
      skipped,
      errors: error,
      requests: source.requests(),
      left_today: source.leftToday() ?? null,
      seconds_left: left === undefined ? null : Math.round(left / 1000),
    });
  });
  return {
    waiting: ({ until, why }) => void event('waiting', { until: new Date(until).toISOString(), why }),
    warn: (text) => void event('warning', { message: text }),
    async finish(summary) {
      await ticker.stop();
      await event('summary', summaryJson(summary));
    },
    stop: () => ticker.stop(),
  };
}

/** Milliseconds, by the pace so far and the quota of a minute; undefined where it cannot be known. */
export function timeLeft(source: ProgressSource, elapsed: number): number | undefined {
  const { done, earlier } = source.counts();
  const own = done - earlier;
  if (source.total === undefined || own < ESTIMATE_AFTER_ROWS || elapsed < ESTIMATE_AFTER_MS)
    return undefined;
  const rows = source.total - done;
  const requests = (rows * source.requests()) / own;
  const byQuota = source.perMinute === 0 ? 0 : Math.floor(requests / source.perMinute) * 60_000;
  return Math.max((rows * elapsed) / own, byQuota);
}

/** Repeats an action until it is stopped. */
export function every(
  { sleep }: Pick<Context, 'sleep'>,
  ms: number,
  act: () => Promise<void>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(ms, stopping.signal);
      await act();
    }
  };
  const running = run().catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

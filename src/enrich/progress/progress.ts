import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output-file.ts';
import type { Waiting } from '../../app/quota.ts';
import type { Context } from '../../context.ts';
import type { Palette } from '../../output/color.ts';
import { formatDuration } from '../../util/duration.ts';
import { toJson } from '../../util/json.ts';
import { cleanLine, pad, truncate, width } from '../../util/text.ts';
import {
  asLines,
  type Counts,
  countsJson,
  formatCounts,
  type RunSummary,
  summaryJson,
  summaryLines,
} from './summary.ts';

export interface Progress {
  waiting(waiting: Waiting): void;
  warn(text: string): void;
  finish(summary: RunSummary): Promise<void>;
  stop(): Promise<void>;
}

/** The figures to show. They are read each time they are shown. */
export interface ProgressSource {
  readonly counts: () => Counts;
  readonly requests: () => number;
  /** Requests left in today's quota; undefined if there is no limit. */
  readonly leftToday: () => number | undefined;
  readonly total: number | undefined;
  /** Requests per minute; 0 = no limit. */
  readonly perMinute: number;
}

export type ProgressContext = Pick<Context, 'stderr' | 'now' | 'sleep'>;
export type Print = (text: string) => Promise<void>;

/** Minimum time, and minimum number of rows, before the time left is estimated. */
const ESTIMATE_AFTER_MS = 2000;
const ESTIMATE_AFTER_ROWS = 3;
/** Minimum length of a pause that is reported without a bar, in milliseconds. */
const LONG_PAUSE_MS = 5000;
const EVENT_EVERY_MS = 1000;
const BAR_EVERY_MS = 125;
const BAR_CELLS = 20;

export function startProgress(
  app: App,
  options: { readonly progress?: 'json'; readonly json: boolean },
  source: ProgressSource,
): Progress {
  const { context, globals, terminal } = app;
  // A closed stderr must not end a run that can still write its rows.
  const print = (text: string): Promise<void> =>
    context.stderr.write(app.secrets.redact(text)).catch(() => {});
  if (options.progress === 'json') return jsonProgress(context, print, source);
  // Rows and a bar on one terminal would overwrite each other.
  const rowsOnTerminal = context.stdout.isTTY && outputPath(app) === undefined;
  if (terminal.canRepaint && !rowsOnTerminal)
    return barProgress(context, print, source, terminal.palette('stderr'));
  return quietProgress(context, print, { notes: globals.quiet !== true, summary: !options.json });
}

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

/** Shows a progress bar on a terminal. It uses no escape sequences, so the terminal needs no cleanup. */
export function barProgress(
  context: ProgressContext,
  print: Print,
  source: ProgressSource,
  colors: Palette,
): Progress {
  const startedAt = context.now();
  let wait: Waiting | undefined;
  let shown = '';
  const erase = (): string => {
    const blank = shown === '' ? '' : `\r${' '.repeat(width(shown))}\r`;
    shown = '';
    return blank;
  };
  const stopTicker = every(context, BAR_EVERY_MS, async () => {
    const now = context.now();
    if (wait !== undefined && wait.until <= now) wait = undefined;
    const columns = Math.max(1, context.stderr.columns - 1);
    const time =
      wait === undefined
        ? timeLeft(source, now - startedAt)
        : `waiting ${inSeconds(wait.until - now)}: ${cleanLine(wait.why)}`;
    const line = barLine(source, columns, typeof time === 'number' ? `${inSeconds(time)} left` : time);
    if (line === shown) return;
    const text = `\r${pad(line, width(shown))}`;
    shown = line;
    await print(text);
  });
  const stop = async (): Promise<void> => {
    await stopTicker();
    await print(erase());
  };
  return {
    waiting: (next) => {
      wait = next;
    },
    warn(text) {
      void print(`${erase()}${colors.warn('warning:')} ${cleanLine(text)}\n`);
    },
    async finish(summary) {
      await stop();
      await print(asLines(summaryLines(summary)));
    },
    stop,
  };
}

function barLine(source: ProgressSource, columns: number, time: string | undefined): string {
  const left = source.leftToday();
  const line = [share(source), time, formatCounts(source.counts(), true)].filter(Boolean).join(', ');
  const whole = left === undefined ? line : `${line}, ${left} requests left today`;
  return width(whole) <= columns ? whole : truncate(line, columns);
}

function share({ counts, total }: ProgressSource): string {
  const { done } = counts();
  if (total === undefined) return `${done} rows`;
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const bar = '#'.repeat(Math.round(part * BAR_CELLS)).padEnd(BAR_CELLS, '-');
  return `[${bar}] ${Math.floor(part * 100)}% ${done}/${total}`;
}

function inSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

export function jsonProgress(context: ProgressContext, print: Print, source: ProgressSource): Progress {
  const startedAt = context.now();
  const event = (name: string, rest: Record<string, unknown>): Promise<void> =>
    print(`${toJson({ event: name, ...rest }, false)}\n`);
  void event('start', { rows: source.total ?? null });
  const stopTicker = every(context, EVENT_EVERY_MS, () => {
    const left = timeLeft(source, context.now() - startedAt);
    return event('progress', {
      rows: source.total ?? null,
      ...countsJson(source.counts()),
      requests: source.requests(),
      left_today: source.leftToday() ?? null,
      seconds_left: left === undefined ? null : Math.round(left / 1000),
    });
  });
  return {
    waiting: ({ until, why }) => void event('waiting', { until: new Date(until).toISOString(), why }),
    warn: (text) => void event('warning', { message: text }),
    async finish(summary) {
      await stopTicker();
      await event('summary', summaryJson(summary));
    },
    stop: stopTicker,
  };
}

/** Estimates the time left in milliseconds, from the pace so far and the quota per minute; undefined if unknown. */
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

function every({ sleep }: Pick<Context, 'sleep'>, ms: number, act: () => Promise<void>): () => Promise<void> {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(ms, stopping.signal);
      await act();
    }
  };
  const running = run().catch(() => {});
  return () => {
    stopping.abort();
    return running;
  };
}

import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output-file.ts';
import type { Waiting } from '../../app/quota.ts';
import type { Context } from '../../context.ts';
import type { Palette } from '../../output/style.ts';
import { formatDuration, timeText } from '../../util/format.ts';
import { toJson } from '../../util/json.ts';
import { cleanLine, pad, truncate, width } from '../../util/text.ts';
import { asLines, type Counts, formatCounts, type RunSummary, summaryLines } from './summary.ts';

export interface Progress {
  waiting(waiting: Waiting): void;
  warn(text: string): void;
  note(text: string): Promise<void>;
  finish(summary: RunSummary, review?: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ProgressSource {
  /** Of the rows that are done. */
  readonly counts: Counts;
  /** Number of rows that are due; undefined if the end of a stream was not read. */
  readonly total: number | undefined;
  readonly service: {
    readonly requests: number;
    /** Requests left in today's quota; undefined if there is no limit. */
    readonly leftToday: number | undefined;
    /** Requests per minute; 0 = no limit. */
    readonly perMinute: number;
  };
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
  options: { readonly progress?: 'json' | undefined; readonly json: boolean },
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
  const note = async (...texts: readonly string[]): Promise<void> => {
    if (globals.quiet !== true) await print(asLines(texts, context.stderr));
  };
  let hasPaused = false;
  return {
    waiting({ until, why }) {
      if (hasPaused || until - context.now() < LONG_PAUSE_MS) return;
      hasPaused = true;
      void note(`waiting until ${timeText(app, until)}: ${why}`);
    },
    warn: (text) => void note(`warning: ${text}`),
    note: async (text) => {
      if (!options.json) await note(text);
    },
    finish: async (summary, review) => {
      if (!options.json) await note(...summaryLines(summary, review));
    },
    stop: async () => {},
  };
}

/** A progress bar on a terminal. It uses no escape sequences, so the terminal needs no cleanup. */
export function barProgress(
  context: ProgressContext,
  print: Print,
  source: ProgressSource,
  colors: Palette,
): Progress {
  const startedAt = context.now();
  let wait: Waiting | undefined;
  let shown = '';
  const timeAt = (now: number): string | undefined => {
    if (wait !== undefined && wait.until > now)
      return `waiting ${inSeconds(wait.until - now)}: ${cleanLine(wait.why)}`;
    const left = timeLeft(source, now - startedAt);
    return left === undefined ? undefined : `${inSeconds(left)} left`;
  };
  const repaint = async (): Promise<void> => {
    const columns = Math.max(1, context.stderr.columns - 1);
    const line = barLine(source, columns, timeAt(context.now()));
    if (line === shown) return;
    const text = `\r${pad(line, width(shown))}`;
    shown = line;
    await print(text);
  };
  const erase = (): string => {
    const blank = shown === '' ? '' : `\r${' '.repeat(width(shown))}\r`;
    shown = '';
    return blank;
  };
  const stopTicker = every(context, BAR_EVERY_MS, repaint);
  const stop = async (): Promise<void> => {
    await stopTicker();
    await print(erase());
  };
  const lines = (...texts: readonly string[]): string => asLines(texts, context.stderr);
  return {
    waiting: (next) => {
      wait = next;
    },
    warn: (text) => {
      const label = 'warning:';
      void print(erase() + lines(`${label} ${text}`).replace(label, () => colors.warn(label)));
    },
    note: (text) => print(erase() + lines(text)),
    finish: async (summary, review) => {
      await stop();
      await print(lines(...summaryLines(summary, review)));
    },
    stop,
  };
}

function barLine(source: ProgressSource, columns: number, time: string | undefined): string {
  const left = source.service.leftToday;
  const line = [share(source), time, formatCounts(source.counts, true)].filter(Boolean).join(', ');
  const whole = left === undefined ? line : `${line}, ${left} requests left today`;
  return width(whole) <= columns ? whole : truncate(line, columns);
}

function share({ counts, total }: ProgressSource): string {
  const { rows: done } = counts;
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
  const rows = source.total ?? null;
  const event = (name: string, rest: object): Promise<void> =>
    print(`${toJson({ event: name, ...rest }, false)}\n`);
  void event('start', { rows });
  const stop = every(context, EVENT_EVERY_MS, () => {
    const left = timeLeft(source, context.now() - startedAt);
    const { rows: done, pending: _, ...counts } = source.counts;
    return event('progress', {
      rows,
      done,
      ...counts,
      requests: source.service.requests,
      left_today: source.service.leftToday ?? null,
      seconds_left: left === undefined ? null : Math.round(left / 1000),
    });
  });
  return {
    waiting: ({ until, why }) => void event('waiting', { until: new Date(until).toISOString(), why }),
    warn: (message) => void event('warning', { message }),
    note: async () => {},
    finish: async (summary) => {
      await stop();
      await event('summary', summary);
    },
    stop,
  };
}

/** Estimates the time left in milliseconds, from the pace so far and the quota per minute; undefined if unknown. */
export function timeLeft({ counts, total, service }: ProgressSource, elapsed: number): number | undefined {
  const { rows: done } = counts;
  if (total === undefined || done < ESTIMATE_AFTER_ROWS || elapsed < ESTIMATE_AFTER_MS) return undefined;
  const left = total - done;
  const requests = (left * service.requests) / done;
  const byQuota = service.perMinute === 0 ? 0 : Math.floor(requests / service.perMinute) * 60_000;
  return Math.max((left * elapsed) / done, byQuota);
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

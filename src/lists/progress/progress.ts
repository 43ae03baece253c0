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
  /** A line for people. */
  note(text: string): Promise<void>;
  /** @param review the command that decides doubtful rows */
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
    return new BarProgress(context, print, source, terminal.palette('stderr'));
  return new QuietProgress({
    context,
    print,
    hasNotes: globals.quiet !== true,
    hasSummary: !options.json,
    timeText: (ms) => timeText(app, ms),
  });
}

interface QuietOptions {
  readonly context: Pick<Context, 'now' | 'stderr'>;
  readonly print: Print;
  readonly hasNotes: boolean;
  readonly hasSummary: boolean;
  readonly timeText: (ms: number) => string;
}

class QuietProgress implements Progress {
  readonly #options: QuietOptions;
  #hasPaused = false;

  constructor(options: QuietOptions) {
    this.#options = options;
  }

  waiting({ until, why }: Waiting): void {
    const { context, timeText } = this.#options;
    if (this.#hasPaused || until - context.now() < LONG_PAUSE_MS) return;
    this.#hasPaused = true;
    void this.#note(`waiting until ${timeText(until)}: ${why}`);
  }

  warn(text: string): void {
    void this.#note(`warning: ${text}`);
  }

  async note(text: string): Promise<void> {
    if (this.#options.hasSummary) await this.#note(text);
  }

  async finish(summary: RunSummary, review?: string): Promise<void> {
    if (this.#options.hasSummary) await this.#note(...summaryLines(summary, review));
  }

  async stop(): Promise<void> {}

  async #note(...texts: readonly string[]): Promise<void> {
    const { context, print, hasNotes } = this.#options;
    if (hasNotes) await print(asLines(texts, context.stderr));
  }
}

/** A progress bar on a terminal. It uses no escape sequences, so the terminal needs no cleanup. */
export class BarProgress implements Progress {
  readonly #context: ProgressContext;
  readonly #print: Print;
  readonly #source: ProgressSource;
  readonly #colors: Palette;
  readonly #startedAt: number;
  readonly #stopTicker: () => Promise<void>;
  #wait: Waiting | undefined;
  #shown = '';

  constructor(context: ProgressContext, print: Print, source: ProgressSource, colors: Palette) {
    this.#context = context;
    this.#print = print;
    this.#source = source;
    this.#colors = colors;
    this.#startedAt = context.now();
    this.#stopTicker = every(context, BAR_EVERY_MS, () => this.#repaint());
  }

  waiting(wait: Waiting): void {
    this.#wait = wait;
  }

  warn(text: string): void {
    const [label, lines] = ['warning:', asLines([`warning: ${text}`], this.#context.stderr)];
    void this.#print(this.#erase() + lines.replace(label, () => this.#colors.warn(label)));
  }

  async note(text: string): Promise<void> {
    await this.#print(this.#erase() + asLines([text], this.#context.stderr));
  }

  async finish(summary: RunSummary, review?: string): Promise<void> {
    await this.stop();
    await this.#print(asLines(summaryLines(summary, review), this.#context.stderr));
  }

  async stop(): Promise<void> {
    await this.#stopTicker();
    await this.#print(this.#erase());
  }

  async #repaint(): Promise<void> {
    const columns = Math.max(1, this.#context.stderr.columns - 1);
    const line = barLine(this.#source, columns, this.#time(this.#context.now()));
    if (line === this.#shown) return;
    const text = `\r${pad(line, width(this.#shown))}`;
    this.#shown = line;
    await this.#print(text);
  }

  #time(now: number): string | undefined {
    if (this.#wait !== undefined && this.#wait.until <= now) this.#wait = undefined;
    if (this.#wait !== undefined) {
      const { until, why } = this.#wait;
      return `waiting ${inSeconds(until - now)}: ${cleanLine(why)}`;
    }
    const left = timeLeft(this.#source, now - this.#startedAt);
    return left === undefined ? undefined : `${inSeconds(left)} left`;
  }

  #erase(): string {
    const blank = this.#shown === '' ? '' : `\r${' '.repeat(width(this.#shown))}\r`;
    this.#shown = '';
    return blank;
  }
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

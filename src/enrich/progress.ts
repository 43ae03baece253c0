import { inWords } from '../api/duration.ts';
import type { Context } from '../context.ts';
import type { Palette } from '../output/color.ts';
import { toJson } from '../output/json.ts';
import { cleanLine, truncate } from '../output/text.ts';
import { type RunSummary, summaryFacts, summaryText } from './summary.ts';
import type { Counts } from './tally.ts';

/** What a run is waiting for. */
export interface Waiting {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly why: string;
}

/** How a run tells what it is doing. */
export interface Progress {
  waiting(waiting: Waiting): void;
  /** Something that goes wrong without ending the run. */
  warn(text: string): void;
  /** Ends it and tells the summary. */
  finish(summary: RunSummary): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** What is looked at when something is to be shown. */
export interface ProgressFacts {
  readonly counts: () => Counts;
  readonly requests: () => number;
  /** Requests that the day's budget still has; undefined where it has no limit. */
  readonly leftToday: () => number | undefined;
  readonly total: number | undefined;
}

export type ProgressContext = Pick<Context, 'stderr' | 'now' | 'sleep'>;
type Say = (text: string) => Promise<void>;

const BAR_EVERY_MS = 125;
const EVENT_EVERY_MS = 1000;
const BAR_WIDTH = 20;
/** So long, and so many rows, until a guess at the time left is worth something. */
const GUESS_AFTER_MS = 2000;
const GUESS_AFTER_ROWS = 3;

/** Nothing while it runs, the summary at its end. */
export function quietProgress(say: Say, tells: boolean): Progress {
  const tell = (texts: readonly string[]): Promise<void> => (tells ? say(asLines(texts)) : Promise.resolve());
  return {
    waiting: () => {},
    warn: (text) => void tell([`warning: ${text}`]),
    finish: (summary) => tell(summaryText(summary)),
    stop: async () => {},
  };
}

function asLines(texts: readonly string[]): string {
  return texts.map((text) => `${cleanLine(text)}\n`).join('');
}

/** JSON lines alone. */
export function jsonProgress(context: ProgressContext, say: Say, facts: ProgressFacts): Progress {
  const startedAt = context.now();
  const event = (name: string, rest: Record<string, unknown>): Promise<void> =>
    say(`${toJson({ event: name, ...rest }, false)}\n`);
  void event('start', { rows: facts.total ?? null });
  const ticker = every(context, EVENT_EVERY_MS, () => {
    const { matched, ambiguous, not_found, error, done } = facts.counts();
    return event('progress', {
      rows: facts.total ?? null,
      done,
      matched,
      ambiguous,
      not_found,
      errors: error,
      requests: facts.requests(),
      left_today: facts.leftToday() ?? null,
      seconds_left: seconds(timeLeft(facts, context.now() - startedAt)),
    });
  });
  return {
    waiting: ({ until, why }) => void event('waiting', { until: new Date(until).toISOString(), why }),
    warn: (text) => void event('warning', { message: text }),
    async finish(summary) {
      await ticker.stop();
      await event('summary', summaryFacts(summary));
    },
    stop: () => ticker.stop(),
  };
}

/** A bar on a terminal. It hides no cursor, so that nothing is to be restored. */
export function barProgress(
  context: ProgressContext,
  say: Say,
  facts: ProgressFacts,
  colors: Palette,
): Progress {
  const startedAt = context.now();
  let wait: Waiting | undefined;
  let shown = '';
  const clear = async (): Promise<void> => {
    if (shown !== '') await say('\r\u001b[K');
    shown = '';
  };
  const ticker = every(context, BAR_EVERY_MS, async () => {
    const now = context.now();
    if (wait !== undefined && wait.until <= now) wait = undefined;
    const line = truncate(
      barText(facts, now - startedAt, wait, now),
      Math.max(1, context.stderr.columns - 1),
    );
    if (line !== shown) await say(`\r\u001b[K${line}`);
    shown = line;
  });
  const stop = async (): Promise<void> => {
    await ticker.stop();
    await clear();
  };
  return {
    waiting: (next) => {
      wait = next;
    },
    warn: (text) => void clear().then(() => say(`${colors.warn('warning:')} ${cleanLine(text)}\n`)),
    async finish(summary) {
      await stop();
      await say(asLines(summaryText(summary)));
    },
    stop,
  };
}

function barText(facts: ProgressFacts, elapsed: number, wait: Waiting | undefined, now: number): string {
  const { done, matched, ambiguous, not_found, error } = facts.counts();
  const { total } = facts;
  const left = facts.leftToday();
  const rest = timeLeft(facts, elapsed);
  const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total);
  const filled = Math.round((share ?? 0) * BAR_WIDTH);
  const bar =
    share === undefined
      ? ''
      : `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)}% `;
  return [
    `${bar}${done}${total === undefined ? ' rows' : `/${total}`}`,
    `${matched} matched`,
    ...(wait === undefined ? [] : [`waiting ${inWords(wait.until - now)} (${cleanLine(wait.why)})`]),
    ...(rest === undefined ? [] : [`${inWords(rest)} left`]),
    `${ambiguous} ambiguous`,
    `${not_found} not found`,
    `${error} errors`,
    ...(left === undefined ? [] : [`${left} requests left today`]),
  ].join(' · ');
}

/** Milliseconds, by the pace so far. */
function timeLeft({ counts, total }: ProgressFacts, elapsed: number): number | undefined {
  const { done, earlier } = counts();
  const own = done - earlier;
  if (total === undefined || own < GUESS_AFTER_ROWS || elapsed < GUESS_AFTER_MS) return undefined;
  return ((total - done) * elapsed) / own;
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms / 1000));

/** Does something again and again until it is stopped. */
function every(
  { sleep }: Pick<Context, 'sleep'>,
  ms: number,
  act: () => Promise<void>,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await sleep(ms, ending.signal);
      await act();
    }
  };
  const running = run().catch(() => {});
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}

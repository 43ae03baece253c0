import type { Context } from '../../context.ts';
import { cleanLine } from '../../util/text.ts';
import type { Counts } from './counters.ts';
import { type RunSummary, summaryText } from './summary.ts';

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
  /** Requests a minute; 0 = no limit. */
  readonly perMinute: number;
}

export type ProgressContext = Pick<Context, 'stderr' | 'now' | 'sleep'>;
export type Say = (text: string) => Promise<void>;

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

/** Texts from anywhere as lines for a terminal. */
export function asLines(texts: readonly string[]): string {
  return texts.map((text) => `${cleanLine(text)}\n`).join('');
}

/** Milliseconds, by the pace so far and by the budget of a minute; undefined where nobody can know. */
export function timeLeft(facts: ProgressFacts, elapsed: number): number | undefined {
  const { done, earlier } = facts.counts();
  const own = done - earlier;
  if (facts.total === undefined || own < GUESS_AFTER_ROWS || elapsed < GUESS_AFTER_MS) return undefined;
  const rows = facts.total - done;
  const requests = (rows * facts.requests()) / own;
  const byBudget = facts.perMinute === 0 ? 0 : Math.floor(requests / facts.perMinute) * 60_000;
  return Math.max((rows * elapsed) / own, byBudget);
}

/** Does something again and again until it is stopped. */
export function every(
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

import type { Palette } from '../../output/color.ts';
import { formatDuration } from '../../util/duration.ts';
import { cleanLine, pad, truncate, width } from '../../util/text.ts';
import {
  asLines,
  every,
  type Progress,
  type ProgressContext,
  type ProgressFacts,
  type Say,
  timeLeft,
  type Waiting,
} from './progress.ts';
import { summaryText } from './summary.ts';

const BAR_EVERY_MS = 125;
/** A bar on a terminal. It writes no escape sequence, so that nothing is to be restored. */
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
    if (shown !== '') await say(wiped());
  };
  /** Empties the line. */
  const wiped = (): string => {
    const blank = shown === '' ? '' : `\r${' '.repeat(width(shown))}\r`;
    shown = '';
    return blank;
  };
  const ticker = every(context, BAR_EVERY_MS, async () => {
    const now = context.now();
    if (wait !== undefined && wait.until <= now) wait = undefined;
    const columns = Math.max(1, context.stderr.columns - 1);
    const line = barText(facts, columns, now - startedAt, wait && waitPart(wait, now));
    if (line === shown) return;
    const text = `\r${pad(line, width(shown))}`;
    shown = line;
    await say(text);
  });
  const stop = async (): Promise<void> => {
    await ticker.stop();
    await clear();
  };
  return {
    waiting: (next) => {
      wait = next;
    },
    warn(text) {
      void say(`${wiped()}${colors.warn('warning:')} ${cleanLine(text)}\n`);
    },
    async finish(summary) {
      await stop();
      await say(asLines(summaryText(summary)));
    },
    stop,
  };
}

/** A part of the line; of what does not fit, the highest rank goes first. */
interface Part {
  readonly text: string;
  readonly rank: number;
}

/** Ranks of what is shown in every terminal: the time, and errors where there are any. */
const NEEDED = 1;
/** Widths of the bar, and how many parts beside those needed it must leave room for. */
const BARS = [
  { cells: 20, more: 1 },
  { cells: 10, more: 0 },
  { cells: 0, more: 0 },
] as const;

/** The line for so many columns: how far it is and how long it takes, then as many counts as there is room for. */
function barText(facts: ProgressFacts, columns: number, elapsed: number, wait: Part | undefined): string {
  const parts = partsOf(facts, elapsed, wait);
  const ranks = parts.map(({ rank }) => rank).sort((a, b) => a - b);
  const needed = ranks.filter((rank) => rank <= NEEDED).length;
  let line = '';
  for (const { cells, more } of BARS) {
    const least = Math.max(1, Math.min(needed + more, parts.length));
    for (let count = parts.length; count >= least; count -= 1) {
      const last = ranks[count - 1] ?? -1;
      const shown = parts.filter(({ rank }) => rank <= last).map(({ text }) => text);
      line = [headOf(facts, cells), ...shown].join(', ');
      if (width(line) <= columns) return line;
    }
  }
  return truncate(line, columns);
}

function headOf({ counts, total }: ProgressFacts, cells: number): string {
  const { done } = counts();
  if (total === undefined) return `${done} rows`;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * cells);
  const bar = cells === 0 ? '' : `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}] `;
  return `${bar}${Math.floor(share * 100)}% ${done}/${total}`;
}

/** In the order in which they stand. Every rank is another one. */
function partsOf(facts: ProgressFacts, elapsed: number, wait: Part | undefined): Part[] {
  const { matched, ambiguous, not_found, error } = facts.counts();
  const rest = timeLeft(facts, elapsed);
  const left = facts.leftToday();
  const count = (number: number, what: string, rank: number): Part => ({
    text: `${number} ${what}`,
    // That there is none of it is what matters least.
    rank: number === 0 ? rank + 10 : rank,
  });
  return [
    ...(wait === undefined ? [] : [wait]),
    ...(rest === undefined || wait !== undefined ? [] : [{ text: `${inSeconds(rest)} left`, rank: 0 }]),
    count(matched, 'matched', 2),
    count(ambiguous, 'ambiguous', 3),
    count(not_found, 'not found', 4),
    count(error, error === 1 ? 'error' : 'errors', 1),
    ...(left === undefined ? [] : [{ text: `${left} requests left today`, rank: 5 }]),
  ];
}

function waitPart({ until, why }: Waiting, now: number): Part {
  return { text: `waiting ${inSeconds(until - now)}: ${cleanLine(why)}`, rank: 0 };
}

function inSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

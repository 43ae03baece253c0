import type { Palette } from '../../output/color.ts';
import { formatDuration } from '../../util/duration.ts';
import { cleanLine, pad, truncate, width } from '../../util/text.ts';
import {
  every,
  type Print,
  type Progress,
  type ProgressContext,
  type ProgressSource,
  timeLeft,
  type Waiting,
} from './progress.ts';
import { asLines, countNames, summaryLines } from './summary.ts';

const BAR_EVERY_MS = 125;

/** A bar on a terminal. It writes no escape sequences, so that nothing must be restored. */
export function barProgress(
  context: ProgressContext,
  print: Print,
  source: ProgressSource,
  colors: Palette,
): Progress {
  const startedAt = context.now();
  let wait: Waiting | undefined;
  let shown = '';
  const clear = async (): Promise<void> => {
    if (shown !== '') await print(wiped());
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
    const line = barText(source, columns, now - startedAt, wait && waitPart(wait, now));
    if (line === shown) return;
    const text = `\r${pad(line, width(shown))}`;
    shown = line;
    await print(text);
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
      void print(`${wiped()}${colors.warn('warning:')} ${cleanLine(text)}\n`);
    },
    async finish(summary) {
      await stop();
      await print(asLines(summaryLines(summary)));
    },
    stop,
  };
}

/** A part of the line. Where there is no room, the highest rank is left out first. */
interface Part {
  readonly text: string;
  readonly rank: number;
}

/** Ranks that every terminal shows: the time, and errors where there are any. */
const NEEDED = 1;
/** Widths of the bar, and how many more parts than the needed ones it leaves room for. */
const BARS = [
  { cells: 20, more: 1 },
  { cells: 10, more: 0 },
  { cells: 0, more: 0 },
] as const;

/** The line for a number of columns: share done and time left, then as many counts as fit. */
function barText(source: ProgressSource, columns: number, elapsed: number, wait: Part | undefined): string {
  const parts = partsOf(source, elapsed, wait);
  const ranks = parts.map(({ rank }) => rank).sort((a, b) => a - b);
  const needed = ranks.filter((rank) => rank <= NEEDED).length;
  let line = '';
  for (const { cells, more } of BARS) {
    const least = Math.max(1, Math.min(needed + more, parts.length));
    for (let count = parts.length; count >= least; count -= 1) {
      const last = ranks[count - 1] ?? -1;
      const shown = parts.filter(({ rank }) => rank <= last).map(({ text }) => text);
      line = [headOf(source, cells), ...shown].join(', ');
      if (width(line) <= columns) return line;
    }
  }
  return truncate(line, columns);
}

function headOf({ counts, total }: ProgressSource, cells: number): string {
  const { done } = counts();
  if (total === undefined) return `${done} rows`;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * cells);
  const bar = cells === 0 ? '' : `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}] `;
  return `${bar}${Math.floor(share * 100)}% ${done}/${total}`;
}

/** The ranks of the counts, in their order. */
const COUNT_RANKS = [2, 3, 4, 5, 6, 1] as const;

/** The parts in their order, each of another rank. */
function partsOf(source: ProgressSource, elapsed: number, wait: Part | undefined): Part[] {
  const rest = timeLeft(source, elapsed);
  const left = source.leftToday();
  const counts = countNames(source.counts()).flatMap(({ count, name, zero }, index) => {
    const rank = COUNT_RANKS[index] ?? 0;
    // A count of none matters least.
    return count === 0 && !zero ? [] : [{ text: `${count} ${name}`, rank: count === 0 ? rank + 10 : rank }];
  });
  return [
    ...(wait === undefined ? [] : [wait]),
    ...(rest === undefined || wait !== undefined ? [] : [{ text: `${inSeconds(rest)} left`, rank: 0 }]),
    ...counts,
    ...(left === undefined ? [] : [{ text: `${left} requests left today`, rank: 7 }]),
  ];
}

function waitPart({ until, why }: Waiting, now: number): Part {
  return { text: `waiting ${inSeconds(until - now)}: ${cleanLine(why)}`, rank: 0 };
}

function inSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

import { inWords } from '../api/duration.ts';
import type { Palette } from '../output/color.ts';
import { cleanLine, pad, truncate, width } from '../output/text.ts';
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
const BAR_WIDTH = 20;
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
    const line = truncate(
      barText(facts, now - startedAt, wait, now),
      Math.max(1, context.stderr.columns - 1),
    );
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
    ...(wait === undefined ? [] : [`waiting ${inSeconds(wait.until - now)}: ${cleanLine(wait.why)}`]),
    ...(rest === undefined || wait !== undefined ? [] : [`${inSeconds(rest)} left`]),
    `${ambiguous} ambiguous`,
    `${not_found} not found`,
    `${error} errors`,
    ...(left === undefined ? [] : [`${left} requests left today`]),
  ].join(', ');
}

function inSeconds(ms: number): string {
  return inWords(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

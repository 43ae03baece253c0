import type { Context, Output } from '../context.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const DELAY_MS = 100;
const FRAME_MS = 90;

export function clearLine({ columns }: Pick<Output, 'columns'>): string {
  return `\r${' '.repeat(columns - 1)}\r`;
}

export type UpdateLabel = (label: string | undefined) => Promise<void>;

/**
 * Shows a spinner on stderr while the work runs, after a delay of 100 ms, and clears the line at the end. The cursor
 * stays visible, so an interrupted run has nothing to restore.
 * @param label cleaned text that is shorter than the line
 * @param work receives a function that changes the label; undefined hides the spinner
 */
export async function withSpinner<T>(
  context: Pick<Context, 'stderr' | 'sleep'>,
  label: string,
  work: (update: UpdateLabel) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let current: string | undefined = label;
  const spinning = spin(context, () => current, stop.signal).catch(() => {});
  try {
    return await work(async (next) => {
      const isHidden = current === undefined;
      current = next;
      if (next === undefined && !isHidden) await context.stderr.write(clearLine(context.stderr));
    });
  } finally {
    stop.abort();
    await spinning;
  }
}

async function spin(
  { stderr, sleep }: Pick<Context, 'stderr' | 'sleep'>,
  labelNow: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  await sleep(DELAY_MS, signal);
  try {
    let shown = labelNow();
    for (let frame = 0; ; frame += 1) {
      const label = labelNow();
      const wipe = label === shown || shown === undefined ? '' : clearLine(stderr);
      shown = label;
      if (label !== undefined) await stderr.write(`${wipe}\r${FRAMES[frame % FRAMES.length]} ${label}`);
      await sleep(FRAME_MS, signal);
    }
  } finally {
    await stderr.write(clearLine(stderr));
  }
}

export function progressLabel(label: string, params: Readonly<Record<string, unknown>>): string {
  const { progress, total, message } = params;
  // The line is cut to the width of the terminal later.
  if (typeof message === 'string' && message.trim() !== '') return `${label}: ${message.slice(0, 500)}`;
  const percent = Math.floor((100 * Number(progress)) / Number(total));
  return percent >= 0 && percent <= 100 ? `${label} ${percent} %` : label;
}

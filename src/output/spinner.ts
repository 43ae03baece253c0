import type { Context, Output } from '../context.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const DELAY_MS = 100;
const FRAME_MS = 90;

/** What empties the line that the cursor is on, without an escape sequence. */
export function clearLine({ columns }: Pick<Output, 'columns'>): string {
  return `\r${' '.repeat(columns - 1)}\r`;
}

/**
 * Turns a spinner on stderr while the work lasts, from 100 ms on. Leaves the line as it found it; hides no cursor,
 * so that an interrupted run has nothing to restore.
 * @param label what is under way, already clean, and shorter than the line
 * @param work gets a function that shows another label
 */
export async function withSpinner<T>(
  context: Pick<Context, 'stderr' | 'sleep'>,
  label: string,
  work: (update: (label: string) => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let current = label;
  const spinning = spin(context, () => current, stop.signal).catch(() => {});
  try {
    return await work((next) => {
      current = next;
    });
  } finally {
    stop.abort();
    await spinning;
  }
}

async function spin(
  { stderr, sleep }: Pick<Context, 'stderr' | 'sleep'>,
  labelNow: () => string,
  signal: AbortSignal,
): Promise<void> {
  await sleep(DELAY_MS, signal);
  try {
    let shown = labelNow();
    for (let frame = 0; ; frame += 1) {
      const label = labelNow();
      const wipe = label === shown ? '' : clearLine(stderr);
      shown = label;
      await stderr.write(`${wipe}\r${FRAMES[frame % FRAMES.length]} ${label}`);
      await sleep(FRAME_MS, signal);
    }
  } finally {
    await stderr.write(clearLine(stderr));
  }
}

import type { Context, Output } from '../context.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const DELAY_MS = 100;
const FRAME_MS = 90;

/** What empties the line that the cursor is on, without an escape sequence. */
export function wipeLine({ columns }: Pick<Output, 'columns'>): string {
  return `\r${' '.repeat(columns - 1)}\r`;
}

/**
 * Turns a spinner on stderr while the work lasts, from 100 ms on. Leaves the line as it found it; hides no cursor,
 * so that an interrupted run has nothing to restore.
 * @param label what is under way, already clean, and shorter than the line
 */
export async function spinWhile<T>(
  context: Pick<Context, 'stderr' | 'sleep'>,
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const spinning = spin(context, label, stop.signal).catch(() => {});
  try {
    return await work();
  } finally {
    stop.abort();
    await spinning;
  }
}

async function spin(
  { stderr, sleep }: Pick<Context, 'stderr' | 'sleep'>,
  label: string,
  signal: AbortSignal,
): Promise<void> {
  await sleep(DELAY_MS, signal);
  try {
    for (let frame = 0; ; frame += 1) {
      await stderr.write(`\r${FRAMES[frame % FRAMES.length]} ${label}`);
      await sleep(FRAME_MS, signal);
    }
  } finally {
    await stderr.write(wipeLine(stderr));
  }
}

import { createInterface, type Interface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { AppError } from './errors.ts';
import { again } from './hint.ts';

export interface PromptStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Prompts for a secret without showing the input. @throws {AppError} `interrupted` on Ctrl-C */
export async function askSecret(message: string, { input, output, signal }: PromptStreams): Promise<string> {
  // In terminal mode, readline turns off the terminal's echo and prints the typed text itself: to an output that
  // discards it.
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: discarded, terminal: true, historySize: 0 });
  // Printed only now, because text that is typed before echo is off is visible.
  output.write(`${message} (not shown): `);
  try {
    return await answer(lines, signal);
  } finally {
    output.write('\n');
  }
}

const promptText = (message: string, placeholder: string | undefined): string => {
  if (message.endsWith('?')) return `${message} [${placeholder}] `;
  return `${message}${placeholder === undefined ? '' : `, such as ${placeholder}`}: `;
};

/** Prompts for a line. @throws {AppError} `interrupted` on Ctrl-C */
export async function askText(
  message: string,
  placeholder: string | undefined,
  { input, output, signal }: PromptStreams,
): Promise<string> {
  output.write(promptText(message, placeholder));
  try {
    return await answer(createInterface({ input, terminal: false }), signal);
  } catch (error) {
    // The user did not end the line.
    output.write('\n');
    throw error;
  }
}

async function answer(lines: Interface, signal: AbortSignal): Promise<string> {
  let stop = () => {};
  try {
    return await new Promise((resolve, reject) => {
      stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new AppError('interrupted', 'interrupted at the prompt')));
      lines.once('close', () =>
        reject(
          new AppError('usage', 'no input received', {
            hint: { text: 'try again', command: again() },
          }),
        ),
      );
    });
  } finally {
    signal.removeEventListener('abort', stop);
    lines.close();
  }
}

import { createInterface, type Interface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { AppError } from './errors.ts';

/** The streams of a prompt, and the signal that ends it. */
export interface PromptStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Asks for a secret, which is not shown. @throws {AppError} `interrupted` on Ctrl-C. */
export async function askSecret(message: string, { input, output, signal }: PromptStreams): Promise<string> {
  // As a terminal, it reads the keys without echo and draws the typed text into nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  // Only now, since what is typed before the echo is off can be seen.
  output.write(`${message} (not shown): `);
  try {
    return await answer(lines, signal);
  } finally {
    output.write('\n');
  }
}

/** Asks for a line. @throws {AppError} `interrupted` on Ctrl-C. */
export async function askText(
  message: string,
  placeholder: string | undefined,
  { input, output, signal }: PromptStreams,
): Promise<string> {
  output.write(`${message}${placeholder === undefined ? '' : `, such as ${placeholder}`}: `);
  try {
    return await answer(createInterface({ input, terminal: false }), signal);
  } catch (error) {
    // Nobody ended the line.
    output.write('\n');
    throw error;
  }
}

/** The next line. The terminal is left as it was found. */
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
          new AppError('usage', 'the prompt was closed without an answer', {
            hint: 'restaurant login prompts again',
          }),
        ),
      );
    });
  } finally {
    signal.removeEventListener('abort', stop);
    lines.close();
  }
}

import { createInterface, type Interface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import type { Keyboard } from './context.ts';
import { AppError, usage } from './errors.ts';
import { again } from './hint.ts';
import { untilAborted } from './util/async.ts';

interface PromptStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

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
  if (placeholder === undefined) return `${message}: `;
  return message.endsWith('?') ? `${message} [${placeholder}] ` : `${message}, such as ${placeholder}: `;
};

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

const KEY = /\x1b(?:\[[\d;]*[~A-Za-z]|O.)?|./gsu;
const NAMED_KEYS: Readonly<Record<string, string>> = {
  '\x03': 'ctrl-c',
  '\x04': 'ctrl-d',
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x1b': 'escape',
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
};

type RawInput = Readable & { setRawMode?: (raw: boolean) => void };

/** Reads keys without echo, until it is released. In the normal mode of the terminal, Ctrl-C is a signal. */
export class TerminalKeyboard implements Keyboard {
  readonly #input: RawInput;
  readonly #signal: AbortSignal;
  #typed: string[] = [];

  constructor({ input, signal }: PromptStreams) {
    this.#input = input;
    this.#signal = signal;
  }

  async listen(): Promise<void> {
    this.#input.setRawMode?.(true);
  }

  async next(): Promise<string | undefined> {
    if (this.#typed.length === 0) {
      await this.listen();
      try {
        const keys = (await readChunk(this.#input, this.#signal)).match(KEY) ?? [];
        this.#typed = keys.map((key) => NAMED_KEYS[key] ?? (key.startsWith('\x1b') ? 'other' : key));
      } finally {
        this.#input.pause();
      }
    }
    return this.#typed.shift();
  }

  release(): void {
    this.#input.setRawMode?.(false);
  }
}

/** Returns the next text that is typed; empty at the end. */
function readChunk(input: Readable, signal: AbortSignal): Promise<string> {
  const listening = new AbortController();
  return new Promise<string>((resolve, reject) => {
    const options = { signal: listening.signal };
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), options);
    const onData = (chunk: Buffer | string) => resolve(chunk.toString());
    const onEnd = () => resolve('');
    input.on('data', onData).on('end', onEnd).on('error', reject);
    listening.signal.addEventListener('abort', () =>
      input.off('data', onData).off('end', onEnd).off('error', reject),
    );
    input.resume();
  }).finally(() => listening.abort());
}

async function answer(lines: Interface, signal: AbortSignal): Promise<string> {
  const reply = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('SIGINT', () => reject(new AppError('interrupted', 'interrupted at the prompt')));
    lines.once('close', () => reject(usage('no input received', { text: 'try again', command: again() })));
  });
  try {
    return await untilAborted(reply, signal);
  } finally {
    lines.close();
  }
}

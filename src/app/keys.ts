import type { Keyboard } from '../context.ts';
import { failure } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { wrapItems } from '../util/text.ts';
import type { App } from './app.ts';

/** Prints lines for the person at the terminal, after the notes so far. */
export async function show({ context, notes, secrets }: App, lines: readonly string[]): Promise<void> {
  await notes.flush();
  await context.stderr.write(secrets.redact(lines.map((line) => `${line}\n`).join('')));
}

/** Single keys of a person, and lines that are repainted while they are typed. */
export class Keys {
  readonly #app: App;
  readonly #keyboard: Keyboard;
  readonly #afterInterrupt: Hint;
  /** Number of lines that a repaint replaces. */
  #painted = 0;

  /** @param afterInterrupt how to go on after Ctrl-C */
  constructor(app: App, afterInterrupt: Hint) {
    this.#app = app;
    this.#keyboard = app.context.prompt.keys();
    this.#afterInterrupt = afterInterrupt;
  }

  /**
   * Prints what the keys do, and waits for one of them. Until the next question, Ctrl-C is a signal, which ends what the key
   * has started. @returns undefined at the end of the input
   */
  async ask(text: string, isKey: (key: string) => boolean): Promise<string | undefined> {
    const { context, terminal } = this.#app;
    try {
      await this.#keyboard.listen();
      await show(this.#app, wrapItems(text, context.stderr.columns).map(terminal.palette('stderr').dim));
      for (;;) {
        const key = await this.next();
        if (key === undefined || isKey(key)) return key;
      }
    } finally {
      this.release();
    }
  }

  /** Waits for any key. The terminal keeps the mode of single keys. @throws {AppError} `interrupted` for Ctrl-C */
  async next(): Promise<string | undefined> {
    const key = await this.#keyboard.next();
    if (key === 'ctrl-c') throw failure('interrupted', 'interrupted at the prompt', this.#afterInterrupt);
    return key;
  }

  /** Replaces the lines that it painted last. The cursor stays at the end of the last one. */
  async paint(lines: readonly string[]): Promise<void> {
    const { context, notes, secrets } = this.#app;
    await notes.flush();
    const up = this.#painted > 1 ? `\x1b[${this.#painted - 1}A` : '';
    const wipe = this.#painted === 0 ? '' : `\r${up}\x1b[J`;
    this.#painted = lines.length;
    await this.#keyboard.listen();
    await context.stderr.write(wipe + secrets.redact(lines.join('\n')));
  }

  /** Gives the terminal back its normal mode. */
  release(): void {
    this.#keyboard.release();
  }
}

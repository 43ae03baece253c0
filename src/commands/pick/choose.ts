import type { App } from '../../app/app.ts';
import type { Keyboard } from '../../context.ts';
import { AppError, usage } from '../../errors.ts';
import { again, type Command } from '../../hint.ts';
import { glyphs } from '../../output/presentation.ts';
import { cleanLine, wrap } from '../../util/text.ts';
import {
  type Menu,
  menuLines,
  NOTHING,
  press,
  rowLines,
  rowsOf,
  type Screen,
  type Step,
  type Typed,
} from './menu.ts';
import type { Choice } from './rows.ts';

/** How a person chooses: with keys, while the screen is repainted, or by lines, which a screen reader can follow. */
export interface Chooser {
  /** @param search undefined if there is nothing to search. @returns undefined if the person leaves */
  choose(menu: Menu, search: (words: string) => Promise<void>): Promise<Choice | undefined>;
  /** Waits for a key. @param keys describes them */
  key(keys: string, isKey: (key: string) => boolean): Promise<string>;
  close(): void;
}

/** @throws {AppError} `usage` with a command that needs no terminal */
export function assertCanChoose(app: App, command: Command): void {
  if (app.terminal.canChoose) return;
  throw usage('pick works only at a terminal, without CI, --agent, --no-input, and TERM=dumb', { command });
}

export function openChooser(app: App): Chooser {
  const isList = app.settings.get('format') === 'list';
  return app.terminal.canRepaint && !isList ? new KeyChooser(app) : new LineChooser(app);
}

export const print = ({ context, secrets }: App, lines: readonly string[]): Promise<void> =>
  context.stderr.write(secrets.redact(lines.map((line) => `${line}\n`).join('')));

function screenOf({ context, terminal }: App): Screen {
  const { columns, rows = 24 } = context.stderr;
  return {
    // A full line would move the cursor to the next one.
    columns: Math.max(10, columns - 1),
    rows: Math.min(9, Math.max(2, rows - 8)),
    palette: terminal.palette('stderr'),
    ellipsis: glyphs(terminal.view).ellipsis,
  };
}

class KeyChooser implements Chooser {
  readonly #app: App;
  readonly #keyboard: Keyboard;
  /** Number of lines that a repaint replaces. */
  #painted = 0;

  constructor(app: App) {
    this.#app = app;
    this.#keyboard = app.context.prompt.keys();
  }

  async choose(menu: Menu, search: (words: string) => Promise<void>): Promise<Choice | undefined> {
    let typed: Typed = NOTHING;
    for (;;) {
      const step = await this.#step(menu, typed);
      if (step !== 'leave' && 'typed' in step) {
        typed = step.typed;
        continue;
      }
      await this.#paint([]);
      if (step === 'leave') return undefined;
      if ('choice' in step) return step.choice;
      this.#keyboard.release();
      await search(step.search);
      typed = NOTHING;
    }
  }

  async #step(menu: Menu, typed: Typed): Promise<Step> {
    const screen = screenOf(this.#app);
    await this.#paint(menuLines(menu, typed, screen));
    return press(menu, typed, await this.#next(), screen.rows);
  }

  async key(keys: string, isKey: (key: string) => boolean): Promise<string> {
    const { columns, palette } = screenOf(this.#app);
    await print(this.#app, wrap(keys, columns).map(palette.dim));
    for (;;) {
      const key = (await this.#next()) ?? 'q';
      if (isKey(key)) return key;
    }
  }

  async #next(): Promise<string | undefined> {
    const key = await this.#keyboard.next(true);
    if (key !== 'ctrl-c') return key;
    await this.#paint([]);
    throw new AppError('interrupted', 'interrupted at the prompt', {
      hint: { text: 'to choose again', command: again() },
    });
  }

  /** Replaces the lines that it painted last. */
  async #paint(lines: readonly string[]): Promise<void> {
    const { context, notes, secrets } = this.#app;
    await notes.flush();
    const up = this.#painted > 1 ? `\x1b[${this.#painted - 1}A` : '';
    const wipe = this.#painted === 0 ? '' : `\r${up}\x1b[J`;
    this.#painted = lines.length;
    await context.stderr.write(wipe + secrets.redact(lines.join('\n')));
  }

  close(): void {
    this.#keyboard.release();
  }
}

/** Rows that are read out at once. */
const MAX_READ = 20;

class LineChooser implements Chooser {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  async choose(menu: Menu, search: (words: string) => Promise<void>): Promise<Choice | undefined> {
    let filter = '';
    for (;;) {
      const shown = rowsOf(menu, filter);
      await this.#list(menu, shown.slice(0, MAX_READ), shown.length);
      const reply = await this.#ask(menu.canSearch);
      if (reply === '') return undefined;
      const choice = /^\d{1,4}$/.test(reply) ? shown[Number(reply) - 1] : undefined;
      if (choice !== undefined) return choice;
      const isFilter = reply.startsWith('/') || !menu.canSearch;
      filter = isFilter ? reply.replace(/^\//, '') : '';
      if (!isFilter) await search(reply);
    }
  }

  async #list(menu: Menu, shown: readonly Choice[], all: number): Promise<void> {
    const screen = screenOf(this.#app);
    const text = [menu.title, ...(menu.message === undefined ? [] : [menu.message])];
    const left = all - shown.length;
    await this.#app.notes.flush();
    await print(this.#app, [
      ...text.flatMap((each) => wrap(cleanLine(each), screen.columns)),
      ...rowLines(menu, shown, screen),
      ...(left > 0 ? [`and ${left} more`] : []),
    ]);
  }

  async #ask(canSearch: boolean): Promise<string> {
    const search = canSearch ? 'Number, name to search for, /words to filter' : 'Number, or words to filter';
    return (await this.#app.context.prompt.text(`${search}, or nothing to leave`)).trim();
  }

  async key(keys: string): Promise<string> {
    const reply = (await this.#app.context.prompt.text(keys)).trim().toLowerCase();
    return reply.slice(0, 1) || 'q';
  }

  close(): void {}
}

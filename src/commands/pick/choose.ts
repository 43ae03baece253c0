import type { App } from '../../app/app.ts';
import { Keys, show } from '../../app/keys.ts';
import { usage } from '../../errors.ts';
import { again, type Command } from '../../hint.ts';
import { glyphs } from '../../output/presentation.ts';
import { cleanLine, wrap, wrapItems } from '../../util/text.ts';
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
  readonly #keys: Keys;

  constructor(app: App) {
    this.#app = app;
    this.#keys = new Keys(app, { text: 'to choose again', command: again() });
  }

  async choose(menu: Menu, search: (words: string) => Promise<void>): Promise<Choice | undefined> {
    for (;;) {
      const step = await this.#type(menu);
      if (step === 'leave') return undefined;
      if ('choice' in step) return step.choice;
      await search(step.search);
    }
  }

  /** Repaints the menu with each key, until one does more than type. */
  async #type(menu: Menu): Promise<Exclude<Step, { typed: Typed }>> {
    const keys = this.#keys;
    let typed: Typed = NOTHING;
    try {
      for (;;) {
        const screen = screenOf(this.#app);
        await keys.paint(menuLines(menu, typed, screen));
        const step = press(menu, typed, await keys.next(), screen.rows);
        if (step === 'leave' || !('typed' in step)) return step;
        typed = step.typed;
      }
    } finally {
      await keys.paint([]);
      keys.release();
    }
  }

  async key(keys: string, isKey: (key: string) => boolean): Promise<string> {
    return (await this.#keys.ask(keys, isKey)) ?? 'q';
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
      const ways = menu.canSearch
        ? 'Number, name to search for, /words to filter'
        : 'Number, or words to filter';
      const reply = await this.#ask(`${ways}, or nothing to leave`);
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
    await show(this.#app, [
      ...text.flatMap((each) => wrap(cleanLine(each), screen.columns)),
      ...rowLines(menu, shown, screen),
      ...(left > 0 ? [`and ${left} more`] : []),
    ]);
  }

  async key(keys: string): Promise<string> {
    return (await this.#ask(keys)).toLowerCase().slice(0, 1) || 'q';
  }

  async #ask(question: string): Promise<string> {
    const { prompt, stderr } = this.#app.context;
    const lines = wrapItems(question, stderr.columns - 2);
    await show(this.#app, lines.slice(0, -1));
    return (await prompt.text(lines.at(-1) ?? '')).trim();
  }
}

import type { App } from '../../app/app.ts';
import { Keys, type ReadKey, show } from '../../app/keys.ts';
import { usage } from '../../errors.ts';
import type { Command } from '../../hint.ts';
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

/** How a person types: keys, while the screen is repainted, or lines, which a screen reader can follow. */
export interface Chooser {
  readonly ask: (menu: Menu, typed: Typed) => Promise<Step>;
  readonly readKey: ReadKey;
}

/** Lets a person choose from the menu, which searches change. @returns undefined if the person leaves */
export async function choose(
  { ask }: Chooser,
  menu: Menu,
  search: (words: string) => Promise<void>,
): Promise<Choice | undefined> {
  let typed = NOTHING;
  for (;;) {
    const step = await ask(menu, typed);
    if (step === 'leave') return undefined;
    if ('choice' in step) return step.choice;
    if ('search' in step) await search(step.search);
    typed = 'typed' in step ? step.typed : NOTHING;
  }
}

/** @throws {AppError} `usage` with a command that needs no terminal */
export function assertCanChoose(app: App, command: Command): void {
  if (app.terminal.canChoose) return;
  throw usage('pick works only at a terminal, without CI, --agent, --no-input, and TERM=dumb', { command });
}

export function openChooser(app: App): Chooser {
  const isList = app.settings.get('format') === 'list';
  return app.terminal.canRepaint && !isList ? keyChooser(app) : lineChooser(app);
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

function keyChooser(app: App): Chooser {
  const keys = new Keys(app);
  return {
    async ask(menu, typed) {
      let step: Step = 'leave';
      try {
        const screen = screenOf(app);
        await keys.paint(menuLines(menu, typed, screen));
        step = press(menu, typed, await keys.next(), screen.rows);
        return step;
      } finally {
        if (step === 'leave' || !('typed' in step)) {
          await keys.paint([]);
          keys.release();
        }
      }
    },
    readKey: keys.ask,
  };
}

/** Rows that are read out at once. */
const MAX_READ = 20;

function lineChooser(app: App): Chooser {
  const ask = async (question: string): Promise<string> => {
    const { prompt, stderr } = app.context;
    const lines = wrapItems(question, stderr.columns - 2);
    await show(app, lines.slice(0, -1));
    return (await prompt.text(lines.at(-1) ?? '')).trim();
  };
  return {
    async ask(menu, { text }) {
      const shown = rowsOf(menu, text);
      await show(app, listLines(menu, shown, screenOf(app)));
      const ways = menu.canSearch
        ? 'Number, name to search for, /words to filter'
        : 'Number, or words to filter';
      return stepOf(menu, shown, await ask(`${ways}, or nothing to leave`));
    },
    readKey: async (text) => (await ask(text)).toLowerCase().slice(0, 1) || 'q',
  };
}

function stepOf({ canSearch }: Menu, shown: readonly Choice[], line: string): Step {
  if (line === '') return 'leave';
  const choice = /^\d{1,4}$/.test(line) ? shown[Number(line) - 1] : undefined;
  if (choice !== undefined) return { choice };
  const isFilter = line.startsWith('/') || !canSearch;
  return isFilter ? { typed: { ...NOTHING, text: line.replace(/^\//, '') } } : { search: line };
}

function listLines(menu: Menu, all: readonly Choice[], screen: Screen): string[] {
  const left = all.length - MAX_READ;
  return [
    ...[menu.title, menu.message ?? []].flat().flatMap((each) => wrap(cleanLine(each), screen.columns)),
    ...rowLines(menu, all.slice(0, MAX_READ), screen),
    ...(left > 0 ? [`and ${left} more`] : []),
  ];
}

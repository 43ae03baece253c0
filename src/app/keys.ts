import type { Keyboard } from '../context.ts';
import { AppError, failure } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { cleanLine, pad, truncate, width, wrapItems } from '../util/text.ts';
import type { App } from './app.ts';

/** An action of keys, and its text in the line of keys, such as `q quit`. */
export interface KeyAction<Result> {
  readonly keys: readonly string[];
  readonly text?: string;
  readonly act: () => Result | Promise<Result>;
}

/** Asks for a key. @returns undefined at the end of the input */
export type ReadKey = (text: string, isKey: (key: string) => boolean) => Promise<string | undefined>;

/** Does what a person chooses: at the end of the input, what `ctrl-d` does. */
export async function chooseAction<Result>(
  actions: readonly KeyAction<Result>[],
  read: ReadKey,
): Promise<Result> {
  const text = actions.flatMap((each) => each.text ?? []).join(', ');
  const actionOf = (key: string) => actions.find(({ keys }) => keys.includes(key));
  for (;;) {
    const key = (await read(text, (each) => actionOf(each) !== undefined)) ?? 'ctrl-d';
    const action = actionOf(key);
    if (action !== undefined) return action.act();
  }
}

interface NumberedRow {
  readonly mark: string;
  readonly name: string;
  readonly facts: readonly string[];
}

/** The rows with their numbers, from 1. The longest fact is shortened, so that the others are not cut off. */
export function numberedLines(rows: readonly NumberedRow[], columns: number, ellipsis: string): string[] {
  const names = rows.map(({ name }) => cleanLine(name));
  const room = Math.min(Math.max(0, ...names.map(width)), Math.floor(columns / 2));
  const digits = String(rows.length).length;
  return rows.map(({ mark, facts }, index) => {
    const name = pad(truncate(names[index] ?? '', room, ellipsis), room);
    const start = `${mark} ${String(index + 1).padStart(digits)} ${name}  `;
    const line = start + fitted(facts, columns - width(start), ellipsis);
    return truncate(line.trimEnd(), columns, ellipsis);
  });
}

const MIN_FACT = 8;

function fitted(facts: readonly string[], room: number, ellipsis: string): string {
  const over = width(facts.join(', ')) - room;
  const widths = facts.map(width);
  const longest = Math.max(0, ...widths);
  const at = widths.indexOf(longest);
  return facts
    .map((fact, index) =>
      index === at && over > 0 ? truncate(fact, Math.max(MIN_FACT, longest - over), ellipsis) : fact,
    )
    .join(', ');
}

/** Prints lines for the person at the terminal, after the notes so far. */
export async function show({ context, notes, secrets }: App, lines: readonly string[]): Promise<void> {
  await notes.flush();
  await context.stderr.write(secrets.redact(lines.map((line) => `${line}\n`).join('')));
}

/** Does work that a person may interrupt, at a question or between two. @param hint how to continue after that */
export async function interruptible<T>(work: () => Promise<T>, hint: Hint): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AppError && error.kind === 'interrupted' ? error.add({ hint }) : error;
  }
}

/** Single keys of a person, and lines that are repainted while they are typed. */
export class Keys {
  readonly #app: App;
  readonly #keyboard: Keyboard;
  /** Number of lines that a repaint replaces. */
  #painted = 0;

  constructor(app: App) {
    this.#app = app;
    this.#keyboard = app.context.prompt.keys();
  }

  /**
   * Prints what the keys do, and waits for one of them. Until the next question, Ctrl-C is a signal, which ends what the key
   * has started.
   */
  readonly ask: ReadKey = async (text, isKey) => {
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
  };

  /** Waits for any key. The terminal keeps the mode of single keys. @throws {AppError} `interrupted` for Ctrl-C */
  async next(): Promise<string | undefined> {
    const key = await this.#keyboard.next();
    if (key === 'ctrl-c') throw failure('interrupted', 'interrupted at the prompt');
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

  release(): void {
    this.#keyboard.release();
  }
}

import type { Context, OutputStream } from '../context.ts';
import type { Message } from '../hint.ts';
import type { Palette } from '../output/style.ts';
import type { GlobalOptions } from '../settings/catalog.ts';
import type { Terminal } from './terminal.ts';

/** Loaded on demand: its Unicode patterns take tens of milliseconds to compile. */
const loadText = () => import('../util/text.ts');

interface NotesOptions {
  readonly context: Pick<Context, 'stderr' | 'sleep'>;
  readonly terminal: Terminal;
  readonly options: () => GlobalOptions;
  readonly redact: (text: string) => string;
  readonly format: (message: Exclude<Message, string>) => Promise<string>;
}

/** How a person sees it; a line is the message alone. */
type Form = 'warning' | 'note' | 'line';

/** For results that may surprise. Codes are part of the public interface. */
const WARNINGS = {
  partial_results: { atTerminal: 'note', inPipe: 'warning' },
  no_such_column: { atTerminal: 'warning', inPipe: 'warning' },
  no_match: { atTerminal: 'note', inPipe: 'line' },
  no_details: { atTerminal: 'note', inPipe: 'warning' },
  sample_data: { atTerminal: 'warning', inPipe: 'warning' },
  tool_name: { atTerminal: 'note', inPipe: 'warning' },
} satisfies Readonly<Record<string, Readonly<Record<'atTerminal' | 'inPipe', Form>>>>;

interface Warning {
  readonly code: keyof typeof WARNINGS;
  readonly message: string;
  readonly hint?: Message | undefined;
}

const asciiMarks = (text: string): string => text.replaceAll('·', '-').replaceAll('…', '...');

export class Notes {
  readonly #run: NotesOptions;
  readonly #warnings = new Set<string>();
  #spinner: Spinner | undefined;
  #printed: Promise<void> = Promise.resolve();

  constructor(run: NotesOptions) {
    this.#run = run;
  }

  async note(message: Message, wraps = true): Promise<void> {
    if (!this.#run.terminal.isInteractive) return;
    await this.#inOrder(async () =>
      this.#print('', await this.#textOf(message), ({ dim }, line) => dim(line), wraps),
    );
  }

  /** Hidden with --quiet and, unless `withJson`, with JSON output. */
  async warn(message: Message, withJson = false): Promise<void> {
    const { terminal, options } = this.#run;
    const isWanted = options().quiet !== true && (withJson || !terminal.wantsJson);
    if (terminal.verbose || isWanted) await this.#printWarning(message);
  }

  /** For a program one line of JSON; for a person as the code says. */
  async report({ code, message, hint }: Warning): Promise<void> {
    const { context, terminal, options } = this.#run;
    if (options().quiet === true) return;
    const advice = hint === undefined ? undefined : await this.#textOf(hint);
    if (terminal.wantsJsonWarnings) return this.#printJson({ code, message, hint: advice });
    if (terminal.wantsJson && !terminal.verbose) return;
    const text = advice === undefined ? message : `${message}: ${advice}`;
    switch (WARNINGS[code][context.stderr.isTTY ? 'atTerminal' : 'inPipe']) {
      case 'warning':
        return this.#printWarning(text);
      case 'note':
        return this.note(text);
      case 'line':
        return this.#inOrder(() => this.#print('', message, (_, line) => line));
    }
  }

  async remark(message: Message, cause?: string): Promise<void> {
    const { terminal } = this.#run;
    if (terminal.isInteractive || terminal.verbose) await this.#printWarning(message, cause);
  }

  async trace(text: string): Promise<void> {
    if (!this.#run.terminal.verbose) return;
    await this.#inOrder(async () => {
      const { clean } = await loadText();
      await this.#write(({ dim }) => dim(clean(text)));
    });
  }

  flush(): Promise<void> {
    return this.#printed;
  }

  /** Shows a spinner until the work is done, if stderr can show one. */
  async withSpinner<T>(label: string, work: Promise<T>): Promise<T> {
    const { context, terminal, redact } = this.#run;
    if (!terminal.canRepaint) return work;
    // A failure before the spinner is shown is reported below.
    work.catch(() => {});
    const { dim } = terminal.palette('stderr');
    const { cleanLine, truncate } = await loadText();
    const room = Math.max(1, context.stderr.columns - 4);
    const spinner = new Spinner(context, label, (text) => dim(truncate(redact(cleanLine(text)), room)));
    this.#spinner = spinner;
    try {
      return await work;
    } finally {
      await spinner.end();
      this.#spinner = undefined;
    }
  }

  /** Changes the label of the spinner, if one is shown. */
  updateSpinner(label: string): void {
    this.#spinner?.update(label);
  }

  #printWarning(message: Message, cause?: string): Promise<void> {
    return this.#inOrder(async () => {
      const text = await this.#textOf(message);
      if (this.#warnings.has(cause ?? text)) return;
      this.#warnings.add(cause ?? text);
      const label = 'warning:';
      await this.#print(`${label} `, text, ({ warn }, line) => line.replace(label, () => warn(label)));
    });
  }

  #printJson({
    code,
    message,
    hint,
  }: Omit<Warning, 'hint'> & { readonly hint: string | undefined }): Promise<void> {
    const { redact } = this.#run;
    const fields = { code, message: redact(message), hint: hint === undefined ? undefined : redact(hint) };
    return this.#inOrder(async () => {
      const { toJson } = await import('../util/json.ts');
      await this.#write(() => toJson({ warning: fields }, false));
    });
  }

  async #textOf(message: Message): Promise<string> {
    return typeof message === 'string' ? message : this.#run.format(message);
  }

  async #print(
    label: string,
    text: string,
    style: (colors: Palette, line: string) => string,
    wraps = true,
  ): Promise<void> {
    const { context, redact } = this.#run;
    const { cleanLine, width, wrap } = await loadText();
    const line = label + redact(cleanLine(this.#run.terminal.unicode ? text : asciiMarks(text)));
    const { isTTY, columns } = context.stderr;
    const lines = wraps && isTTY && width(line) > columns ? wrap(line, columns) : [line];
    await this.#write((colors) => lines.map((each) => style(colors, each)).join('\n'));
  }

  async #write(format: (colors: Palette) => string): Promise<void> {
    const { context, terminal, redact } = this.#run;
    const wipe = this.#spinner === undefined ? '' : clearLine(context.stderr);
    const text = redact(format(terminal.palette('stderr')));
    // A closed stderr must not end a run whose stdout still works.
    await context.stderr.write(`${wipe}${text}\n`).catch(() => {});
  }

  /** Prints in the order of the calls, even if the caller does not await them. */
  #inOrder(print: () => Promise<void>): Promise<void> {
    const printed = this.#printed.then(print);
    this.#printed = printed.catch(() => {});
    return printed;
  }
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const DELAY_MS = 100;
const FRAME_MS = 90;

const clearLine = ({ columns }: Pick<OutputStream, 'columns'>): string => `\r${' '.repeat(columns - 1)}\r`;

/**
 * A spinner on stderr, shown after a delay of 100 ms. The cursor stays visible, so an interrupted run has nothing to
 * restore.
 */
class Spinner {
  readonly #context: NotesOptions['context'];
  readonly #stop = new AbortController();
  readonly #spinning: Promise<void>;
  readonly #format: (label: string) => string;
  #label: string;

  /** @param format cleans a label, and makes it shorter than the line */
  constructor(context: NotesOptions['context'], label: string, format: (label: string) => string) {
    this.#context = context;
    this.#format = format;
    this.#label = format(label);
    this.#spinning = this.#spin().catch(() => {});
  }

  update(label: string): void {
    this.#label = this.#format(label);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#spinning;
  }

  async #spin(): Promise<void> {
    const { stderr, sleep } = this.#context;
    const { signal } = this.#stop;
    await sleep(DELAY_MS, signal);
    try {
      let shown = this.#label;
      for (let frame = 0; ; frame += 1) {
        const label = this.#label;
        const wipe = label === shown ? '' : clearLine(stderr);
        shown = label;
        await stderr.write(`${wipe}\r${FRAMES[frame % FRAMES.length]} ${label}`);
        await sleep(FRAME_MS, signal);
      }
    } finally {
      await stderr.write(clearLine(stderr));
    }
  }
}

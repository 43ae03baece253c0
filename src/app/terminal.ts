import type { Context } from '../context.ts';
import { isColored, type Palette, palette, showsLinks, type View } from '../output/style.ts';
import type { GlobalOptions } from '../settings/catalog.ts';
import { variable } from '../settings/settings.ts';

type StreamName = 'stdout' | 'stderr';

export class Terminal {
  readonly #context: Context;
  readonly #options: () => GlobalOptions;
  readonly #setting: (name: 'format' | 'spinner') => string | null;

  constructor(
    context: Context,
    options: () => GlobalOptions,
    setting: (name: 'format' | 'spinner') => string | null,
  ) {
    this.#context = context;
    this.#options = options;
    this.#setting = setting;
  }

  get wantsJson(): boolean {
    return this.#options().agent === true || this.#setting('format') === 'json';
  }

  get wantsJsonErrors(): boolean {
    return this.wantsJson || this.wantsJsonWarnings;
  }

  /** Whether a program reads stderr: an agent, or one that says so. */
  get wantsJsonWarnings(): boolean {
    const { env, stdout } = this.#context;
    const isSet = variable(env, 'RESTAURANT_ERRORS') === 'json' && !stdout.isTTY;
    return isSet || this.#options().agent === true;
  }

  get isInteractive(): boolean {
    return this.#context.stderr.isTTY && this.#options().quiet !== true && !this.wantsJson;
  }

  get canRepaint(): boolean {
    const isCapable = this.unicode && this.#context.env.TERM !== 'dumb';
    return (
      isCapable && this.isInteractive && !this.inCi && !this.verbose && this.#setting('spinner') !== 'off'
    );
  }

  get verbose(): boolean {
    const { verbose, quiet } = this.#options();
    return verbose === true || (quiet !== true && variable(this.#context.env, 'RESTAURANT_DEBUG') === '1');
  }

  get canPrompt(): boolean {
    const { stdin, stderr } = this.#context;
    return stdin.isTTY && stderr.isTTY && this.isAttended;
  }

  get canChoose(): boolean {
    return this.canPrompt && this.#context.env.TERM !== 'dumb';
  }

  get isAttended(): boolean {
    return this.#options().input && !this.inCi;
  }

  get inCi(): boolean {
    const ci = variable(this.#context.env, 'CI');
    return ci !== undefined && ci !== 'false' && ci !== '0';
  }

  get unicode(): boolean {
    const { env, platform } = this.#context;
    const locale = variable(env, 'LC_ALL') ?? variable(env, 'LC_CTYPE') ?? variable(env, 'LANG') ?? '';
    return platform !== 'linux' || /utf-?8/i.test(locale);
  }

  palette(stream: StreamName): Palette {
    const isTTY = this.#isTerminal(stream);
    return palette(isColored({ flag: this.#options().color, env: this.#context.env, isTTY }) ? 1 : 0);
  }

  get view(): View {
    const { stdout, env } = this.#context;
    const isTTY = this.#isTerminal('stdout');
    return {
      width: isTTY ? stdout.columns : 80,
      palette: this.palette('stdout'),
      unicode: this.unicode,
      links: showsLinks({ flag: this.#options().color, env, isTTY }),
    };
  }

  /** The view of settings and paths. In a pipe, each is one line, for programs such as grep. */
  get settingsView(): View {
    return this.#isTerminal('stdout') ? this.view : { ...this.view, width: Number.POSITIVE_INFINITY };
  }

  get helpWidth(): number {
    return this.#context.stdout.isTTY ? this.#context.stdout.columns : 80;
  }

  #isTerminal(stream: StreamName): boolean {
    const { output = '-' } = this.#options();
    return this.#context[stream].isTTY && (stream === 'stderr' || output === '-');
  }
}

import { redactor } from '../api/key.ts';
import { type Paths, resolvePaths } from '../config/paths.ts';
import { type ConfigFile, configPath, readConfig } from '../config/read.ts';
import { openSettings, type Settings, variable } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { colorLevel, type Palette, palette } from '../output/color.ts';
import { spinWhile } from '../output/spinner.ts';
import { cleanLine } from '../output/text.ts';
import type { View } from '../output/view.ts';
import type { CliCommand } from '../tree/command.ts';
import { flagTexts, type GlobalOptions } from '../tree/options.ts';

/** What the commands of one run share. Everything is looked up when it is first asked for. */
export class App {
  readonly context: Context;
  /** Exit code of a run that did not throw; a list of which some rows failed makes it 8. */
  exitCode = 0;
  #program: CliCommand | undefined;
  #settings: Settings | undefined;
  #config: { file: ConfigFile; problem?: unknown } | undefined;
  #paths: Paths | undefined;
  #collected = '';
  #keys = new Set<string>();
  #closers: (() => Promise<void>)[] = [];

  constructor(context: Context) {
    this.context = context;
  }

  /** Names the tree that reads the options. */
  attach(program: CliCommand): void {
    this.#program = program;
  }

  get globals(): GlobalOptions {
    return this.#program?.opts<GlobalOptions>() ?? { color: true, input: true };
  }

  get paths(): Paths {
    this.#paths ??= resolvePaths(this.context);
    return this.#paths;
  }

  /** Settings of this run. A damaged config file counts as empty here; {@link config} tells it. */
  get settings(): Settings {
    this.#settings ??= openSettings({
      flags: flagTexts(this.globals),
      env: this.context.env,
      file: this.#readConfig().file,
    });
    return this.#settings;
  }

  /** The config file's content. @throws {AppError} `bad_config` where it is damaged */
  config(): ConfigFile {
    const { file, problem } = this.#readConfig();
    if (problem !== undefined) throw problem;
    return file;
  }

  /** Folder of the config file. @throws {AppError} `bad_config` where no home folder is known */
  get configDir(): string {
    if (this.paths.configDir !== undefined) return this.paths.configDir;
    throw new AppError('bad_config', 'there is no place for the config file: HOME is not set', {
      hint: 'set HOME, or RESTAURANT_CONFIG_DIR=<folder>; a key may also stand in RESTAURANT_API_KEY',
    });
  }

  #readConfig(): { file: ConfigFile; problem?: unknown } {
    if (this.#config === undefined) {
      const { configDir } = this.paths;
      try {
        this.#config = {
          file:
            configDir === undefined ? {} : readConfig(configPath(configDir), (text) => void this.warn(text)),
        };
      } catch (problem) {
        this.#config = { file: {}, problem };
      }
    }
    return this.#config;
  }

  get #wantsJson(): boolean {
    const { format, json } = this.globals;
    return json === true || format === 'json' || variable(this.context.env, 'RESTAURANT_FORMAT') === 'json';
  }

  /** True where a person reads along: stderr is a terminal, and neither --quiet nor JSON was asked for. */
  get chatty(): boolean {
    return this.context.stderr.isTTY && this.globals.quiet !== true && !this.#wantsJson;
  }

  get verbose(): boolean {
    return this.globals.verbose === true || variable(this.context.env, 'RESTAURANT_DEBUG') === '1';
  }

  /** Whether a question may be asked: at a terminal, unless --no-input or CI forbids it. */
  get mayAsk(): boolean {
    const { stdin, stderr } = this.context;
    return stdin.isTTY && stderr.isTTY && this.globals.input && !this.#inCi;
  }

  get #inCi(): boolean {
    const ci = variable(this.context.env, 'CI');
    return ci !== undefined && ci !== 'false' && ci !== '0';
  }

  paletteFor(stream: 'stdout' | 'stderr'): Palette {
    const { color } = this.globals;
    return palette(colorLevel({ flag: color, env: this.context.env, isTTY: this.context[stream].isTTY }));
  }

  /** How stdout is drawn on. */
  get view(): View {
    const { stdout, env, platform } = this.context;
    const locale = variable(env, 'LC_ALL') ?? variable(env, 'LC_CTYPE') ?? variable(env, 'LANG') ?? '';
    const unicode = platform !== 'linux' || /utf-?8/i.test(locale);
    return { width: stdout.isTTY ? stdout.columns : 80, palette: this.paletteFor('stdout'), unicode };
  }

  get helpWidth(): number {
    return this.context.stdout.isTTY ? this.context.stdout.columns : 80;
  }

  /** One line on stderr for a person who reads along. */
  async note(text: string): Promise<void> {
    if (this.chatty) await this.#say(this.paletteFor('stderr').dim(cleanLine(text)));
  }

  /** One line on stderr that matters also where no person reads along; --quiet and JSON leave it out. */
  async warn(text: string): Promise<void> {
    if (this.globals.quiet === true || this.#wantsJson) return;
    await this.#say(`${this.paletteFor('stderr').warn('warning:')} ${cleanLine(text)}`);
  }

  /** A line of the exchange, with --verbose. */
  async trace(text: string): Promise<void> {
    if (this.verbose) await this.#say(this.paletteFor('stderr').dim(text));
  }

  async #say(line: string): Promise<void> {
    // A stderr that is gone must not end a run whose stdout is well.
    await this.context.stderr.write(`${this.redact(line)}\n`).catch(() => {});
  }

  /** Shows on a terminal that something is under way, while it is. */
  async busy<T>(label: string, work: () => Promise<T>): Promise<T> {
    if (!this.chatty || this.#inCi || this.verbose) return work();
    return spinWhile(this.context, this.paletteFor('stderr').dim(cleanLine(label)), work);
  }

  /** Names a key, so that it is never shown. */
  guard(key: string): void {
    if (key !== '') this.#keys.add(key);
  }

  /** The text without any key that this run knows, or that looks like one. */
  redact(text: string): string {
    const known = [variable(this.context.env, 'RESTAURANT_API_KEY')?.trim(), ...this.#keys];
    return [undefined, ...known].reduce<string>((sofar, key) => redactor(key)(sofar), text);
  }

  /** Runs before the end, last registered first. */
  onClose(work: () => Promise<void>): void {
    this.#closers.push(work);
  }

  async close(): Promise<void> {
    for (const work of this.#closers.splice(0).reverse()) await work().catch(() => {});
  }

  /** Takes what commander prints; {@link collected} gives it back. */
  collect(text: string): void {
    this.#collected += text;
  }

  collected(): string {
    return this.#collected;
  }
}

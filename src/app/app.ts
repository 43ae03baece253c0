import { DEFAULT_KEY_PREFIX, keyMasker, redactor } from '../client/key.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Message, TypedLine } from '../hint.ts';
import { isColored, type Palette, palette } from '../output/color.ts';
import { showsLinks } from '../output/link.ts';
import type { View } from '../output/presentation.ts';
import { clearLine, withSpinner } from '../output/spinner.ts';
import { type GlobalOptions, settingFlags } from '../settings/catalog.ts';
import { Settings, variable } from '../settings/settings.ts';
import type { SharedState } from '../shared-state/shared-state.ts';
import { type ConfigFile, readConfig, updateConfig } from '../storage/config-file.ts';
import { type Paths, resolvePaths } from '../storage/paths.ts';

/** Minimum length of a secret. A shorter one would be masked inside ordinary words. */
const MIN_SECRET = 8;

type Change = (text: string) => string;

/** The command line of this run, as far as it was parsed. */
export interface CommandLine {
  readonly line: TypedLine;
  /** All words, unparsed. */
  readonly words: readonly string[];
  opts(): GlobalOptions;
  /** Returns the long name of an option. */
  longName(flag: string): string;
}

/** Loaded on demand: its Unicode patterns take tens of milliseconds to compile. */
const loadText = () => import('../util/text.ts');

/**
 * The state that the commands of one run share: context, options, settings, secrets, messages on stderr, and cleanup.
 * Everything is resolved on first use.
 */
export class App {
  readonly context: Context;
  program: CommandLine | undefined;
  /** The key that the key command printed in this run. */
  commandKey: string | undefined;
  /** Exit code of a run that did not throw: 8 if some rows or ids failed. */
  exitCode = 0;
  #settings: Settings | undefined;
  #config: { file: ConfigFile; problem?: unknown } | undefined;
  #paths: Paths | undefined;
  /** Functions that mask the keys of this run, and functions that mask text that looks like a key. */
  readonly #maskers = new Map<string, Change>();
  #redactors: readonly Change[] | undefined;
  readonly #warnings = new Set<string>();
  #isSpinning = false;
  #printed: Promise<void> = Promise.resolve();
  #closers: (() => Promise<void>)[] = [];
  #sharedState: Promise<SharedState> | undefined;

  constructor(context: Context) {
    this.context = context;
    this.registerSecret(this.environmentKey?.trim() ?? '');
  }

  /** The API key of the environment, which overrides all others. */
  get environmentKey(): string | undefined {
    return variable(this.context.env, 'RESTAURANT_API_KEY');
  }

  get globals(): GlobalOptions {
    return this.program?.opts() ?? { color: true, input: true, pager: true };
  }

  get paths(): Paths {
    this.#paths ??= resolvePaths(this.context);
    return this.#paths;
  }

  /** Settings of this run. A damaged config file counts as empty here; {@link config} reports it. */
  get settings(): Settings {
    if (this.#settings === undefined) {
      const { file } = this.#readConfig();
      this.#settings = new Settings({ flags: settingFlags(this.globals), env: this.context.env, file });
      this.registerSecret(this.#settings.profile.key?.trim() ?? '');
    }
    return this.#settings;
  }

  /** The config file's content. @throws {AppError} `bad_config` if it is damaged */
  config(): ConfigFile {
    const { file, problem } = this.#readConfig();
    if (problem !== undefined) throw problem;
    return file;
  }

  get isConfigDamaged(): boolean {
    return this.#readConfig().problem !== undefined;
  }

  /** Warns that a damaged config file is ignored, in a run that does not need it. */
  warnOfIgnoredConfig(): void {
    const { problem } = this.#readConfig();
    if (problem instanceof AppError) void this.warn(`${problem.message}; its settings are ignored`);
  }

  /** Changes the config file. @throws {AppError} `bad_config`, `io_error`, `in_use` */
  async updateConfig(change: (file: ConfigFile) => void): Promise<void> {
    await updateConfig(this.configFile, change);
  }

  /** Path of the config file. @throws {AppError} `bad_config` if no home folder is known */
  get configFile(): string {
    if (this.paths.configFile !== undefined) return this.paths.configFile;
    throw new AppError('bad_config', 'no folder for the config file: HOME is not set', {
      hint: {
        text: 'set HOME, or RESTAURANT_CONFIG_DIR=<folder>; the key can also be set in RESTAURANT_API_KEY',
      },
    });
  }

  #readConfig(): { file: ConfigFile; problem?: unknown } {
    if (this.#config === undefined) {
      const { configFile } = this.paths;
      // Collected first, because the config determines whether warnings are shown.
      const warnings: Message[] = [];
      try {
        const file = configFile === undefined ? {} : readConfig(configFile, (text) => warnings.push(text));
        this.#config = { file };
      } catch (problem) {
        this.#config = { file: {}, problem };
      }
      for (const text of warnings) void this.warn(text);
    }
    return this.#config;
  }

  /** Whether the output is JSON, by flag, variable or config file. */
  get wantsJson(): boolean {
    return this.settings.raw('format').value === 'json';
  }

  /** Whether notes are wanted: stderr is a terminal, and neither --quiet nor JSON output is set. */
  get isInteractive(): boolean {
    return this.context.stderr.isTTY && this.globals.quiet !== true && !this.wantsJson;
  }

  get verbose(): boolean {
    const { verbose, quiet } = this.globals;
    return verbose === true || (quiet !== true && variable(this.context.env, 'RESTAURANT_DEBUG') === '1');
  }

  /** Whether a prompt is possible: at a terminal, unless --no-input or CI forbids it. */
  get canPrompt(): boolean {
    const { stdin, stderr } = this.context;
    return stdin.isTTY && stderr.isTTY && this.globals.input && !this.inCi;
  }

  /** Whether a browser may be started: unless --no-input or CI forbids it. */
  get canOpenBrowser(): boolean {
    return this.globals.input && !this.inCi;
  }

  /** Whether the run is part of continuous integration. */
  get inCi(): boolean {
    const ci = variable(this.context.env, 'CI');
    return ci !== undefined && ci !== 'false' && ci !== '0';
  }

  paletteFor(stream: 'stdout' | 'stderr'): Palette {
    const { env } = this.context;
    return palette(isColored({ flag: this.globals.color, env, isTTY: this.#isTerminal(stream) }) ? 1 : 0);
  }

  /** Whether a stream is a terminal and `--output` does not redirect it to a file. */
  #isTerminal(stream: 'stdout' | 'stderr'): boolean {
    const { output = '-' } = this.globals;
    return this.context[stream].isTTY && (stream === 'stderr' || output === '-');
  }

  /** The width, colors and characters for text on stdout. */
  get view(): View {
    const { stdout, env, platform } = this.context;
    const locale = variable(env, 'LC_ALL') ?? variable(env, 'LC_CTYPE') ?? variable(env, 'LANG') ?? '';
    const isTTY = this.#isTerminal('stdout');
    return {
      width: isTTY ? stdout.columns : 80,
      palette: this.paletteFor('stdout'),
      unicode: platform !== 'linux' || /utf-?8/i.test(locale),
      links: showsLinks({ flag: this.globals.color, env, isTTY }),
    };
  }

  get helpWidth(): number {
    return this.context.stdout.isTTY ? this.context.stdout.columns : 80;
  }

  /** Prints a note: one line on stderr, if {@link isInteractive}. */
  async note(message: Message): Promise<void> {
    if (!this.isInteractive) return;
    const text = await this.#textOf(message);
    await this.#print(({ cleanLine }, { dim }) => dim(cleanLine(text)));
  }

  /**
   * Prints a warning on stderr, except with --quiet or JSON output.
   * @param withJson print it with JSON output, too
   */
  async warn(message: Message, withJson = false): Promise<void> {
    const isWanted = this.globals.quiet !== true && (withJson || !this.wantsJson);
    if (this.verbose || isWanted) await this.#printWarning(message);
  }

  /** Prints a warning about a problem that the program handles itself, if {@link isInteractive}. */
  async remark(message: Message): Promise<void> {
    if (this.isInteractive || this.verbose) await this.#printWarning(message);
  }

  /** Prints lines of the request and response, with --verbose. */
  async trace(text: string): Promise<void> {
    if (this.verbose) await this.#print(({ clean }, { dim }) => dim(clean(text)));
  }

  /** Prints a warning, once per run. */
  async #printWarning(message: Message): Promise<void> {
    const text = await this.#textOf(message);
    if (this.#warnings.has(text)) return;
    this.#warnings.add(text);
    await this.#print(({ cleanLine }, { warn }) => `${warn('warning:')} ${cleanLine(text)}`);
  }

  async #textOf(message: Message): Promise<string> {
    return typeof message === 'string' ? message : (await import('./hints.ts')).hintOf(this, message);
  }

  /** Prints on stderr in the order of the calls, even if the caller does not await them. */
  #print(format: (text: Awaited<ReturnType<typeof loadText>>, palette: Palette) => string): Promise<void> {
    this.#printed = this.#printed.then(async () => {
      const line = format(await loadText(), this.paletteFor('stderr'));
      const wipe = this.#isSpinning ? clearLine(this.context.stderr) : '';
      // A closed stderr must not end a run whose stdout still works.
      await this.context.stderr.write(`${wipe}${this.redact(line)}\n`).catch(() => {});
    });
    return this.#printed;
  }

  /** Resolves when all notes and warnings are printed. */
  flushNotes(): Promise<void> {
    return this.#printed;
  }

  /**
   * Shows a spinner on a terminal while the work runs.
   * @param work receives a function that changes the label, when a label is shown
   */
  async withSpinner<T>(label: string, work: (update?: (label: string) => void) => Promise<T>): Promise<T> {
    const { stderr, env } = this.context;
    if (!this.isInteractive || this.inCi || this.verbose || env.TERM === 'dumb') return work();
    const { dim } = this.paletteFor('stderr');
    const { cleanLine, truncate } = await loadText();
    const shown = (text: string): string =>
      dim(truncate(this.redact(cleanLine(text)), Math.max(1, stderr.columns - 4)));
    this.#isSpinning = true;
    try {
      return await withSpinner(this.context, shown(label), (update) => work((text) => update(shown(text))));
    } finally {
      this.#isSpinning = false;
    }
  }

  /**
   * Registers a secret that must never be shown. The keys of the environment and of the config file are registered
   * automatically.
   */
  registerSecret(key: string): void {
    if (key.length >= MIN_SECRET && !this.#maskers.has(key)) this.#maskers.set(key, keyMasker(key));
  }

  /** Masks the secrets of this run, and everything that looks like a key, in text for people. */
  redact(text: string): string {
    const prefix = this.settings.raw('key-prefix').value ?? DEFAULT_KEY_PREFIX;
    this.#redactors ??= [...new Set([DEFAULT_KEY_PREFIX, prefix])].map((each) => redactor(undefined, each));
    return this.#redactors.reduce((redacted, redact) => redact(redacted), this.maskSecrets(text));
  }

  /** Masks the secrets of this run in data, without any other change. */
  maskSecrets(text: string): string {
    return [...this.#maskers.values()].reduce((masked, mask) => mask(masked), text);
  }

  /** Opens the quota and the cache that many machines share; undefined if none is set. */
  async sharedState(): Promise<SharedState | undefined> {
    const url = this.settings.get('shared-state');
    if (url === undefined || this.globals.demo === true) return undefined;
    this.registerSecret(url.password);
    try {
      this.registerSecret(decodeURIComponent(url.password));
    } catch {
      // Malformed percent-encoding, which is reported when the store is opened.
    }
    this.#sharedState ??= import('../shared-state/shared-state.ts').then(({ openSharedState }) => {
      const shared = openSharedState({
        url,
        context: this.context,
        maxWaitMs: this.settings.get('max-wait'),
        warn: (text) => void this.warn(text),
      });
      this.onClose(async () => shared.close());
      return shared;
    });
    return this.#sharedState;
  }

  /** Registers a cleanup function for the end of the run. The last one registered runs first. */
  onClose(work: () => Promise<void>): void {
    this.#closers.push(work);
  }

  async close(): Promise<void> {
    for (const work of this.#closers.splice(0).reverse()) await work().catch(() => {});
    await this.#printed;
  }
}

import type { CliCommand } from '../cli/command.ts';
import { type GlobalOptions, settingFlags } from '../cli/options.ts';
import { DEFAULT_KEY_PREFIX, keyMasker, redactor } from '../client/key.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { isColored, type Palette, palette } from '../output/color.ts';
import { showsLinks } from '../output/link.ts';
import { clearLine, withSpinner } from '../output/spinner.ts';
import type { View } from '../output/view.ts';
import { Settings, variable } from '../settings/settings.ts';
import { type ConfigFile, configPath, readConfig } from '../storage/config-file.ts';
import { type Paths, resolvePaths } from '../storage/paths.ts';
import type { SharedState } from '../storage/shared-state.ts';
import { didYouMean } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';

/** Minimum length of a secret: a few letters would be masked in every word. */
const MIN_LENGTH = 8;

type Change = (text: string) => string;

/** The keys of one run, which none of its output may show. */
class Secrets {
  readonly #keys = new Set<string>();
  /** Compiled patterns. */
  readonly #made = new Map<string, Change>();

  add(key: string): void {
    if (key.length >= MIN_LENGTH) this.#keys.add(key);
  }

  /**
   * Masks the keys in text for people, and whatever looks like a key.
   * @param prefix the prefix of keys of this service
   */
  redact(text: string, prefix: string): string {
    const prefixes = new Set([DEFAULT_KEY_PREFIX, prefix]);
    return [undefined, ...this.#keys].reduce<string>(
      (sofar, key) => [...prefixes].reduce((shown, each) => this.#change(key, each)(shown), sofar),
      text,
    );
  }

  /** Masks the keys in data; nothing else in it changes. */
  maskKeys(text: string): string {
    return [...this.#keys].reduce((sofar, key) => this.#change(key)(sofar), text);
  }

  /** With a prefix for people, without one for data. */
  #change(key: string | undefined, prefix?: string): Change {
    const name = JSON.stringify([key, prefix]);
    const made = this.#made.get(name) ?? (prefix === undefined ? keyMasker(key) : redactor(key, prefix));
    this.#made.set(name, made);
    return made;
  }
}

/** Loaded on demand: its Unicode patterns take tens of milliseconds to compile. */
const loadText = () => import('../util/text.ts');

/** State that the commands of one run share. Everything is resolved on first use. */
export class App {
  readonly context: Context;
  /** The key that the key command printed in this run. */
  commandKey: string | undefined;
  /** Exit code of a run that did not throw; a list of which some rows failed makes it 8. */
  exitCode = 0;
  #program: CliCommand | undefined;
  #argv: readonly string[] = [];
  #settings: Settings | undefined;
  #config: { file: ConfigFile; problem?: unknown } | undefined;
  #paths: Paths | undefined;
  #collected = '';
  #secrets = new Secrets();
  readonly #warnings = new Set<string>();
  #spinning = false;
  #said: Promise<void> = Promise.resolve();
  #closers: (() => Promise<void>)[] = [];
  #sharedState: Promise<SharedState> | undefined;

  constructor(context: Context) {
    this.context = context;
    this.registerSecret(variable(context.env, 'RESTAURANT_API_KEY')?.trim() ?? '');
  }

  /** Connects the command tree that parses the options, and the words that it parses. */
  attach(program: CliCommand, argv: readonly string[] = []): void {
    this.#program = program;
    this.#argv = argv;
  }

  /** Returns the command line of this run with more options, for a hint. */
  commandLine(...options: readonly string[]): string {
    const end = this.#argv.indexOf('--');
    const [words, operands] =
      end === -1 ? [this.#argv, []] : [this.#argv.slice(0, end), this.#argv.slice(end)];
    return ['restaurant', ...words.map(shellWord), ...options, ...operands.map(shellWord)].join(' ');
  }

  /** Adds the service options of this run to the commands in a hint, so that they work as printed. */
  withServiceOptions(hint: string): string {
    const { demo, profile, baseUrl, endpoint, insecureHttp } = this.globals;
    const typed = [
      ['--demo', demo && '--demo'],
      ['--profile', profile && `--profile ${shellWord(profile)}`],
      ['--base-url', baseUrl && `--base-url ${shellWord(baseUrl)}`],
      ['--endpoint', endpoint && `--endpoint ${shellWord(endpoint)}`],
      ['--insecure-http', insecureHttp && '--insecure-http'],
    ] as const;
    const options = typed.flatMap(([flag, text]) => (text && !hint.includes(flag) ? [text] : []));
    return hint.replace(/\brestaurant (find|lookup|tools|call|status|login|enrich)\b/g, (command, name) =>
      [command, ...options.filter((option) => name !== 'login' || option !== '--demo')].join(' '),
    );
  }

  get globals(): GlobalOptions {
    return this.#program?.opts<GlobalOptions>() ?? { color: true, input: true };
  }

  get paths(): Paths {
    this.#paths ??= resolvePaths(this.context);
    return this.#paths;
  }

  /** Settings of this run. A damaged config file counts as empty here; {@link config} reports it. */
  get settings(): Settings {
    this.#settings ??= new Settings({
      flags: settingFlags(this.globals),
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

  /** Warns when the config file cannot be used, though this run has all it needs without it. */
  warnOfIgnoredConfig(): void {
    const { problem } = this.#readConfig();
    if (problem instanceof AppError) void this.warn(`${problem.message}; its settings are ignored`);
  }

  /**
   * Checks that a profile is saved; `default` always counts as saved.
   * @param name default: the profile of this run
   * @throws {AppError} `usage` listing the saved ones
   */
  requireProfile(name = this.settings.profileName): void {
    const { file, problem } = this.#readConfig();
    const saved = Object.keys(file.profiles ?? {});
    if (name === 'default' || saved.includes(name) || problem !== undefined) return;
    const { source } = this.settings.raw('profile');
    const login = `restaurant login --profile ${shellWord(name)} saves it`;
    const hint =
      source === 'config' && this.settings.profileName === name ? 'restaurant config unset profile' : login;
    throw new AppError('usage', `no profile '${name}'; saved: ${saved.join(', ') || 'none'}`, {
      hint: `${didYouMean(name, saved)}${hint}`,
    });
  }

  /** Changes the config file. @throws {AppError} `bad_config`, `io_error`, `in_use` */
  async updateConfig(change: (file: ConfigFile) => void): Promise<void> {
    const { updateConfig } = await import('../storage/config-file.ts');
    await updateConfig(this.configDir, change);
  }

  /** Folder of the config file. @throws {AppError} `bad_config` where no home folder is known */
  get configDir(): string {
    if (this.paths.configDir !== undefined) return this.paths.configDir;
    throw new AppError('bad_config', 'no folder for the config file: HOME is not set', {
      hint: 'set HOME, or RESTAURANT_CONFIG_DIR=<folder>; RESTAURANT_API_KEY can hold the key',
    });
  }

  #readConfig(): { file: ConfigFile; problem?: unknown } {
    if (this.#config === undefined) {
      const { configDir } = this.paths;
      // Whether a warning is shown depends on the config itself.
      const warnings: string[] = [];
      try {
        const file =
          configDir === undefined ? {} : readConfig(configPath(configDir), (text) => warnings.push(text));
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

  /** True when a person reads along: stderr is a terminal, without --quiet and without JSON output. */
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
    return stdin.isTTY && stderr.isTTY && this.globals.input && !this.#inCi;
  }

  /** Whether a browser may be started: unless --no-input or CI forbids it. */
  get canOpenBrowser(): boolean {
    return this.globals.input && !this.#inCi;
  }

  get #inCi(): boolean {
    const ci = variable(this.context.env, 'CI');
    return ci !== undefined && ci !== 'false' && ci !== '0';
  }

  paletteFor(stream: 'stdout' | 'stderr'): Palette {
    const { color } = this.globals;
    return palette(isColored({ flag: color, env: this.context.env, isTTY: this.#isShown(stream) }) ? 1 : 0);
  }

  /** Whether a stream is a terminal and its output does not go to a file. */
  #isShown(stream: 'stdout' | 'stderr'): boolean {
    const { output } = this.globals;
    const toFile = stream === 'stdout' && output !== undefined && output !== '-';
    return this.context[stream].isTTY && !toFile;
  }

  /** The width, colors and characters for text on stdout. */
  get view(): View {
    const { stdout, env, platform } = this.context;
    const locale = variable(env, 'LC_ALL') ?? variable(env, 'LC_CTYPE') ?? variable(env, 'LANG') ?? '';
    const unicode = platform !== 'linux' || /utf-?8/i.test(locale);
    const isTTY = this.#isShown('stdout');
    return {
      width: isTTY ? stdout.columns : 80,
      palette: this.paletteFor('stdout'),
      unicode,
      links: showsLinks({ flag: this.globals.color, env, isTTY }),
    };
  }

  get helpWidth(): number {
    return this.context.stdout.isTTY ? this.context.stdout.columns : 80;
  }

  /** Prints one line on stderr for a person who reads along. */
  async note(text: string): Promise<void> {
    if (!this.isInteractive) return;
    await this.#inOrder(async () => {
      const { cleanLine } = await loadText();
      await this.#say(this.paletteFor('stderr').dim(cleanLine(text)));
    });
  }

  /** Prints a warning on stderr, unless --quiet or JSON output asks for none. */
  async warn(text: string): Promise<void> {
    if (this.verbose || (this.globals.quiet !== true && !this.wantsJson)) await this.#printWarning(text);
  }

  /** Prints a warning for a person who reads along: about something that the program copes with itself. */
  async remark(text: string): Promise<void> {
    if (this.isInteractive || this.verbose) await this.#printWarning(text);
  }

  /** Prints a warning, once per run. */
  async #printWarning(text: string): Promise<void> {
    if (this.#warnings.has(text)) return;
    this.#warnings.add(text);
    return this.#inOrder(async () => {
      const { cleanLine } = await loadText();
      await this.#say(`${this.paletteFor('stderr').warn('warning:')} ${cleanLine(text)}`);
    });
  }

  /** Prints lines of the exchange, with --verbose. */
  async trace(text: string): Promise<void> {
    if (!this.verbose) return;
    await this.#inOrder(async () => {
      const { clean } = await loadText();
      await this.#say(this.paletteFor('stderr').dim(clean(text)));
    });
  }

  /** Prints one thing after the other, also when nobody waits for it. */
  #inOrder(say: () => Promise<void>): Promise<void> {
    this.#said = this.#said.then(say);
    return this.#said;
  }

  /** Settles when every note and warning is printed. */
  async flushNotes(): Promise<void> {
    await this.#said;
  }

  async #say(line: string): Promise<void> {
    const wipe = this.#spinning ? clearLine(this.context.stderr) : '';
    // A stderr that is gone must not end a run whose stdout is well.
    await this.context.stderr.write(`${wipe}${this.redact(line)}\n`).catch(() => {});
  }

  /**
   * Shows a spinner on a terminal while the work runs.
   * @param work receives a function that changes the label, when a label is shown
   */
  async withSpinner<T>(label: string, work: (update?: (label: string) => void) => Promise<T>): Promise<T> {
    const { stderr, env } = this.context;
    if (!this.isInteractive || this.#inCi || this.verbose || env.TERM === 'dumb') return work();
    const { dim } = this.paletteFor('stderr');
    const { cleanLine, truncate } = await loadText();
    const shown = (text: string): string =>
      dim(truncate(this.redact(cleanLine(text)), Math.max(1, stderr.columns - 4)));
    this.#spinning = true;
    try {
      return await withSpinner(this.context, shown(label), (update) => work((text) => update(shown(text))));
    } finally {
      this.#spinning = false;
    }
  }

  /** Registers a key that must never be shown. */
  registerSecret(key: string): void {
    this.#secrets.add(key);
  }

  /** Masks every key of this run in text for people, and whatever looks like a key. */
  redact(text: string): string {
    return this.#secrets.redact(text, this.settings.raw('key-prefix').value ?? DEFAULT_KEY_PREFIX);
  }

  /** Masks every key of this run in data; nothing else in it changes. */
  maskKey(text: string): string {
    return this.#secrets.maskKeys(text);
  }

  /** The quota and the cache that many machines share; undefined where none is set. Closed when the run ends. */
  async sharedState(): Promise<SharedState | undefined> {
    const url = this.settings.get('shared-state');
    if (url === undefined || this.globals.demo === true) return undefined;
    this.#sharedState ??= this.#openSharedState(url);
    return this.#sharedState;
  }

  async #openSharedState(url: URL): Promise<SharedState> {
    if (url.password.length >= 8) this.registerSecret(decodeURIComponent(url.password));
    const { openSharedState } = await import('../storage/shared-state.ts');
    const shared = openSharedState({
      url,
      context: this.context,
      maxWaitMs: this.settings.need('max-wait'),
      warn: (text) => void this.warn(text),
    });
    this.onClose(async () => shared.close());
    return shared;
  }

  /** Registers work for the end of the run, last registered first. */
  onClose(work: () => Promise<void>): void {
    this.#closers.push(work);
  }

  async close(): Promise<void> {
    for (const work of this.#closers.splice(0).reverse()) await work().catch(() => {});
    await this.#said;
  }

  /** Collects what commander prints, for {@link collected}. */
  collect(text: string): void {
    this.#collected += text;
  }

  collected(): string {
    return this.#collected;
  }
}

import type { Context } from '../context.ts';
import { attempt } from '../errors.ts';
import type { TypedLine } from '../hint.ts';
import type { JqFilter } from '../output/jq/filter.ts';
import { type GlobalOptions, settingFlags } from '../settings/catalog.ts';
import { Settings, variable } from '../settings/settings.ts';
import type { SharedState } from '../shared-state/shared-state.ts';
import { type Paths, resolvePaths } from '../storage/paths.ts';
import { Config } from './config.ts';
import { Notes } from './notes.ts';
import { Secrets } from './secrets.ts';
import { Terminal } from './terminal.ts';

interface CommandLine {
  readonly line: TypedLine;
  opts(): GlobalOptions;
  setOptionValue(name: keyof GlobalOptions, value: unknown): unknown;
  traitsOfCommand(command: string): {
    readonly hintOptions?: readonly string[];
    readonly needsService?: true;
  };
}

class Cleanup {
  readonly #closers: (() => Promise<void>)[] = [];

  add(work: () => Promise<void>): void {
    this.#closers.push(work);
  }

  async run(): Promise<void> {
    for (const work of this.#closers.splice(0).reverse()) await work().catch(() => {});
  }
}

/** An agent's shell may stop a command that is silent for 30 s. */
const AGENT_DEFAULTS = { 'max-wait': '0s' };

export class App {
  readonly context: Context;
  readonly terminal: Terminal;
  readonly secrets: Secrets;
  readonly notes: Notes;
  readonly config: Config;
  readonly cleanup = new Cleanup();
  /** Set by `buildProgram`, which needs the App. */
  program!: CommandLine;
  /** The filter of --jq, whose worker is started once. */
  jqFilter: JqFilter | undefined;
  /** Exit code of a run that did not throw. */
  exitCode = 0;
  #settings: Settings | undefined;
  #paths: Paths | undefined;
  #sharedState: Promise<SharedState> | undefined;

  constructor(context: Context) {
    const options = () => this.globals;
    this.context = context;
    this.terminal = new Terminal(context, options, (name) => this.settings.raw(name).value);
    this.secrets = new Secrets(context.env, () => this.settings.raw('key-prefix').value);
    this.notes = new Notes({
      context,
      terminal: this.terminal,
      options,
      redact: (text) => this.secrets.redact(text),
      format: async (message) => (await import('./hint-line.ts')).hintLine(this, message),
    });
    this.config = new Config(
      () => this.paths.configFile,
      (message) => this.notes.warn(message),
    );
  }

  get globals(): GlobalOptions {
    const options = this.program.opts();
    const isAgent = options.agent === true || variable(this.context.env, 'RESTAURANT_AGENT') === '1';
    return isAgent ? { ...options, agent: true, color: false, input: false } : options;
  }

  get paths(): Paths {
    this.#paths ??= resolvePaths(this.context);
    return this.#paths;
  }

  /** Settings of this run. A damaged config file counts as empty here; {@link config} reports it. */
  get settings(): Settings {
    if (this.#settings === undefined) {
      const { env } = this.context;
      const { globals } = this;
      const defaults = globals.agent === true ? AGENT_DEFAULTS : {};
      this.#settings = new Settings({
        flags: settingFlags(globals),
        env,
        file: this.config.usable,
        isDamaged: this.config.isDamaged,
        defaults,
      });
      this.secrets.register(this.#settings.profile.key ?? '');
    }
    return this.#settings;
  }

  async sharedState(): Promise<SharedState | undefined> {
    const url = this.settings.get('shared-state');
    if (url === undefined || this.globals.demo === true) return undefined;
    this.secrets.register(url.password);
    // Malformed percent-encoding is reported when the store is opened.
    this.secrets.register(attempt(() => decodeURIComponent(url.password)) ?? '');
    this.#sharedState ??= import('../shared-state/shared-state.ts').then(({ openSharedState }) => {
      const shared = openSharedState({
        url,
        context: this.context,
        maxWaitMs: this.settings.get('max-wait'),
        warn: (text) => void this.notes.warn(text),
      });
      this.cleanup.add(async () => shared.close());
      return shared;
    });
    return this.#sharedState;
  }
}

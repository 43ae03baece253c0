import { AppError, failure } from '../errors.ts';
import type { Message } from '../hint.ts';
import { type ConfigFile, readConfig, updateConfig } from '../storage/config-file.ts';

interface LoadedConfig {
  readonly file: ConfigFile;
  readonly problem?: unknown;
}

export class Config {
  readonly #path: () => string | undefined;
  readonly #warn: (message: Message) => Promise<void>;
  #content: LoadedConfig | undefined;

  constructor(path: () => string | undefined, warn: (message: Message) => Promise<void>) {
    this.#path = path;
    this.#warn = warn;
  }

  get usable(): ConfigFile {
    return this.#read().file;
  }

  /** The content. @throws {AppError} `bad_config` if the file is damaged */
  file(): ConfigFile {
    const { file, problem } = this.#read();
    if (problem !== undefined) throw problem;
    return file;
  }

  get isDamaged(): boolean {
    return this.#read().problem !== undefined;
  }

  /** Warns that a damaged file is ignored, in a run that does not need it. */
  warnIfIgnored(): void {
    const { problem } = this.#read();
    if (problem instanceof AppError) void this.#warn(`${problem.message}; its settings are ignored`);
  }

  /** @throws {AppError} `bad_config`, `io_error`, `in_use` */
  async update(change: (file: ConfigFile) => void): Promise<void> {
    await updateConfig(this.path, change);
  }

  /** @throws {AppError} `bad_config` if no home folder is known */
  get path(): string {
    const path = this.#path();
    if (path !== undefined) return path;
    throw failure('bad_config', 'no folder for the config file: HOME is not set', {
      text: 'set HOME, or RESTAURANT_CONFIG_DIR=<folder>; the key can also be set in RESTAURANT_API_KEY',
    });
  }

  #read(): LoadedConfig {
    if (this.#content !== undefined) return this.#content;
    const path = this.#path();
    // Collected first, because the config determines whether warnings are shown.
    const warnings: Message[] = [];
    try {
      this.#content = { file: path === undefined ? {} : readConfig(path, (text) => warnings.push(text)) };
    } catch (problem) {
      this.#content = { file: {}, problem };
    }
    for (const text of warnings) void this.#warn(text);
    return this.#content;
  }
}

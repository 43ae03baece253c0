/** A stream that a command writes text to. */
export interface Output {
  /**
   * Writes all of `text`; waits until the system took it.
   * @throws {PipeClosed} when the reader is gone; {AppError} `io_error` when the device fails (full disk).
   */
  write(text: string): Promise<void>;
  readonly isTTY: boolean;
  /** Width in columns; 80 if it is not a terminal. */
  readonly columns: number;
  /** Height in lines; undefined where it is not a terminal. */
  readonly rows?: number | undefined;
}

/** Where a command reads from. */
export interface Input {
  readonly isTTY: boolean;
  /** The bytes as they come. May be read once. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Prompts, written to stderr. */
export interface Prompt {
  /** Asks without echo. @throws {AppError} `interrupted` on Ctrl-C. */
  secret(message: string): Promise<string>;
  /** Asks for a line of text. @throws {AppError} `interrupted` on Ctrl-C. */
  text(message: string, placeholder?: string): Promise<string>;
}

/** All that a command may touch of the process. main.ts makes the real one, tests make their own. */
export interface Context {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The runtime, for error reports: `Node.js v20.19.0, linux x64`. */
  readonly runtime: string;
  /** Current folder. @throws where it was deleted. */
  cwd(): string;
  /** Home folder as the system's user database has it. */
  homedir(): string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
  /** Aborted by Ctrl-C or SIGTERM; its reason is an AppError `interrupted`. */
  readonly signal: AbortSignal;
  readonly prompt: Prompt;
}

export interface OutputStream {
  /**
   * Writes all of `text`, and waits until the operating system has accepted it.
   * @throws {PipeClosed} if the reader closed the pipe; {AppError} `io_error` if writing fails (full disk)
   */
  write(text: string): Promise<void>;
  readonly isTTY: boolean;
  /** Width in columns; 80 if the stream is not a terminal. */
  readonly columns: number;
  /** Height in lines; undefined if the stream is not a terminal. */
  readonly rows?: number | undefined;
}

export interface InputStream {
  readonly isTTY: boolean;
  /** The bytes as they arrive. Can be read only once. */
  chunks(): AsyncIterable<Uint8Array>;
}

interface Prompt {
  /** Prompts for a secret, without echo. @throws {AppError} `interrupted` on Ctrl-C */
  secret(message: string): Promise<string>;
  /** Prompts for a line of text. @throws {AppError} `interrupted` on Ctrl-C */
  text(message: string, placeholder?: string): Promise<string>;
  keys(): Keyboard;
}

export interface Keyboard {
  /**
   * Waits for a key: its character, or its name, such as `enter`, `escape`, or `ctrl-c`; undefined at the end of the input.
   * The terminal keeps the mode of single keys until it is released.
   */
  next(): Promise<string | undefined>;
  /** Takes keys from now on without showing them: those typed before `next` is called are kept. */
  listen(): Promise<void>;
  release(): void;
}

/** The parts of the process that commands can use. main.ts creates the real one; tests create their own. */
export interface Context {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The runtime, for error reports: `Node.js v20.19.0, linux x64`. */
  readonly runtime: string;
  /** The path of the standalone executable; undefined when Node.js runs the program. */
  readonly executable?: string | undefined;
  /** Current folder. @throws if it was deleted */
  cwd(): string;
  homedir(): string;
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  random(): number;
  /** Aborted by Ctrl-C or SIGTERM; its reason is an AppError `interrupted`. */
  readonly signal: AbortSignal;
  /** Runs a program that uses the terminal, such as a pager, and leaves Ctrl-C to it. */
  leaveInterruptsTo<T>(program: () => Promise<T>): Promise<T>;
  readonly prompt: Prompt;
}

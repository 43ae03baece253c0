import type { Context } from '../../src/context.ts';
import { run } from '../../src/run.ts';
import { ON_WINDOWS, restaurant, STANDALONE, withFolders } from './process.ts';
import { tempFolder } from './temp-folder.ts';

/** The result of a run: exit code and output. */
export interface Transcript {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** The streams that are terminals, and their width. */
  readonly tty?: { stdin?: boolean; stdout?: boolean; stderr?: boolean; columns?: number };
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** Default: waits in real time, and removes the spinner from stderr. */
  readonly sleep?: Context['sleep'];
  /** Replies to prompts, in order; the last one is repeated. */
  readonly answers?: {
    secret?: string | readonly string[];
    text?: string | readonly string[];
    keys?: string | readonly string[];
  };
  readonly platform?: NodeJS.Platform;
  readonly executable?: string;
  readonly homedir?: () => string;
}

/** Creates an empty home folder for a test. @returns it and its variables */
export function newHome(): { home: string; env: Record<string, string> } {
  const home = tempFolder();
  return { home, env: { HOME: home, LANG: 'C.UTF-8' } };
}

/**
 * Runs one command line and returns its result: in this process, or with the standalone executable if that is under test
 * and no option requires a context, such as a clock.
 */
export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Transcript> {
  const { env = newHome().env, cwd = env.HOME ?? tempFolder(), stdin = '', ...rest } = options;
  // Arguments and variables of a process cannot contain NUL.
  const hasNul = [...argv, ...Object.values(env)].some((text) => text?.includes('\0'));
  if (!STANDALONE || hasNul || Object.keys(rest).length > 0) return runInProcess(argv, options);
  const { exit, stdout, stderr } = await restaurant(argv, { env: { PATH: undefined, ...env }, cwd, stdin });
  return { exit: exit ?? -1, stdout, stderr };
}

async function runInProcess(argv: readonly string[], options: RunOptions): Promise<Transcript> {
  const printed = { stdout: '', stderr: '' };
  const exit = await run(argv, contextOf(options, printed));
  return { exit, ...printed };
}

/** The process as the options describe it. Its output is added to `printed`. */
export function contextOf(options: RunOptions, printed = { stdout: '', stderr: '' }): Context {
  const { tty = {} } = options;
  const columns = tty.columns ?? 80;
  const bytes = typeof options.stdin === 'string' ? new TextEncoder().encode(options.stdin) : options.stdin;
  const answer = (text: string | undefined) => {
    if (text === undefined) throw new Error('a prompt for which the test has no reply');
    return Promise.resolve(text);
  };
  const texts = [options.answers?.text ?? []].flat();
  const secrets = [options.answers?.secret ?? []].flat();
  const keys = [...(options.answers?.keys ?? '')];
  const next = (from: string[]) => answer(from.length > 1 ? from.shift() : from[0]);
  const env = withFolders(options.env ?? newHome().env);
  const home = env.HOME ?? tempFolder();
  return {
    stdin: {
      isTTY: tty.stdin ?? false,
      async *chunks() {
        if (bytes !== undefined) yield bytes;
      },
    },
    stdout: {
      isTTY: tty.stdout ?? false,
      columns,
      write: async (text) => {
        printed.stdout += text;
      },
    },
    stderr: {
      isTTY: tty.stderr ?? false,
      columns,
      write: async (text) => {
        if (options.sleep !== undefined || !isSpinner(text)) printed.stderr += text;
      },
    },
    env,
    platform: options.platform ?? (ON_WINDOWS ? 'win32' : 'linux'),
    runtime: 'Node.js of the tests',
    executable: options.executable,
    cwd: () => options.cwd ?? home,
    homedir: options.homedir ?? (() => home),
    now: options.now ?? Date.now,
    sleep: options.sleep ?? realSleep,
    random: () => 0.5,
    signal: options.signal ?? new AbortController().signal,
    leaveInterruptsTo: (program) => program(),
    prompt: {
      secret: () => next(secrets),
      text: () => next(texts),
      keys: () => ({ next: async () => keys.shift(), listen: async () => {}, release: () => {} }),
    },
  };
}

/** Returns whether the text is a frame of the spinner or clears its line. Only slow machines draw the spinner. */
const isSpinner = (text: string): boolean => /^(\r +\r)?(\r[\u2800-\u28ff] [^\n]*)?$/.test(text);

/** Waits in real time. */
export function realSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop);
  });
}

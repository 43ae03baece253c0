import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built program; `npm test` builds it first. */
export const BIN = fileURLToPath(new URL('../../bin/restaurant.js', import.meta.url));

/** Whether RESTAURANT_BIN names another executable to test instead of the build for Node. */
export const STANDALONE = (process.env.RESTAURANT_BIN ?? '') !== '';

/** The command line of the program under test, without its arguments. */
export const PROGRAM: readonly [string, ...string[]] = STANDALONE
  ? [resolve(process.env.RESTAURANT_BIN ?? '')]
  : [process.execPath, BIN];

/** The program under test as text for a POSIX shell. */
export const COMMAND = PROGRAM.map((word) => `'${word}'`).join(' ');

/** Exit and output of a process. */
export interface ProcessResult {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<ProcessResult>;
  /** Resolves when stdout or stderr contains the text. @returns stdout so far */
  printed(text: string): Promise<string>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Options of a process: those of `spawn`, and its stdin. */
export interface StartOptions extends Pick<SpawnOptions, 'stdio' | 'detached' | 'uid' | 'gid' | 'timeout'> {
  readonly env?: Env;
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  /** Keeps stdin open and sends nothing. */
  readonly holdStdin?: true;
  /** Passes on the words unquoted, on Windows. */
  readonly verbatim?: true;
}

/** The variables of the tests that a process needs; no others are passed on. All processes share one cache of compiled code. */
export const baseEnv = (): Env => ({
  PATH: process.env.PATH,
  TMPDIR: process.env.TMPDIR,
  LANG: 'C.UTF-8',
  NODE_OPTIONS: process.env.NODE_OPTIONS,
  NODE_COMPILE_CACHE: join(tmpdir(), 'compiled'),
});

export const ON_WINDOWS = process.platform === 'win32';

/** On Windows, adds the variables that give a test's home the folders that it has on Linux. */
export function withFolders(env: Env): Env {
  const { HOME: home } = env;
  if (!ON_WINDOWS || home === undefined) return env;
  return {
    USERPROFILE: home,
    APPDATA: join(home, 'AppData', 'Roaming'),
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    ...env,
  };
}

/** Starts a program. It is always killed after `timeout`, 50 seconds by default. */
export function start(program: string, words: readonly string[], options: StartOptions = {}): Running {
  const { stdin, env, cwd, holdStdin, verbatim = false, ...more } = options;
  const child = spawn(program, words, {
    timeout: 50_000,
    ...more,
    env: { ...baseEnv(), ...withFolders(env ?? {}) },
    killSignal: 'SIGKILL',
    windowsVerbatimArguments: verbatim,
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin?.on('error', () => {});
  if (holdStdin !== true) child.stdin?.end(stdin);
  const ended = new Promise<ProcessResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exit, signal) => resolve({ exit, signal, stdout, stderr }));
  });
  return {
    process: child,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (stdout.includes(text) || stderr.includes(text)) resolve(stdout);
        };
        look();
        child.stdout?.on('data', look);
        child.stderr?.on('data', look);
        child.on('close', () => reject(new Error(`ended without printing ${text}: ${stdout}${stderr}`)));
      }),
  };
}

/** Waits until the condition is true. @throws if the process ends before */
export async function until(isTrue: () => boolean, { ended }: Running): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!isTrue() && !over) await new Promise((resolve) => setTimeout(resolve, 1));
  if (over) throw new Error(`ended too early: ${JSON.stringify(await ended)}`);
}

/** Starts the program under test. */
export function startRestaurant(words: readonly string[], options: StartOptions = {}): Running {
  const [program, ...first] = PROGRAM;
  return start(program, [...first, ...words], options);
}

/** Runs the program under test to its end. */
export const restaurant = (words: readonly string[], options: StartOptions = {}): Promise<ProcessResult> =>
  startRestaurant(words, options).ended;

/** Runs a line in bash, where `restaurant` is the program under test. */
export const shell = (line: string, options: StartOptions = {}): Promise<ProcessResult> =>
  start('bash', ['-c', `restaurant() { ${COMMAND} "$@"; }\n${line}`], options).ended;

import { homedir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Context } from './context.ts';
import { AppError } from './errors.ts';
import { reportUncaught, run } from './run.ts';
import { inputFrom, ProcessOutput, terminalWasClosed } from './streams.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131, SIGUSR2: 140 } as const;

/** Whether Ctrl-C is for another program that uses the terminal. */
let leavesInterrupts = false;

const interruption = new AbortController();
const { signal } = interruption;
/** The exit code of a run that a signal ended. */
let interruptedWith: number | undefined;

for (const [name, exit] of Object.entries(SIGNALS)) {
  process.on(name, () => {
    if (name === 'SIGINT' && leavesInterrupts) return;
    // The second signal ends the process at once.
    if (interruptedWith !== undefined) process.exit(exit);
    interruptedWith = exit;
    interruption.abort(new AppError('interrupted', `interrupted by ${name}`));
  });
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

function runtimeName(): string {
  const { bun } = process.versions;
  return bun === undefined ? `Node.js ${process.version}` : `Bun ${bun}`;
}

// Node and libraries print warnings as lines on stderr, which break JSON and mean nothing to users of this program.
process.removeAllListeners('warning');

let stdin: typeof process.stdin | undefined;
const openStdin = () => {
  stdin = process.stdin;
  return stdin;
};
const promptStreams = () => ({
  input: openStdin(),
  output: process.stderr,
  signal,
});

const stdout = new ProcessOutput(1, () => process.stdout, 'stdout', signal);
const stderr = new ProcessOutput(2, () => process.stderr, 'stderr');

const context: Context = {
  stdin: inputFrom(openStdin, signal),
  stdout,
  stderr,
  env: process.env,
  platform: process.platform,
  runtime: `${runtimeName()}, ${process.platform} ${process.arch}`,
  executable: process.versions.bun === undefined ? undefined : process.execPath,
  cwd: () => process.cwd(),
  // Bun treats an empty HOME as unset and returns the home of the account.
  homedir: () => (process.platform === 'win32' ? homedir() : (process.env.HOME ?? homedir())),
  now: Date.now,
  sleep,
  random: Math.random,
  signal,
  async leaveInterruptsTo(program) {
    leavesInterrupts = true;
    try {
      return await program();
    } finally {
      leavesInterrupts = false;
    }
  },
  prompt: {
    secret: async (message) => (await import('./prompt.ts')).askSecret(message, promptStreams()),
    text: async (message, placeholder) =>
      (await import('./prompt.ts')).askText(message, placeholder, promptStreams()),
    keys: () => {
      const keyboard = import('./prompt.ts').then((prompt) => new prompt.TerminalKeyboard(promptStreams()));
      return {
        next: async () => (await keyboard).next(),
        listen: async () => (await keyboard).listen(),
        release: () => void keyboard.then((opened) => opened.release()),
      };
    },
  },
};

// When the terminal is closed, Node aborts because it cannot restore the terminal's settings. SIGHUP ends the process
// first.
process.on('exit', () => {
  if (!terminalWasClosed()) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
});

// An uncaught error (in the callback of a library) is reported like any other and ends the process. A second one, thrown
// while the first is reported, ends it at once.
let escaped = false;
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    if (escaped) process.exit(1);
    escaped = true;
    reportUncaught(error, process.argv.slice(2), context).then(
      (code) => process.exit(code),
      () => process.exit(1),
    );
  });
}

// A diagnostic report must not contain the key. Requires Node.js 22.13. Only options of Node lead to a report, and loading
// the part of Node that writes it takes a millisecond.
if (process.execArgv.length > 0 || process.env.NODE_OPTIONS !== undefined)
  Object.assign(process.report ?? {}, { excludeEnv: true });

async function main(): Promise<void> {
  // The exit code if the event loop runs empty while the command is still waiting.
  process.exitCode = 1;
  const exitCode = await run(process.argv.slice(2), context);
  process.exitCode = exitCode === 0 ? 0 : (interruptedWith ?? exitCode);
  // After a signal, do not wait for a reader of stdout that does not read.
  if (interruptedWith !== undefined) process.exit();
  // If no stream was used, all output is written, and ending at once saves a millisecond. Not on Windows, where Node 23 and
  // later crash if a thread of V8 is still at work (nodejs/node#56645).
  const isWritten = stdin === undefined && stdout.isWritten && stderr.isWritten;
  if (isWritten && process.platform !== 'win32') process.exit();
  // Do not wait for stdin to be closed. (If stdin is a file, it has no `unref`.)
  stdin?.unref?.();
}

void main();

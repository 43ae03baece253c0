import { type ChildProcess, execFile } from 'node:child_process';
import { redactor } from '../client/key.ts';
import { failure, systemCode } from '../errors.ts';
import { type Hint, restaurant, slot } from '../hint.ts';
import type { CommandWords } from '../settings/values.ts';
import { excerpt, formatDuration } from '../util/format.ts';
import { startable } from '../util/shell.ts';
import type { App } from './app.ts';
import { programPath } from './program-path.ts';
import { withoutKey } from './secrets.ts';

const NOT_FOUND = 'was not found';
const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** How long to read on after the command has ended, ms. A process that it leaves behind may hold its stdout open. */
const LINGER_MS = 250;
const HINT: Hint = [
  { text: 'run the command yourself' },
  { text: 'or change it', command: restaurant('config', 'set', 'key-command', slot('command')) },
];

/** Runs it without a shell. @throws {AppError} `no_key` if it fails, takes over 30 s, or prints nothing; the signal */
export async function runKeyCommand(
  { context }: { readonly context: Pick<App['context'], 'env' | 'platform' | 'signal'> },
  [program, ...args]: CommandWords,
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const name = excerpt(program, 80);
  const failed = (problem: string) => failure('no_key', `key-command: ${name} ${problem}`, HINT);
  const path = programPath(program, context);
  if (path === undefined) throw failed(NOT_FOUND);
  const line = startable([path, ...args], context);
  if (line === undefined) throw failed('cannot be run: cmd.exe would change its arguments');
  const stdout = await new Promise<Buffer>((resolve, reject) => {
    const options = {
      env: withoutKey(context.env),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_OUTPUT_BYTES,
      encoding: 'buffer',
      windowsHide: true,
      windowsVerbatimArguments: line.isQuoted,
      signal: context.signal,
    } as const;
    const child = execFile(line.file, line.args, options, (error, output, errors) => {
      if (error === null) return resolve(output);
      if (context.signal.aborted) return reject(context.signal.reason);
      reject(failed(problemOf(error, errors, timeoutMs)));
    });
    child.stdin?.on('error', () => {}).end();
    child.once('exit', () => setTimeout(() => closeOutput(child), LINGER_MS).unref());
  });
  const [key = ''] = stdout.toString('utf8').split(/\r?\n/, 1);
  if (key.trim() === '') throw failed('printed no key on the first line of stdout');
  return key.trim();
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

function problemOf(
  error: Error & { killed?: boolean; signal?: NodeJS.Signals | null },
  stderr: Buffer,
  timeoutMs: number,
): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return NOT_FOUND;
  if (code === 'EACCES') return 'cannot be run: permission denied';
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than 64 KiB';
  if (error.killed === true) return `did not finish within ${formatDuration(timeoutMs)}`;
  const reason = error.signal
    ? `was terminated by ${error.signal}`
    : `failed (exit ${String((error as { code?: unknown }).code)})`;
  const message = excerpt(redactor()(stderr.toString('utf8')));
  return message === '' ? reason : `${reason}: ${message}`;
}

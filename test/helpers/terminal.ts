import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type IPty, spawn } from '@lydell/node-pty';
import { baseEnv, PROGRAM } from './process.ts';

/** After this time the program is killed, so that a test that waits in vain shows the screen. */
const MAX_MS = 50_000;

interface Options {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly cwd?: string;
}

/** A program in a pseudo-terminal. */
export interface Terminal {
  /** Returns all output so far, escapes included. */
  readonly output: () => string;
  type(text: string): void;
  /** Closes the terminal. */
  kill(): void;
  /** Resolves when the output contains the text. */
  shown(text: string | RegExp): Promise<void>;
  /** Exit code and complete output. */
  readonly ended: Promise<{ exit: number; output: string }>;
}

/**
 * Reads the output that is left when node-pty closes the terminal. It does so 200 ms after the exit, even if it has not read
 * everything, as happens on a busy machine.
 */
function readAllBeforeClose(pty: IPty, onData: (text: string) => void): void {
  const { _socket: socket, _fd: file } = pty as IPty & { _socket?: Socket; _fd: number };
  if (socket === undefined) return;
  const destroy = socket.destroy.bind(socket);
  const part = Buffer.alloc(65_536);
  socket.destroy = (error) => {
    try {
      for (let size = readSync(file, part); size > 0; size = readSync(file, part)) {
        onData(part.toString('utf8', 0, size));
      }
    } catch {
      // EIO at the end of the output, EAGAIN if there is none.
    }
    return destroy(error);
  };
}

/** Runs a program in a new terminal. */
export function inTerminal(program: string, words: readonly string[], options: Options = {}): Terminal {
  const { columns = 80, cwd } = options;
  const all = { ...baseEnv(), TERM: 'xterm-256color', ...options.env };
  const env = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const pty: IPty = spawn(program, [...words], {
    cols: columns,
    rows: 30,
    env: env as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
  });
  let output = '';
  const watchers = new Set<() => void>();
  const onData = (text: string): void => {
    output += text;
    for (const look of [...watchers]) look();
  };
  pty.onData(onData);
  readAllBeforeClose(pty, onData);
  const killer = setTimeout(() => pty.kill('SIGKILL'), MAX_MS);
  const ended = new Promise<{ exit: number; output: string }>((resolve) => {
    pty.onExit(({ exitCode }) => {
      clearTimeout(killer);
      resolve({ exit: exitCode, output });
    });
  });
  return {
    output: () => output,
    type: (text) => pty.write(text),
    kill: () => pty.kill('SIGKILL'),
    shown: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
        void ended.then(() => reject(new Error(`ended without showing ${text}: ${JSON.stringify(output)}`)));
      }),
    ended,
  };
}

/** Runs the program under test in a terminal. */
export function restaurantInTerminal(words: readonly string[], options: Options = {}): Terminal {
  const [program, ...first] = PROGRAM;
  return inTerminal(program, [...first, ...words], options);
}

/** Returns the final lines of the screen without trailing blanks, if only `\r` moves the cursor. */
export function screen(output: string): string[] {
  return output.split('\r\n').map((line) => {
    let cells = '';
    for (const part of line.split('\r')) cells = part + cells.slice(part.length);
    return cells.trimEnd();
  });
}

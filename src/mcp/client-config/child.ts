import { type ChildProcess, spawn } from 'node:child_process';
import { isObject, type JsonObject, readReply } from '../../client/rpc/envelope.ts';
import { AppError, systemCode } from '../../errors.ts';
import { excerpt } from '../../util/excerpt.ts';
import { type Line, lineReader, toLine } from '../bridge/framing.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly windows: boolean;
}

/** An MCP server in a process of its own. */
export interface ChildServer {
  /** Sends a request. @throws {AppError} `bad_response`, or `rpc_error` for an error that it answers with */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string): void;
  /** Rejects when the process cannot be started or ends: `io_error`, `bad_response`. */
  readonly failed: Promise<never>;
  /** Closes its stdin, and ends it where that does not, after `ms`. */
  close(ms: number): Promise<void>;
}

/** Starts an MCP server on stdio. */
export function startServer(options: ChildOptions): ChildServer {
  const { command } = options;
  const child = spawnFor(options);
  const waiting = new Map<number, (reply: JsonObject | AppError) => void>();
  const reader = lineReader();
  let lastId = 0;
  let said = '';

  function receive(line: Line): void {
    const message = 'text' in line ? tryJson(line.text) : undefined;
    if (!isObject(message)) return;
    const take = typeof message.id === 'number' ? waiting.get(message.id) : undefined;
    if (take !== undefined && !('method' in message)) take(message);
  }

  child.stdout?.on('data', (chunk: Uint8Array) => {
    for (const line of reader.push(chunk)) receive(line);
  });
  child.stderr?.on('data', (chunk: Uint8Array) => {
    said = (said + Buffer.from(chunk).toString('utf8')).slice(-2000);
  });
  // It may be gone before it has read all.
  child.stdin?.on('error', () => {});

  const failed = new Promise<never>((_resolve, reject) => {
    child.on('error', (error) => reject(cannotStart(command, error)));
    child.on('close', (code) => {
      const last = excerpt(said.trim().split('\n').at(-1) ?? '');
      const why = last === '' ? '' : `: ${last}`;
      reject(new AppError('bad_response', `${command} ended before it answered (${code ?? 'killed'})${why}`));
    });
  });
  failed.catch(() => {});

  const send = (message: JsonObject): void => {
    child.stdin?.write(toLine({ jsonrpc: '2.0', ...message }));
  };

  return {
    failed,
    notify: (method) => send({ method }),
    async ask(method, params) {
      lastId += 1;
      const id = lastId;
      const answered = new Promise<JsonObject | AppError>((resolve) => waiting.set(id, resolve));
      send({ id, method, params });
      const reply = readReply((await answered) as JsonObject);
      if ('error' in reply) {
        throw new AppError(
          'rpc_error',
          `${command} answered ${method} with: ${excerpt(reply.error.message)}`,
        );
      }
      if (isObject(reply.result)) return reply.result;
      throw new AppError('bad_response', `${command} answered ${method} without a result`);
    },
    close: (ms) => end(child, ms),
  };
}

function spawnFor({ command, args, env, windows }: ChildOptions): ChildProcess {
  const options = { env: { ...env }, stdio: 'pipe', windowsHide: true } as const;
  // Programs that npm installs are .cmd files there, which only the shell can start.
  return windows
    ? spawn(
        command,
        args.map((arg) => `"${arg}"`),
        { ...options, shell: true },
      )
    : spawn(command, args, options);
}

function cannotStart(command: string, error: Error): AppError {
  const missing = systemCode(error) === 'ENOENT';
  const why = missing ? 'it is not on the PATH' : (systemCode(error) ?? 'it failed');
  return new AppError('io_error', `cannot start ${command}: ${why}`, {
    cause: error,
    hint: `npm install -g restaurant-data-cli puts ${command} on the PATH`,
  });
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function end(child: ChildProcess, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      // Programs that it started may hold the other ends.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve();
    };
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', done);
    child.stdin?.end();
  });
}

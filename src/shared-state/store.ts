import { setMaxListeners } from 'node:events';
import { createClient } from '@redis/client';
import { UNKNOWN_AUTHORITY } from '../client/http/network-error.ts';
import type { Context } from '../context.ts';
import { systemCode } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { SharedStateError } from '../storage/ledger.ts';

export interface StoreOptions {
  readonly url: URL;
  readonly context: Pick<Context, 'now' | 'sleep' | 'signal'>;
  /** How long to retry if the store fails during a run, in milliseconds. */
  readonly maxWaitMs: number;
  readonly warn: (message: string) => void;
}

export interface Call<T> {
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Returns the reply in its type; undefined if it makes no sense. */
  parse(reply: unknown): T | undefined;
}

/** Milliseconds on the clock of the server, which is the same for all machines. */
export const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

type RedisConnection = ReturnType<typeof connectionTo>;

const CONNECT_MS = 5000;
/** A reply that takes longer counts as a failure of the connection. */
const REPLY_MS = 5000;
const RETRY_MS = 250;

export class Store {
  readonly context: StoreOptions['context'];
  readonly #options: StoreOptions;
  #connection: Promise<RedisConnection> | undefined;
  #wasConnected = false;
  #isClosed = false;

  constructor(options: StoreOptions) {
    const { context } = options;
    // Each waiting call adds a listener; Node prints a warning if there are more than ten.
    setMaxListeners(0, context.signal);
    this.context = context;
    this.#options = options;
  }

  get #place(): string {
    const { url } = this.#options;
    return url.host || url.pathname;
  }

  warn(problem: string): void {
    this.#options.warn(`the shared state at ${this.#place} ${problem}`);
  }

  /** Runs a script once. @throws the error of the store */
  async once<T>({ script, keys, args, parse }: Call<T>): Promise<T> {
    if (this.#isClosed) throw new Error('closed');
    this.#connection ??= connect(this.#options.url);
    const current = this.#connection;
    try {
      const open = await current;
      const reply = parse(await inTime(open.eval(script, { keys: [...keys], arguments: [...args] })));
      if (reply === undefined) throw new Error('it sent an unexpected reply');
      this.#wasConnected = true;
      return reply;
    } catch (error) {
      // The next attempt opens a new connection.
      if (this.#connection === current) this.#disconnect();
      throw error;
    }
  }

  /** Runs a script, with retries if the store fails. @throws {SharedStateError} */
  async run<T>(call: Call<T>): Promise<T> {
    const { now, sleep, signal } = this.context;
    const deadline = now() + this.#options.maxWaitMs;
    for (let tries = 0; ; tries += 1) {
      signal.throwIfAborted();
      try {
        return await this.once(call);
      } catch (error) {
        const reason = reasonOf(error);
        const isFinal = this.#isClosed || !this.#wasConnected || now() >= deadline;
        if (isFinal) throw unreachable(this.#place, reason, error);
        if (tries === 0) this.warn(`failed (${reason}); retrying`);
        await sleep(Math.min(RETRY_MS, Math.max(1, deadline - now())), signal);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  #disconnect(): void {
    const last = this.#connection;
    this.#connection = undefined;
    void last?.then((open) => open.destroy()).catch(() => {});
  }
}

function connectionTo(url: URL) {
  const isSocket = url.protocol === 'unix:';
  return createClient({
    ...(isSocket ? {} : { url: url.href }),
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: false,
      ...(isSocket ? { path: decodeURIComponent(url.pathname) } : {}),
      // Despite NODE_TLS_REJECT_UNAUTHORIZED=0, as for the service.
      ...(url.protocol === 'rediss:' ? { tls: true as const, rejectUnauthorized: true } : {}),
    },
    ...(isSocket && url.password !== '' ? { password: decodeURIComponent(url.password) } : {}),
    disableOfflineQueue: true,
  });
}

async function connect(url: URL): Promise<RedisConnection> {
  const connection = connectionTo(url);
  // Errors are handled by the commands that they reject.
  connection.on('error', () => {});
  try {
    await inTime(connection.connect());
    return connection;
  } catch (error) {
    if (connection.isOpen) connection.destroy();
    throw error;
  }
}

function inTime<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no reply in time')), REPLY_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && first.message !== '' ? first.message : 'the connection failed';
}

function unreachable(place: string, reason: string, cause: unknown): SharedStateError {
  if (UNKNOWN_AUTHORITY.test(systemCode(cause) ?? '')) {
    const problem = 'is not signed by an authority that this machine trusts';
    return new SharedStateError('tls', `the certificate of the shared state at ${place} ${problem}`, {
      cause,
      reason: 'unknown_authority',
    });
  }
  return new SharedStateError('network', `cannot use the shared state at ${place}: ${reason}`, {
    cause,
    hint: [
      { text: 'see where its address is set', command: restaurant('config', 'list') },
      { text: 'without one, requests are counted on this machine alone' },
    ],
  });
}

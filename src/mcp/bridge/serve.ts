import type { Context, Output } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { type BridgeOptions, createBridge } from './bridge.ts';
import { lineReader, toLine } from './framing.ts';
import type { Upstream } from './methods.ts';

/** How long calls may go on when the host has closed our stdin, ms. */
const LAST_CALLS_MS = 5000;

export interface ServeOptions {
  readonly context: Pick<Context, 'stdin' | 'stdout' | 'sleep' | 'signal'>;
  readonly upstream: Upstream;
  readonly onFault?: NonNullable<BridgeOptions['onFault']>;
}

/**
 * Serves MCP on stdin and stdout until stdin is closed.
 * @throws {PipeClosed} when the host reads no more; the reason of the context's signal
 */
export async function serveStdio({ context, upstream, ...options }: ServeOptions): Promise<void> {
  const writer = createWriter(context.stdout);
  const bridge = createBridge({ upstream, send: writer.send, ...options });

  async function readAll(): Promise<void> {
    const reader = lineReader();
    for await (const chunk of context.stdin.chunks()) {
      for (const line of reader.push(chunk)) bridge.receive(line);
    }
    for (const line of reader.end()) bridge.receive(line);
    const timer = new AbortController();
    await Promise.race([bridge.idle(), context.sleep(LAST_CALLS_MS, timer.signal).catch(() => {})]);
    timer.abort();
    bridge.stop(
      new AppError('interrupted', 'the host closed the connection before the service answered', {
        hint: 'ask again; restaurant status --check tells how long the service takes',
      }),
    );
    await bridge.idle();
    await writer.done();
  }

  try {
    await new Promise<void>((resolve, reject) => {
      const { signal } = context;
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      writer.broken.catch(reject);
      readAll().then(resolve, reject);
    });
  } catch (error) {
    bridge.stop(new AppError('interrupted', 'the bridge was stopped'));
    throw error;
  }
}

/** Writes messages one after the other, in the order in which they were sent. */
function createWriter(stdout: Output) {
  let last: Promise<void> = Promise.resolve();
  let fail: (error: unknown) => void = () => {};
  const broken = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  broken.catch(() => {});
  return {
    send(message: unknown): void {
      last = last.then(() => stdout.write(toLine(message)));
      last.catch(fail);
    },
    /** Settles when all is written. */
    done: () => last,
    /** Rejects when the reader is gone. */
    broken,
  };
}

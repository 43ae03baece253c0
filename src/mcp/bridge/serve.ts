import { App } from '../../app/app.ts';
import { openService, supportsMcp } from '../../app/service.ts';
import { cachedCapabilities, cachedTools } from '../../app/tool-lists.ts';
import type { Context, Output } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { type BridgeOptions, createBridge } from './bridge.ts';
import { lineReader, toLine } from './framing.ts';
import type { Upstream } from './methods.ts';
import { openUpstream } from './upstream.ts';

/** How long pending calls may continue after the host has closed stdin, ms. */
const DRAIN_MS = 5000;

/**
 * Runs the bridge until stdin is closed.
 * @param attach gives an app the options of this run
 */
export async function serveBridge(app: App, attach: (fresh: App) => void): Promise<void> {
  const { context } = app;
  if (context.stdin.isTTY) {
    await app.note(
      'an MCP client starts this command; to configure one, run restaurant mcp config <client> (Ctrl-D ends)',
    );
  }
  /** Reads the settings again, so that a later login is used. */
  function freshApp(): App {
    const fresh = new App(quiet(context, app.verbose));
    attach(fresh);
    app.onClose(() => fresh.close());
    return fresh;
  }
  const upstream = openUpstream({
    async connect() {
      const fresh = freshApp();
      return openService(fresh, { demoMode: 'mcp', ...retryLimits(fresh) });
    },
    storedTools: () => cachedTools(freshApp()),
    storedCapabilities() {
      const fresh = freshApp();
      const isMcp = fresh.globals.demo === true || supportsMcp(fresh) === true;
      return cachedCapabilities(fresh) ?? (isMcp ? undefined : {});
    },
    profileName: app.settings.profileName,
    context,
  });
  await serveStdio({
    context,
    upstream,
    onFault: (fault) =>
      void app.trace(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)),
  });
}

/** Longest wait of a call for a rate limit, ms, unless the command line sets one: hosts end a call after 60 s. */
const MAX_RATE_LIMIT_WAIT_MS = 15_000;

/** Returns how long and how often a call is retried: by default once, so that there is one wait at most. */
function retryLimits({ settings }: App): { maxWaitMs: number; retries: number } {
  const { value: maxWaitMs = MAX_RATE_LIMIT_WAIT_MS, source } = settings.resolve('max-wait');
  const { value: retries = 1, source: retriesSource } = settings.resolve('retries');
  return {
    maxWaitMs: source === 'flag' ? maxWaitMs : Math.min(maxWaitMs, MAX_RATE_LIMIT_WAIT_MS),
    retries: retriesSource === 'default' ? 1 : retries,
  };
}

const discard: Output = { write: async () => {}, isTTY: false, columns: 80 };

/** A context in which only messages reach stdout, and stderr gets only the trace of --verbose. */
const quiet = (context: Context, verbose: boolean): Context => ({
  ...context,
  stdout: discard,
  stderr: verbose ? context.stderr : discard,
});

interface ServeOptions {
  readonly context: Pick<Context, 'stdin' | 'stdout' | 'sleep' | 'signal'>;
  readonly upstream: Upstream;
  readonly onFault: NonNullable<BridgeOptions['onFault']>;
}

/**
 * Serves MCP on stdin and stdout until stdin is closed.
 * @throws {PipeClosed} when the host stops reading; the reason of the context's signal
 */
async function serveStdio({ context, upstream, ...options }: ServeOptions): Promise<void> {
  const writer = createWriter(context.stdout);
  const bridge = createBridge({ upstream, send: writer.send, sleep: context.sleep, ...options });

  async function readAll(): Promise<void> {
    const reader = lineReader();
    for await (const chunk of context.stdin.chunks()) {
      for (const line of reader.push(chunk)) bridge.receive(line);
    }
    for (const line of reader.end()) bridge.receive(line);
    const timer = new AbortController();
    await Promise.race([bridge.idle(), context.sleep(DRAIN_MS, timer.signal).catch(() => {})]);
    timer.abort();
    bridge.stop(
      new AppError('interrupted', 'the host closed the connection before the service responded', {
        hint: 'try again; restaurant status --check shows how long the service takes',
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

/** Writes messages one at a time, in the order in which they were sent. */
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
    /** Settles when everything is written. */
    done: () => last,
    /** Rejects when the reader has closed stdout. */
    broken,
  };
}

import { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { cachedCapabilities, cachedTools } from '../../app/responses.ts';
import { openService } from '../../app/service.ts';
import { loginCommand, supportsMcp } from '../../app/target.ts';
import type { Context, Output } from '../../context.ts';
import { AppError } from '../../errors.ts';
import type { Hint } from '../../hint.ts';
import { untilAborted, within } from '../../util/async.ts';
import { formatDuration } from '../../util/duration.ts';
import { Bridge } from './bridge.ts';
import { readLines, toLine } from './framing.ts';
import { FIXED_BY_LOGIN, Upstream } from './upstream.ts';

/** How long pending calls may continue after the host has closed stdin, ms. */
const DRAIN_MS = 5000;

/** For users of the bundle for Claude Desktop, who have no command line. */
const BUNDLE_HINT = 'change the address and the API key in the settings of the extension';

/** Runs the bridge until stdin is closed. */
export async function serveBridge(app: App): Promise<void> {
  const { context } = app;
  if (context.stdin.isTTY) {
    await app.note(
      'an MCP client starts this command; to configure one, run restaurant mcp config <client> (Ctrl-D ends)',
    );
  }
  const login = loginCommand(app);
  /** Reads the settings again, so that a later login is used. */
  function freshApp(): App {
    const fresh = new App(quiet(context, app.verbose));
    fresh.program = app.program;
    app.onClose(() => fresh.close());
    return fresh;
  }
  const upstream = new Upstream({
    async connect() {
      const fresh = freshApp();
      return openService(fresh, { demoMode: 'mcp', client: retryLimits(fresh) });
    },
    storedTools: () => cachedTools(freshApp()),
    storedCapabilities: () => cachedCapabilities(freshApp()),
    supportsMcp: () => app.globals.demo === true || supportsMcp(freshApp()),
    hintFor: (error) =>
      context.env.RESTAURANT_BUNDLE !== undefined && FIXED_BY_LOGIN.includes(error.code)
        ? BUNDLE_HINT
        : hintOf(app, agentHint(error, login)),
    context,
  });
  await serveStdio(context, upstream, (fault) => {
    void app.trace(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
  });
}

/**
 * Returns the hint of an error for users of an agent, which may not have the environment of a shell.
 * @param login the command that saves a key
 */
export function agentHint({ code, hint, details }: AppError, login: string): Hint {
  const { retryAfter } = details;
  if (code === 'no_key') {
    return `run ${login} in a terminal, then try again: the bridge uses the saved login (some agents do not pass variables named KEY or TOKEN to the programs they start)`;
  }
  if (code === 'rate_limited' && retryAfter !== undefined) {
    return `try again in ${formatDuration(retryAfter * 1000)}; restaurant status shows the quota`;
  }
  if (details.hint !== undefined) return hint;
  if (code === 'timeout') return 'use restaurant mcp --timeout 2m as the command of the MCP client';
  return code === 'bad_response'
    ? 'restaurant status --check tests the service; restaurant mcp --verbose logs each request on stderr'
    : hint;
}

/** Default maximum wait of a call for a rate limit, ms. Hosts abort a call after 60 s. */
const MAX_RATE_LIMIT_WAIT_MS = 15_000;

/** Returns the limits for retries. The default is one retry, so that there is at most one wait. */
function retryLimits({ settings }: App): { maxWaitMs: number; retries: number } {
  const { value: maxWaitMs, source } = settings.resolve('max-wait');
  const { value: retries, source: retriesSource } = settings.resolve('retries');
  return {
    maxWaitMs: source === 'flag' ? maxWaitMs : Math.min(maxWaitMs, MAX_RATE_LIMIT_WAIT_MS),
    retries: retriesSource === 'default' ? 1 : retries,
  };
}

const discard: Output = { write: async () => {}, isTTY: false, columns: 80 };

/** Returns a context whose stdout is only used for messages, and whose stderr is only used for the trace of --verbose. */
const quiet = (context: Context, verbose: boolean): Context => ({
  ...context,
  stdout: discard,
  stderr: verbose ? context.stderr : discard,
});

/**
 * Serves MCP on stdin and stdout until stdin is closed.
 * @throws {PipeClosed} if the host stops reading; the reason of the context's signal
 */
async function serveStdio(
  { stdin, stdout, sleep, signal }: Context,
  upstream: Upstream,
  onFault: (fault: unknown) => void,
): Promise<void> {
  const broken = new AbortController();
  // Messages are written one at a time, in the order in which they were sent.
  let written: Promise<void> = Promise.resolve();
  function send(message: unknown): void {
    written = written.then(() => stdout.write(toLine(message)));
    written.catch((error: unknown) => broken.abort(error));
  }
  const bridge = new Bridge({ upstream, sleep, send, onFault });

  async function readAll(): Promise<void> {
    for await (const line of readLines(stdin.chunks())) bridge.receive(line);
    await within(bridge.idle(), DRAIN_MS, sleep);
    bridge.stop(
      new AppError('interrupted', 'the host closed the connection before the service responded', {
        hint: 'try again; restaurant status --check shows how long the service takes',
      }),
    );
    await bridge.idle();
    await written;
  }

  try {
    await untilAborted(readAll(), AbortSignal.any([signal, broken.signal]));
  } catch (error) {
    bridge.stop(new AppError('interrupted', 'the bridge was stopped'));
    throw error;
  }
}

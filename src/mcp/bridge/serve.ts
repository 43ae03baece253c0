import { supportsMcp } from '../../app/address.ts';
import { App } from '../../app/app.ts';
import { currentKeyHint, loginCommand } from '../../app/credentials.ts';
import { factHint, hintFor } from '../../app/error-hint.ts';
import { hintLine } from '../../app/hint-line.ts';
import { cachedCapabilities, cachedTools } from '../../app/responses.ts';
import { openService } from '../../app/service.ts';
import { StoredTools } from '../../app/tool-list.ts';
import type { Context, OutputStream } from '../../context.ts';
import { AppError, type Code, failure } from '../../errors.ts';
import { type Command, type Hint, restaurant, slot } from '../../hint.ts';
import { untilAborted, within } from '../../util/async.ts';
import { formatDuration } from '../../util/format.ts';
import type { Bounds } from './bounds.ts';
import { Bridge } from './bridge.ts';
import { readLines, toLine } from './framing.ts';
import type { MethodOptions } from './methods.ts';
import { FIXED_BY_LOGIN, Upstream } from './upstream.ts';

const DRAIN_MS = 5000;

/** For users of the bundle for Claude Desktop, who have no command line. */
const BUNDLE_HINT: Hint = {
  text: 'change the address and the API key in the settings of the extension',
};

export async function serveBridge(app: App, bounds: Bounds): Promise<void> {
  const { context } = app;
  if (context.stdin.isTTY) {
    await app.notes.note([
      { text: 'an MCP client starts this command (Ctrl-D ends)' },
      { text: 'to configure one', command: restaurant('mcp', 'config', slot('client')) },
    ]);
  }
  const login = loginCommand(app);
  function freshApp(): App {
    const fresh = new App(quiet(context, app.terminal.verbose));
    fresh.program = app.program;
    return fresh;
  }
  const upstream = new Upstream({
    async connect() {
      const fresh = freshApp();
      app.cleanup.add(() => fresh.cleanup.run());
      const service = await openService(fresh, { demoMode: 'mcp', client: retryLimits(fresh) });
      return { client: () => service.client(), tools: new StoredTools(service) };
    },
    stored() {
      const fresh = freshApp();
      const isMcp = app.globals.demo === true || supportsMcp(fresh);
      return { tools: cachedTools(fresh), capabilities: cachedCapabilities(fresh), isMcp };
    },
    hintFor(error) {
      const isBundle = context.env.RESTAURANT_BUNDLE !== undefined;
      if (isBundle && FIXED_BY_LOGIN.includes(error.code)) return BUNDLE_HINT;
      const keyHint = error.code === 'unauthorized' ? currentKeyHint(app) : undefined;
      return { text: hintLine(app, agentHint(error, login, keyHint)) };
    },
    context,
  });
  await serveStdio(context, { upstream, bounds }, (fault) => {
    void app.notes.trace(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
  });
}

const SERVICE_FAULTS: readonly Code[] = ['rpc_error', 'tool_error', 'bad_response'];
const TEST_SERVICE: Hint = [
  { text: 'test the service', command: restaurant('status', '--check') },
  { text: 'log each request on stderr', command: restaurant('mcp', '--verbose') },
];

export function agentHint(error: AppError, login: Command, keyHint?: Hint): Hint {
  const { code, details } = error;
  const { retryAfter } = details;
  if (code === 'no_key') {
    return [
      { text: 'log in at a terminal, then try again', command: login },
      {
        text: 'the bridge uses the saved login (some agents do not pass variables named KEY or TOKEN to the programs they start)',
      },
    ];
  }
  if (code === 'rate_limited' && retryAfter !== undefined) {
    return [
      { text: `try again in ${formatDuration(retryAfter * 1000)}` },
      { text: 'see the quota', command: restaurant('status') },
    ];
  }
  const hint = factHint(error) ?? keyHint;
  if (hint !== undefined) return hint;
  if (code === 'timeout') {
    return { text: 'as the command of the MCP client, use', command: restaurant('mcp', '--timeout', '2m') };
  }
  return SERVICE_FAULTS.includes(code) ? TEST_SERVICE : hintFor(error);
}

/** Default maximum wait of a call for a rate limit, ms. Hosts abort a call after 60 s. */
const MAX_RATE_LIMIT_WAIT_MS = 15_000;

function retryLimits({ settings }: App): { maxWaitMs: number; retries: number } {
  const { value: maxWaitMs, source } = settings.resolve('max-wait');
  const { value: retries, source: retriesSource } = settings.resolve('retries');
  return {
    maxWaitMs: source === 'flag' ? maxWaitMs : Math.min(maxWaitMs, MAX_RATE_LIMIT_WAIT_MS),
    retries: retriesSource === 'default' ? 1 : retries,
  };
}

const discard: OutputStream = { write: async () => {}, isTTY: false, columns: 80 };

const quiet = (context: Context, verbose: boolean): Context => ({
  ...context,
  stdout: discard,
  stderr: verbose ? context.stderr : discard,
});

/** @throws {PipeClosed} if the host stops reading; the reason of the context's signal */
async function serveStdio(
  { stdin, stdout, now, sleep, signal }: Context,
  served: Pick<MethodOptions, 'upstream' | 'bounds'>,
  onFault: (fault: unknown) => void,
): Promise<void> {
  const broken = new AbortController();
  // Messages are written one at a time, in the order in which they were sent.
  let written: Promise<void> = Promise.resolve();
  function send(message: unknown): void {
    written = written.then(() => stdout.write(toLine(message)));
    written.catch((error: unknown) => broken.abort(error));
  }
  const bridge = new Bridge({ ...served, context: { now, sleep }, send, onFault });

  async function readAll(): Promise<void> {
    for await (const line of readLines(stdin.chunks())) bridge.receive(line);
    await within(bridge.idle(), DRAIN_MS, sleep);
    bridge.stop(
      failure('interrupted', 'the host closed the connection before the service responded', [
        { text: 'try again' },
        { text: 'see how long the service takes', command: restaurant('status', '--check') },
      ]),
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

import type { TraceEvent } from '../client/http/transport.ts';
import { type Client, type ClientOptions, createClient } from '../client/restaurant.ts';
import { AppError } from '../errors.ts';
import type { Ledger } from '../storage/ledger.ts';
import { maskUrl } from '../util/url.ts';
import { openProtocolMemory } from './address.ts';
import type { App } from './app.ts';
import { traceContextOf } from './credentials.ts';
import { type QuotaOptions, requestCounter, waitReporter, warnOf } from './quota.ts';
import { clientSettings, type Target } from './target.ts';

export interface OpenClientOptions extends QuotaOptions {
  readonly signal?: AbortSignal;
  /** Client options that override the settings; `onRequest` is called after a request is counted. */
  readonly client?: Partial<Pick<ClientOptions, 'maxWaitMs' | 'retries' | 'onRequest' | 'trace'>>;
  /** False hides the requests and responses, even with --verbose. */
  readonly traced?: boolean;
}

/** Creates the client of a run, which counts its requests. It is closed when the run ends. */
export async function openClient(
  app: App,
  target: Target,
  ledger: Ledger,
  options: OpenClientOptions,
): Promise<Client> {
  const { context: ofRun, globals, paths } = app;
  const { url, key } = target;
  const { trace, onRequest, ...overrides } = options.client ?? {};
  const isShown = app.terminal.verbose && options.traced !== false;
  const context = { ...ofRun, signal: options.signal ?? ofRun.signal };
  const onWaiting = waitReporter(app, options);
  const count = await requestCounter(app, ledger, context.signal, onWaiting, options);
  const client = createClient({
    endpoint: url,
    apiKey: key === '' ? undefined : key,
    headers: target.headers,
    traceContext: traceContextOf(context.env),
    insecureHttp: globals.insecureHttp === true,
    ...clientSettings(app),
    ...overrides,
    context,
    // The service may know other keys of the user, such as that of another profile.
    mask: (text) => app.secrets.mask(text),
    async onRequest() {
      const takeBack = await count();
      await onRequest?.();
      return takeBack;
    },
    onRateLimited: (until) => ledger.pauseUntil(until),
    onWait: ({ ms, error }) => onWaiting({ until: context.now() + ms, why: error.message }),
    ...(target.isUnboundKey === true && { onAccepted: () => bindKey(app, target) }),
    ...((isShown || trace !== undefined) && {
      trace(event: TraceEvent) {
        trace?.(event);
        if (isShown) showExchange(app, event);
      },
    }),
    ...(!target.demo && {
      protocolMemory: openProtocolMemory(paths.stateDir, url.href, warnOf(app, options)),
    }),
  });
  app.cleanup.add(() => client.close());
  return client;
}

/** The key or its command was saved without a service: binds it to the first one that accepts it. */
function bindKey(app: App, { url, key }: Target): void {
  app.cleanup.add(async () => {
    try {
      await app.config.update((file) => {
        const profile = file.profiles?.[app.settings.profileName];
        const isKey = profile?.key === key || typeof profile?.key_command === 'string';
        if (profile !== undefined && isKey) profile.key_origin ??= url.origin;
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      void app.notes.warn(`the saved key is not bound to a service: ${error.message}`);
    }
  });
}

/** Maximum number of characters of a body that --verbose shows. */
const MAX_BODY = 4000;

/** Prints a part of the exchange on stderr, as `curl -v` does: `>` sent, `<` received, `*` notes. */
function showExchange(app: App, event: TraceEvent): void {
  const show = (mark: string, text: string): void => {
    const cut = text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}… (${text.length} characters)` : text;
    for (const line of cut.split(/\r?\n/)) void app.notes.trace(`${mark} ${line}`);
  };
  if (event.kind === 'body' || event.kind === 'note') {
    show(event.kind === 'body' ? '<' : '*', event.text);
    return;
  }
  const mark = event.kind === 'request' ? '>' : '<';
  if (event.kind === 'request') show(mark, `${event.method} ${maskUrl(event.url)}`);
  else show(mark, `${event.status} ${event.statusText}`.trim());
  for (const [name, value] of event.headers) show(mark, `${name}: ${value}`);
  if (event.kind === 'request' && event.body !== undefined) show(mark, event.body);
}

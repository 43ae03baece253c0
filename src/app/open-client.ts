import type { TraceEvent } from '../client/http/transport.ts';
import { type Client, type ClientOptions, createClient } from '../client/restaurant.ts';
import { AppError } from '../errors.ts';
import type { Ledger } from '../storage/ledger.ts';
import { openProtocolMemory } from './address.ts';
import type { App } from './app.ts';
import { type QuotaOptions, requestCounter, waitReporter, warnOf } from './quota.ts';
import { traceContextOf } from './request-headers.ts';
import { clientSettings, type Target } from './target.ts';

export interface OpenClientOptions extends QuotaOptions {
  readonly signal?: AbortSignal;
  /** Client options that override the settings; `onRequest` is called after a request is counted. */
  readonly client?: Partial<
    Pick<ClientOptions, 'protocol' | 'maxWaitMs' | 'retries' | 'onRequest' | 'trace'>
  >;
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
  const { context: shared, globals, paths } = app;
  const { url, key } = target;
  const { trace, onRequest, ...overrides } = options.client ?? {};
  const isShown = app.terminal.verbose && options.traced !== false;
  const show = isShown ? (await import('./show-exchange.ts')).showExchange : undefined;
  const context = { ...shared, signal: options.signal ?? shared.signal };
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
    async onRequest() {
      await count();
      await onRequest?.();
    },
    onRefused: () => ledger.release(),
    onRateLimited: (until) => ledger.pauseUntil(until),
    onWait: ({ ms, error }) => onWaiting({ until: context.now() + ms, why: error.message }),
    ...(target.isUnboundKey === true && { onAccepted: () => bindKey(app, target) }),
    ...((trace ?? show) !== undefined && {
      trace(event: TraceEvent) {
        trace?.(event);
        show?.(app, event);
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
        const isKey = profile?.key?.trim() === key || typeof profile?.key_command === 'string';
        if (profile !== undefined && isKey) profile.key_origin ??= url.origin;
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      void app.notes.warn(`the saved key is not bound to a service: ${error.message}`);
    }
  });
}

import { type FindResult, findResult } from '../client/find-result.ts';
import { proxyFor } from '../client/http/proxy.ts';
import type { TraceEvent } from '../client/http/transport.ts';
import type { Client, ClientOptions } from '../client/restaurant.ts';
import type { OutputOptions } from '../client/results.ts';
import type { FindQuery, Level, LookupOutput, Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { Ledger } from '../storage/ledger.ts';
import { openProtocolStore } from '../storage/state.ts';
import type { JsonObject } from '../util/object.ts';
import { supportsMcp } from './address.ts';
import type { App } from './app.ts';
import { DEMO } from './last-results.ts';
import {
  NO_LIMITS,
  openLedgerFor,
  type QuotaOptions,
  quotaLimits,
  requestCounter,
  waitReporter,
  warnOf,
} from './quota.ts';
import {
  CAPABILITIES,
  openLocalCache,
  openStoredResponses,
  type StoredResponses,
  TOOL_LIST,
} from './responses.ts';
import { clientSettings, type DemoMode, openTarget, type Target, traceContextOf } from './target.ts';

/** A value with its JSON text, in which numbers have all their digits. */
export interface Received<T> {
  readonly value: T;
  readonly text: string;
}

/** The service as commands use it: a client with a response cache and a request counter. */
export interface Service {
  /** Opens the client on first use. Cached responses do not need it. */
  client(): Promise<Client>;
  /** Host of the service, for messages. */
  readonly label: string;
  /** Opens the request ledger on first use. */
  ledger(): Promise<Ledger>;
  find(query: FindQuery): Promise<{ answer: FindResult; text: string; cachedAt?: number }>;
  lookup(id: string, level: Level): Promise<{ output: LookupOutput; text: string; cachedAt?: number }>;
  /** Makes any other call. With --max-age it may come from the cache, and is stored if `shouldStore` agrees. */
  cached<T extends object>(
    name: string,
    args: JsonObject,
    send: (options: OutputOptions) => Promise<T>,
    shouldStore?: (value: T) => boolean,
  ): Promise<Received<T>>;
  /** Lists all tools, without the cache. */
  listTools(): Promise<readonly Tool[]>;
  /** Returns the tools: cached ones within --max-age, unless `refresh` is set. */
  getTools(refresh?: boolean): Promise<ToolCatalog>;
  /** Returns the capabilities of the MCP server, at most a day old; `{}` unless the service is known to support MCP. */
  capabilities(): Promise<JsonObject>;
}

export interface ToolCatalog {
  /** Undefined if the service does not list its tools. */
  readonly tools: readonly Tool[] | undefined;
  readonly fromCache: boolean;
}

/** Options for opening a service, in addition to the settings. */
export interface ServiceOptions extends QuotaOptions {
  readonly demoMode?: DemoMode;
  /** Aborts all requests. Default: the signal of the run. */
  readonly signal?: AbortSignal;
  /** The target, if it is already open. */
  readonly target?: Target;
  readonly stored?: StoredResponses;
  /** Client options that override the settings; `onRequest` is called after a request is counted. */
  readonly client?: Partial<
    Pick<ClientOptions, 'protocol' | 'maxWaitMs' | 'retries' | 'onRequest' | 'trace'>
  >;
  /** False hides the requests and responses, even with --verbose. */
  readonly traced?: boolean;
}

/** Opens the service of this run. It is closed when the run ends. @throws {AppError} as {@link openTarget} */
export async function openService(app: App, options: ServiceOptions = {}): Promise<Service> {
  const target = options.target ?? (await openTarget(app, options.demoMode));
  // Report invalid settings now: by the time the client and the ledger are opened, output may already be written.
  const settings = clientSettings(app);
  const limits = target.demo ? NO_LIMITS : (options.limits ?? quotaLimits(app));
  proxyFor(target.url, app.context.env);
  if (target.url.protocol === 'https:' && app.context.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    void app.notes.warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: the certificate of the service is verified',
    );
  }
  const stored = options.stored ?? (await openStoredResponses(app, target));
  let openedLedger: Promise<Ledger> | undefined;
  const ledger = () => (openedLedger ??= openLedgerFor(app, target, limits, options.warn));
  let openedClient: Promise<Client> | undefined;
  const client = () =>
    (openedClient ??= ledger().then((opened) => openClient(app, target, opened, settings, options)));

  /** Sends a call and masks keys in what it returns. */
  async function receive<T>(send: (options: OutputOptions) => Promise<T>): Promise<Received<T>> {
    let received: string | undefined;
    const value = await send({
      onText(text) {
        received = text;
      },
    });
    const text = received ?? JSON.stringify(value);
    const masked = app.secrets.mask(text);
    return masked === text ? { value, text } : { value: JSON.parse(masked), text: masked };
  }

  async function throughCache<T extends object>(
    tool: string,
    args: JsonObject,
    send: (options: OutputOptions) => Promise<T>,
    shouldStore: (value: T) => boolean = () => true,
  ): Promise<Received<T> & { cachedAt?: number }> {
    const found = await stored.get(tool, args);
    if (found !== undefined) {
      // Formatting a date loads the time zone.
      if (app.terminal.verbose)
        await app.notes.trace(`* response from the cache, stored at ${new Date(found.at).toISOString()}`);
      // The entry belongs to the same call, so it has the type that the call returned.
      return { value: found.value as T, text: found.text, cachedAt: found.at };
    }
    let isStored = false;
    try {
      const received = await receive(send);
      isStored = shouldStore(received.value);
      if (isStored) await stored.put(tool, args, received.text);
      return received;
    } finally {
      if (!isStored) await stored.release(tool, args);
    }
  }

  return {
    client,
    label: target.demo ? DEMO : target.url.host,
    ledger,
    async find(query) {
      const { value, ...more } = await throughCache('find_restaurant', { ...query }, async (options) => {
        const { output } = await (await client()).find(query, options);
        return output;
      });
      return { answer: findResult(value), ...more };
    },
    async lookup(id, level) {
      const args = { restaurant_id: id, fields: level };
      const { value, ...more } = await throughCache('lookup_restaurant', args, async (options) =>
        (await client()).lookup(id, level, options),
      );
      return { output: value, ...more };
    },
    async cached(name, args, send, shouldStore) {
      const { value: maxAgeMs, source } = app.settings.resolve('max-age');
      if (source !== 'flag' || maxAgeMs === 0) return receive(send);
      return throughCache(name, args, send, shouldStore);
    },
    ...toolsOf(app, client, target),
  };
}

/** HTTP statuses with which services reject an unknown method. Such a service may still have tools. */
const NO_SUCH_METHOD: readonly unknown[] = [400, 404, 405, 406, 415, 422, 501];
const CAPABILITIES_TTL_MS = 86_400_000;

/** The tools of a service and the capabilities of its server, cached on this machine. */
function toolsOf(
  app: App,
  client: Service['client'],
  target: Target,
): Pick<Service, 'listTools' | 'getTools' | 'capabilities'> {
  const cache = () => openLocalCache(app, target);

  async function listTools(): Promise<readonly Tool[]> {
    const tools = await (await client()).listTools();
    cache().put(TOOL_LIST, {}, JSON.stringify({ tools }));
    return tools;
  }

  return {
    listTools,
    async getTools(refresh = false) {
      const found = cache().get(TOOL_LIST, {}, refresh ? 0 : app.settings.get('max-age'));
      if (found !== undefined) {
        return { tools: (found.value as { tools?: readonly Tool[] }).tools, fromCache: true };
      }
      try {
        return { tools: await listTools(), fromCache: false };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // The method was rejected, not the caller. If the URL is wrong, the call itself will report that.
        if (error.code === 'rpc_error') cache().put(TOOL_LIST, {}, '{}');
        else if (!NO_SUCH_METHOD.includes(error.details.status)) throw error;
        return { tools: undefined, fromCache: false };
      }
    },
    async capabilities() {
      if (!target.demo && supportsMcp(app) !== true) return {};
      const found = cache().get(CAPABILITIES, {}, CAPABILITIES_TTL_MS);
      if (found !== undefined) return found.value as JsonObject;
      const capabilities = await (await client()).capabilities();
      cache().put(CAPABILITIES, {}, JSON.stringify(capabilities));
      return capabilities;
    },
  };
}

/** Opens a client with this run's settings. It is closed when the run ends. */
async function openClient(
  app: App,
  target: Target,
  ledger: Ledger,
  settings: ReturnType<typeof clientSettings>,
  options: ServiceOptions,
): Promise<Client> {
  const { createClient } = await import('../client/restaurant.ts');
  const { context: shared, globals, paths } = app;
  const { url, key } = target;
  const { trace, onRequest, ...overrides } = options.client ?? {};
  const show =
    app.terminal.verbose && options.traced !== false ? (await import('./trace.ts')).showExchange : undefined;
  const context = { ...shared, signal: options.signal ?? shared.signal };
  const onWaiting = waitReporter(app, options);
  const count = await requestCounter(app, ledger, context.signal, onWaiting, options);
  const client = createClient({
    endpoint: url,
    apiKey: key === '' ? undefined : key,
    headers: target.headers,
    traceContext: traceContextOf(context.env),
    insecureHttp: globals.insecureHttp === true,
    ...settings,
    ...overrides,
    context,
    async onRequest() {
      await count();
      await onRequest?.();
    },
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
      protocolMemory: openProtocolStore(paths.stateDir, url.href, warnOf(app, options)),
    }),
  });
  app.cleanup.add(() => client.close());
  return client;
}

/** Binds a key that was saved without a service to this service. */
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

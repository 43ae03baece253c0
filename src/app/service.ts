import { proxyFor } from '../client/http/proxy.ts';
import type { TraceEvent } from '../client/http/transport.ts';
import type { Client, ClientOptions } from '../client/restaurant.ts';
import type { Caching, OutputOptions } from '../client/results.ts';
import type { ServiceTool } from '../client/tools.ts';
import type { Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { again } from '../hint.ts';
import type { Ledger, Limits } from '../storage/ledger.ts';
import { openProtocolStore } from '../storage/state.ts';
import type { JsonObject } from '../util/json.ts';
import type { App } from './app.ts';
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
import {
  clientSettings,
  DEMO,
  type DemoMode,
  openTarget,
  supportsMcp,
  type Target,
  traceContextOf,
} from './target.ts';

/** A value with its JSON text, in which numbers have all their digits. */
export interface Received<T> {
  readonly value: T;
  readonly text: string;
  /** When it was stored, if it is from the cache, ms since the epoch. */
  readonly cachedAt?: number;
}

interface CachedCall<T> {
  readonly name: string;
  readonly args: JsonObject;
  send(options: OutputOptions): Promise<T>;
  parse(json: unknown): T;
  /** Default: every response is stored. */
  shouldStore?(value: T): boolean;
}

interface StoredTools {
  readonly tools?: readonly Tool[];
  readonly caching?: Caching;
}

export interface ToolCatalog {
  /** Undefined if the service does not list its tools. */
  readonly tools: readonly Tool[] | undefined;
  readonly caching: Caching;
  /** When the service sent them, ms since the epoch. */
  readonly at: number;
  readonly fromCache: boolean;
}

export interface ServiceOptions extends QuotaOptions {
  readonly demoMode?: DemoMode;
  readonly signal?: AbortSignal;
  readonly target?: Target;
  readonly stored?: StoredResponses;
  /** Sends every request, and stores the responses. */
  readonly fresh?: boolean;
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
  const { fresh = false } = options;
  const stored = options.stored ?? (await openStoredResponses(app, target, { fresh }));
  return new Service(app, target, stored, { ...options, limits, settings });
}

/** HTTP statuses with which services reject an unknown method. Such a service may still have tools. */
const NO_SUCH_METHOD: readonly unknown[] = [400, 404, 405, 406, 415, 422, 501];
const CAPABILITIES_TTL_MS = 86_400_000;

type CheckedOptions = ServiceOptions & {
  readonly limits: Limits;
  readonly settings: ReturnType<typeof clientSettings>;
};

/** The service as commands use it: a client with a response cache and a request counter. */
export class Service {
  readonly #app: App;
  readonly #target: Target;
  readonly #stored: StoredResponses;
  readonly #options: CheckedOptions;
  #ledger: Promise<Ledger> | undefined;
  #client: Promise<Client> | undefined;
  /** When the oldest response was stored that --offline has used. */
  #oldest: number | undefined;

  constructor(app: App, target: Target, stored: StoredResponses, options: CheckedOptions) {
    this.#app = app;
    this.#target = target;
    this.#stored = stored;
    this.#options = options;
  }

  get label(): string {
    return this.#target.demo ? DEMO : this.#target.url.host;
  }

  ledger(): Promise<Ledger> {
    const { limits, warn } = this.#options;
    this.#ledger ??= openLedgerFor(this.#app, this.#target, limits, warn);
    return this.#ledger;
  }

  /** @throws {AppError} `network` with --offline */
  async client(): Promise<Client> {
    if (this.#isOffline) throw notCached();
    this.#client ??= this.ledger().then((ledger) =>
      openClient(this.#app, this.#target, ledger, this.#options),
    );
    return this.#client;
  }

  /** Calls a tool of the table. A response to a `read` may come from the cache. */
  call<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const call: CachedCall<Result> = {
      name: tool.definition.name,
      args: tool.args(query),
      send: async (options) => (await this.client()).call(tool, query, options),
      parse: tool.parse,
    };
    return tool.effect === 'read' ? this.#throughCache(call) : this.#receive(call);
  }

  /** Makes any other call. Only with --max-age may its response come from the cache. */
  callAny<T>(call: Omit<CachedCall<T>, 'parse'>): Promise<Received<T>> {
    const { value: maxAgeMs, source } = this.#app.settings.resolve('max-age');
    // An entry belongs to the same call, so it has the type that the call returned.
    const typed: CachedCall<T> = { ...call, parse: (json) => json as T };
    const isUncached = !this.#isOffline && (source !== 'flag' || maxAgeMs === 0);
    return isUncached ? this.#receive(typed) : this.#throughCache(typed);
  }

  /** Lists all tools, without the cache. */
  async listTools(): Promise<readonly Tool[]> {
    return (await this.#fetchTools()).tools;
  }

  async #fetchTools(): Promise<Required<StoredTools>> {
    let caching: Caching = {};
    const tools = await (await this.client()).listTools({
      onCaching: (received) => {
        caching = received;
      },
    });
    this.#localCache().put(TOOL_LIST, {}, JSON.stringify({ tools, caching }));
    return { tools, caching };
  }

  async getTools(refresh = false): Promise<ToolCatalog> {
    const { now } = this.#app.context;
    const usual = this.#isOffline ? Number.POSITIVE_INFINITY : this.#app.settings.get('max-age');
    const maxAgeMs = refresh ? 0 : usual;
    const found = this.#localCache().get(TOOL_LIST, {}, maxAgeMs);
    if (found !== undefined) {
      const { tools, caching = {} } = found.value as StoredTools;
      return { tools, caching, at: found.at, fromCache: true };
    }
    try {
      return { ...(await this.#fetchTools()), at: now(), fromCache: false };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // The method was rejected, not the caller. If the URL is wrong, the call itself will report that.
      if (error.code === 'rpc_error') this.#localCache().put(TOOL_LIST, {}, '{}');
      else if (!NO_SUCH_METHOD.includes(error.details.status)) throw error;
      return { tools: undefined, caching: {}, at: now(), fromCache: false };
    }
  }

  /** Returns the capabilities of the MCP server, at most a day old; `{}` unless the service is known to support MCP. */
  async capabilities(): Promise<JsonObject> {
    if (!this.#target.demo && supportsMcp(this.#app) !== true) return {};
    const found = this.#localCache().get(CAPABILITIES, {}, CAPABILITIES_TTL_MS);
    if (found !== undefined) return found.value as JsonObject;
    const capabilities = await (await this.client()).capabilities();
    this.#localCache().put(CAPABILITIES, {}, JSON.stringify(capabilities));
    return capabilities;
  }

  get #isOffline(): boolean {
    return this.#app.globals.offline === true;
  }

  /** At the end of the run, the note gives the age of the oldest response. */
  #noteOffline(at: number): void {
    const { context, cleanup, notes } = this.#app;
    if (this.#oldest === undefined) {
      cleanup.add(async () => {
        const { shortTime } = await import('../util/format.ts');
        await notes.note(`offline: from the cache, stored ${shortTime(this.#oldest ?? at, context.now())}`);
      });
    }
    this.#oldest = Math.min(this.#oldest ?? at, at);
  }

  #localCache() {
    return openLocalCache(this.#app, this.#target);
  }

  async #throughCache<T>(call: CachedCall<T>): Promise<Received<T>> {
    const { name, args, parse, shouldStore } = call;
    const found = await this.#stored.get(name, args);
    if (found !== undefined) {
      // Formatting a date loads the time zone.
      if (this.#app.terminal.verbose)
        await this.#app.notes.trace(
          `* response from the cache, stored at ${new Date(found.at).toISOString()}`,
        );
      if (this.#isOffline) this.#noteOffline(found.at);
      return { value: parse(found.value), text: found.text, cachedAt: found.at };
    }
    let isStored = false;
    try {
      const received = await this.#receive(call);
      isStored = shouldStore?.(received.value) ?? true;
      if (isStored) await this.#stored.put(name, args, received.text);
      return received;
    } finally {
      if (!isStored) await this.#stored.release(name, args);
    }
  }

  async #receive<T>({ send, parse }: CachedCall<T>): Promise<Received<T>> {
    const texts: string[] = [];
    const value = await send({ onText: (text) => texts.push(text) });
    const [text = JSON.stringify(value)] = texts;
    const masked = this.#app.secrets.mask(text);
    return masked === text ? { value, text } : { value: parse(JSON.parse(masked)), text: masked };
  }
}

const notCached = (): AppError =>
  new AppError('network', 'no cached response, and --offline sends no request', {
    retryable: false,
    hint: { text: 'to send it', command: again({}, { without: ['--offline'] }) },
  });

async function openClient(
  app: App,
  target: Target,
  ledger: Ledger,
  options: CheckedOptions,
): Promise<Client> {
  const { createClient } = await import('../client/restaurant.ts');
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
    ...options.settings,
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
      protocolMemory: openProtocolStore(paths.stateDir, url.href, warnOf(app, options)),
    }),
  });
  app.cleanup.add(() => client.close());
  return client;
}

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

import { proxyFor } from '../client/http/proxy.ts';
import type { Client } from '../client/restaurant.ts';
import type { OutputOptions } from '../client/results.ts';
import type { ServiceTool } from '../client/tools.ts';
import { AppError } from '../errors.ts';
import { again } from '../hint.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { JsonObject } from '../util/json.ts';
import type { App } from './app.ts';
import type { OpenClientOptions } from './open-client.ts';
import { NO_LIMITS, openLedgerFor, quotaLimits } from './quota.ts';
import { openStoredResponses, type StoredResponses } from './responses.ts';
import { clientSettings, DEMO, type DemoMode, openTarget, type Target } from './target.ts';

/** A value with its JSON text, in which numbers have all their digits. */
export interface Received<T> {
  readonly value: T;
  readonly text: string;
  /** When it was stored, if it is from the cache, ms since the epoch. */
  readonly cachedAt?: number;
}

/** A call of something else than a tool of the table. */
interface AnyCall<T> {
  readonly name: string;
  readonly args: JsonObject;
  send(options: OutputOptions): Promise<T>;
  /** Default: every response is stored. */
  shouldStore?(value: T): boolean;
}

export interface ServiceOptions extends OpenClientOptions {
  readonly demoMode?: DemoMode;
  readonly target?: Target;
  readonly stored?: StoredResponses;
  /** Sends every request, and stores the responses. */
  readonly fresh?: boolean;
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

type CheckedOptions = ServiceOptions & {
  readonly limits: NonNullable<ServiceOptions['limits']>;
  readonly settings: ReturnType<typeof clientSettings>;
};

/** The service as commands use it: a client with a response cache and a request counter. */
export class Service {
  readonly app: App;
  readonly target: Target;
  readonly #stored: StoredResponses;
  readonly #options: CheckedOptions;
  #ledger: Promise<Ledger> | undefined;
  #client: Promise<Client> | undefined;

  constructor(app: App, target: Target, stored: StoredResponses, options: CheckedOptions) {
    this.app = app;
    this.target = target;
    this.#stored = stored;
    this.#options = options;
  }

  get label(): string {
    return this.target.demo ? DEMO : this.target.url.host;
  }

  ledger(): Promise<Ledger> {
    const { limits, warn } = this.#options;
    this.#ledger ??= openLedgerFor(this.app, this.target, limits, warn);
    return this.#ledger;
  }

  /** @throws {AppError} `network` with --offline */
  async client(): Promise<Client> {
    if (this.app.globals.offline === true) throw notCached();
    this.#client ??= this.ledger().then(async (ledger) => {
      const { openClient } = await import('./open-client.ts');
      return openClient(this.app, this.target, ledger, this.#options);
    });
    return this.#client;
  }

  /** Calls a tool of the table. The response to a `read` may come from the cache. */
  async call<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const { definition, parse } = tool;
    const entry = { name: definition.name, args: tool.args(query), isCached: tool.effect === 'read' };
    const found = await this.#cached(entry, parse);
    if (found !== undefined) return found;
    let stored: string | undefined;
    try {
      const texts: string[] = [];
      const client = await this.client();
      const value = await client.call(tool, query, { onText: (text) => texts.push(text) });
      const received = this.#masked(value, texts, parse);
      stored = received.text;
      return received;
    } finally {
      await this.#store(entry, stored);
    }
  }

  /** Makes any other call. Only with --max-age may its response come from the cache. */
  async callAny<T>({ name, args, send, shouldStore = () => true }: AnyCall<T>): Promise<Received<T>> {
    const { value: maxAgeMs, source } = this.app.settings.resolve('max-age');
    const isCached = this.app.globals.offline === true || (source === 'flag' && maxAgeMs !== 0);
    // An entry belongs to the same call, so it has the type that the call returned.
    const parse = (json: unknown) => json as T;
    const found = await this.#cached({ name, args, isCached }, parse);
    if (found !== undefined) return found;
    let stored: string | undefined;
    try {
      const texts: string[] = [];
      const received = this.#masked(await send({ onText: (text) => texts.push(text) }), texts, parse);
      if (shouldStore(received.value)) stored = received.text;
      return received;
    } finally {
      await this.#store({ name, args, isCached }, stored);
    }
  }

  async #cached<T>({ name, args, isCached }: Entry, parse: (json: unknown) => T) {
    const found = isCached ? await this.#stored.get(name, args) : undefined;
    return found && { value: parse(found.value), text: found.text, cachedAt: found.at };
  }

  /** @param text undefined if there is no response to store */
  async #store({ name, args, isCached }: Entry, text: string | undefined): Promise<void> {
    if (!isCached) return;
    if (text === undefined) await this.#stored.release(name, args);
    else await this.#stored.put(name, args, text);
  }

  #masked<T>(value: T, texts: readonly string[], parse: (json: unknown) => T): Received<T> {
    const [text = JSON.stringify(value)] = texts;
    const masked = this.app.secrets.mask(text);
    return masked === text ? { value, text } : { value: parse(JSON.parse(masked)), text: masked };
  }
}

/** A place in the cache, if the call may use it. */
interface Entry {
  readonly name: string;
  readonly args: JsonObject;
  readonly isCached: boolean;
}

const notCached = (): AppError =>
  new AppError('network', 'no cached response, and --offline sends no request', {
    retryable: false,
    hint: { text: 'to send it', command: again({}, { without: ['--offline'] }) },
  });

import type { Client } from '../client/restaurant.ts';
import type { OutputOptions } from '../client/results.ts';
import type { ServiceTool } from '../client/tools.ts';
import { AppError } from '../errors.ts';
import { again } from '../hint.ts';
import type { Ledger, Limits } from '../storage/ledger.ts';
import type { JsonObject } from '../util/json.ts';
import type { App } from './app.ts';
import type { OpenClientOptions } from './open-client.ts';
import { NO_LIMITS, openLedgerFor, quotaLimits } from './quota.ts';
import { NO_RESPONSES, openStoredResponses, type Received, type StoredResponses } from './responses.ts';
import { checkConnection, type DemoMode, openTarget, type Target } from './target.ts';

export interface ServiceOptions extends OpenClientOptions {
  readonly demoMode?: DemoMode;
  readonly target?: Target;
  readonly stored?: StoredResponses;
  /** Sends every request, and stores the responses. */
  readonly fresh?: boolean;
}

type CheckedOptions = ServiceOptions & { readonly limits: Limits };

interface ServiceCall<Result> {
  /** The name and the arguments of its stored response. */
  readonly name: string;
  readonly args: JsonObject;
  send(client: Client, output: OutputOptions): Promise<Result>;
  /** Default: every response. */
  shouldStore?(value: Result): boolean;
}

/** Opens the service of this run. It is closed when the run ends. @throws {AppError} as {@link openTarget} */
export async function openService(app: App, options: ServiceOptions = {}): Promise<Service> {
  const target = options.target ?? (await openTarget(app, options.demoMode));
  // Report invalid settings now: by the time the client and the ledger are opened, output may already be written.
  const limits = target.demo ? NO_LIMITS : (options.limits ?? quotaLimits(app));
  checkConnection(app, target.url);
  const stored = options.stored ?? (await openStoredResponses(app, target, options.fresh));
  return new Service(app, target, stored, { ...options, limits });
}

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

  ledger(): Promise<Ledger> {
    const { limits, warn } = this.#options;
    this.#ledger ??= openLedgerFor(this.app, this.target, limits, warn);
    return this.#ledger;
  }

  /** @throws {AppError} `network` with --offline */
  async client(): Promise<Client> {
    if (this.app.globals.offline === true)
      throw new AppError('network', 'no cached response, and --offline sends no request', {
        retryable: false,
        hint: { text: 'to send it', command: again({}, { without: ['--offline'] }) },
      });
    this.#client ??= this.ledger().then(async (ledger) => {
      const { openClient } = await import('./open-client.ts');
      return openClient(this.app, this.target, ledger, this.#options);
    });
    return this.#client;
  }

  /** Calls a tool of the table. The response to a `read` may come from the cache. */
  call<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const call: ServiceCall<Result> = {
      name: tool.definition.name,
      args: tool.args(query),
      send: (client, output) => client.call(tool, query, output),
    };
    return this.#answer(tool.effect === 'read' ? this.#stored : NO_RESPONSES, call, tool.parse);
  }

  /** Calls a tool by its name, or any method. Only with --max-age may the response come from the cache. */
  callAny<Result>(call: ServiceCall<Result>): Promise<Received<Result>> {
    const { globals, settings } = this.app;
    const { value: maxAgeMs, source } = settings.resolve('max-age');
    const isCached = globals.offline === true || (source === 'flag' && maxAgeMs !== 0);
    // An entry belongs to the same call, so it has the type that the call returned.
    return this.#answer(isCached ? this.#stored : NO_RESPONSES, call, (json) => json as Result);
  }

  async #answer<Result>(
    stored: StoredResponses,
    { name, args, send, shouldStore = () => true }: ServiceCall<Result>,
    parse: (json: unknown) => Result,
  ): Promise<Received<Result>> {
    const cached = await stored.get(name, args);
    if (cached !== undefined) return { value: parse(cached.value), text: cached.text, cachedAt: cached.at };
    let toStore: string | undefined;
    try {
      const texts: string[] = [];
      const value = await send(await this.client(), { onText: (each) => texts.push(each) });
      const [text = JSON.stringify(value)] = texts;
      if (shouldStore(value)) toStore = text;
      return { value, text };
    } finally {
      await (toStore === undefined ? stored.release(name, args) : stored.put(name, args, toStore));
    }
  }
}

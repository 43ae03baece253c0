import type { Client } from '../client/restaurant.ts';
import type { OutputOptions } from '../client/results.ts';
import type { ServiceTool } from '../client/tools.ts';
import { AppError } from '../errors.ts';
import { again } from '../hint.ts';
import type { Ledger, Limits } from '../storage/ledger.ts';
import type { App } from './app.ts';
import type { OpenClientOptions } from './open-client.ts';
import { NO_LIMITS, openLedgerFor, quotaLimits } from './quota.ts';
import {
  fromCache,
  NO_RESPONSES,
  openStoredResponses,
  type Received,
  received,
  type StoredEntry,
  type StoredResponses,
  storing,
} from './responses.ts';
import { checkConnection, type DemoMode, openTarget, type Target } from './target.ts';

export interface ServiceOptions extends OpenClientOptions {
  readonly demoMode?: DemoMode;
  readonly target?: Target;
  readonly stored?: StoredResponses;
  /** Sends every request, and stores the responses. */
  readonly fresh?: boolean;
}

type CheckedOptions = ServiceOptions & { readonly limits: Limits };

interface AnyCall<Result> extends StoredEntry {
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
  async call<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const { definition, effect, parse } = tool;
    const entry = { name: definition.name, args: tool.args(query) };
    const stored = effect === 'read' ? this.#stored : NO_RESPONSES;
    const cached = await stored.get(entry.name, entry.args);
    return cached === undefined ? storing(stored, entry, this.#send(tool, query)) : fromCache(cached, parse);
  }

  async #send<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const texts: string[] = [];
    const client = await this.client();
    return received(await client.call(tool, query, { onText: (each) => texts.push(each) }), texts);
  }

  /** Calls a tool by its name, or any method. Only with --max-age may the response come from the cache. */
  async callAny<Result>(call: AnyCall<Result>): Promise<Received<Result>> {
    const { globals, settings } = this.app;
    const { value: maxAgeMs, source } = settings.resolve('max-age');
    const isCached = globals.offline === true || (source === 'flag' && maxAgeMs !== 0);
    const stored = isCached ? this.#stored : NO_RESPONSES;
    const cached = await stored.get(call.name, call.args);
    // An entry belongs to the same call, so it has the type that the call returned.
    if (cached !== undefined) return fromCache(cached, (json) => json as Result);
    return storing(stored, call, this.#sendAny(call), call.shouldStore);
  }

  async #sendAny<Result>({ send }: AnyCall<Result>): Promise<Received<Result>> {
    const texts: string[] = [];
    return received(await send(await this.client(), { onText: (each) => texts.push(each) }), texts);
  }
}

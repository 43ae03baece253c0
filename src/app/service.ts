import type { Client } from '../client/restaurant.ts';
import type { ServiceTool } from '../client/tools.ts';
import type { Ledger, Limits } from '../storage/ledger.ts';
import type { App } from './app.ts';
import type { OpenClientOptions } from './open-client.ts';
import { NO_LIMITS, openLedgerFor, quotaLimits } from './quota.ts';
import {
  assertOnline,
  fromCache,
  fromClient,
  NO_RESPONSES,
  openStoredResponses,
  type Received,
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
  readonly stored: StoredResponses;
  readonly #options: CheckedOptions;
  #ledger: Promise<Ledger> | undefined;
  #client: Promise<Client> | undefined;

  constructor(app: App, target: Target, stored: StoredResponses, options: CheckedOptions) {
    this.app = app;
    this.target = target;
    this.stored = stored;
    this.#options = options;
  }

  ledger(): Promise<Ledger> {
    const { limits, warn } = this.#options;
    this.#ledger ??= openLedgerFor(this.app, this.target, limits, warn);
    return this.#ledger;
  }

  /** @throws {AppError} `network` with --offline */
  async client(): Promise<Client> {
    assertOnline(this.app);
    this.#client ??= this.ledger().then(async (ledger) => {
      const { openClient } = await import('./open-client.ts');
      return openClient(this.app, this.target, ledger, this.#options);
    });
    return this.#client;
  }

  /** Calls a tool of the table. The response to a `read` may come from the cache. */
  async call<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const { definition, parse } = tool;
    const [name, args] = [definition.name, tool.args(query)];
    const stored = tool.effect === 'read' ? this.stored : NO_RESPONSES;
    const cached = await stored.get(name, args);
    if (cached !== undefined) return fromCache(cached, parse);
    return storing(stored, [name, args], this.#send(tool, query));
  }

  async #send<Query, Result>(tool: ServiceTool<Query, Result>, query: Query): Promise<Received<Result>> {
    const texts: string[] = [];
    const client = await this.client();
    const value = await client.call(tool, query, { onText: (each) => texts.push(each) });
    return fromClient(value, texts);
  }
}

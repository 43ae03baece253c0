import type { Caching } from '../client/results.ts';
import type { Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { JsonObject } from '../util/json.ts';
import { supportsMcp } from './address.ts';
import { CAPABILITIES, openLocalCache, TOOL_LIST } from './responses.ts';
import type { Service } from './service.ts';

interface StoredList {
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

/** HTTP statuses with which services reject an unknown method. Such a service may still have tools. */
const NO_SUCH_METHOD: readonly unknown[] = [400, 404, 405, 406, 415, 422, 501];
const CAPABILITIES_TTL_MS = 86_400_000;

/** The tools and capabilities of a service, stored on this machine. */
export class StoredTools {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  async fetch(): Promise<Required<StoredList>> {
    let caching: Caching = {};
    const client = await this.#service.client();
    const tools = await client.listTools({
      onCaching: (received) => {
        caching = received;
      },
    });
    this.#cache.put(TOOL_LIST, {}, JSON.stringify({ tools, caching }));
    return { tools, caching };
  }

  async get(refresh = false): Promise<ToolCatalog> {
    const { context, globals, settings } = this.#service.app;
    const usual = globals.offline === true ? Number.POSITIVE_INFINITY : settings.get('max-age');
    const found = this.#cache.get(TOOL_LIST, {}, refresh ? 0 : usual);
    if (found !== undefined) {
      const { tools, caching = {} } = found.value as StoredList;
      return { tools, caching, at: found.at, fromCache: true };
    }
    try {
      return { ...(await this.fetch()), at: context.now(), fromCache: false };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // The method was rejected, not the caller. If the URL is wrong, the call itself will report that.
      if (error.code === 'rpc_error') this.#cache.put(TOOL_LIST, {}, '{}');
      else if (!NO_SUCH_METHOD.includes(error.details.status)) throw error;
      return { tools: undefined, caching: {}, at: context.now(), fromCache: false };
    }
  }

  /** Returns the capabilities of the MCP server, at most a day old; `{}` unless the service is known to support MCP. */
  async capabilities(): Promise<JsonObject> {
    const { app, target } = this.#service;
    if (!target.demo && supportsMcp(app) !== true) return {};
    const found = this.#cache.get(CAPABILITIES, {}, CAPABILITIES_TTL_MS);
    if (found !== undefined) return found.value as JsonObject;
    const capabilities = await (await this.#service.client()).capabilities();
    this.#cache.put(CAPABILITIES, {}, JSON.stringify(capabilities));
    return capabilities;
  }

  get #cache() {
    return openLocalCache(this.#service.app, this.#service.target);
  }
}

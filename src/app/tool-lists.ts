import type { Client } from '../client/restaurant.ts';
import type { JsonObject } from '../client/rpc/envelope.ts';
import type { Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { type Cache, type CacheKey, openCache } from '../storage/cache.ts';
import type { App } from './app.ts';
import { accountOf, configuredEndpoint, configuredKey, requestHeaders } from './target.ts';

/** A list of tools with its origin. */
export interface ToolCatalog {
  /** Undefined where the service has no list. */
  readonly tools: readonly Tool[] | undefined;
  /** Whether it is one of before, so that the service may have another by now. */
  readonly fromCache: boolean;
}

export interface ToolLists {
  /** All tools, as the service lists them now. */
  list(): Promise<readonly Tool[]>;
  /** The same; undefined where the service has tools and no list of them. A JSON-RPC refusal says so. */
  listOrNone(): Promise<readonly Tool[] | undefined>;
  /** The cached tools, at most `maxAgeMs` old; else the current ones. */
  getTools(maxAgeMs: number): Promise<ToolCatalog>;
  /** The capabilities of an MCP server, at most a day old. */
  capabilities(): Promise<JsonObject>;
}

/** HTTP statuses of a service that does not know the method; there may be tools all the same. */
const NO_SUCH_METHOD: readonly number[] = [400, 404, 405, 406, 415, 422, 501];

const keyOf = (place: Pick<CacheKey, 'endpoint' | 'keyHash'>): CacheKey => ({
  ...place,
  tool: 'tools/list',
  args: {},
});

/** Key of the server's capabilities in the cache. */
const CAPABILITIES = 'server/capabilities';
const CAPABILITIES_TTL_MS = 86_400_000;

/** Returns the stored list of tools of this run's service, however old; sends nothing. Never throws. */
export const cachedTools = (app: App): readonly Tool[] | undefined =>
  (readCached(app, 'tools/list') as { tools?: readonly Tool[] } | undefined)?.tools;

/** Returns the stored capabilities of this run's service, however old; sends nothing. Never throws. */
export const cachedCapabilities = (app: App): JsonObject | undefined =>
  readCached(app, CAPABILITIES) as JsonObject | undefined;

function readCached(app: App, tool: string): unknown {
  try {
    const url = configuredEndpoint(app)?.url;
    if (url === undefined) return undefined;
    const key = configuredKey(app, url)?.value ?? '';
    const headers = requestHeaders(app, url);
    const cache = openCache({ cacheDir: app.paths.cacheDir, now: app.context.now });
    const place = { endpoint: url.href, keyHash: accountOf({ key, headers }), tool, args: {} };
    return cache.get(place, Number.POSITIVE_INFINITY)?.value;
  } catch {
    return undefined;
  }
}

/**
 * The lists of tools of one service for one key.
 * @param place where they are kept; undefined where nothing is
 */
export function openToolLists(
  client: Client,
  cache: Cache | undefined,
  place: Pick<CacheKey, 'endpoint' | 'keyHash'>,
): ToolLists {
  const key = keyOf(place);

  async function list(): Promise<readonly Tool[]> {
    const tools = await client.listTools();
    cache?.put(key, { tools });
    return tools;
  }

  async function listOrNone(): Promise<readonly Tool[] | undefined> {
    try {
      return await list();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'rpc_error') throw error;
      cache?.put(key, {});
      return undefined;
    }
  }

  return {
    list,
    listOrNone,
    async capabilities() {
      const place = { ...key, tool: CAPABILITIES };
      const stored = cache?.get(place, CAPABILITIES_TTL_MS);
      if (stored !== undefined) return stored.value as JsonObject;
      const capabilities = await client.capabilities();
      cache?.put(place, capabilities);
      return capabilities;
    },
    async getTools(maxAgeMs) {
      const held = maxAgeMs === 0 ? undefined : cache?.get(key, maxAgeMs);
      if (held !== undefined) {
        const { tools } = held.value as { tools?: readonly Tool[] };
        return { tools, fromCache: true };
      }
      try {
        return { tools: await listOrNone(), fromCache: false };
      } catch (error) {
        if (!knowsNoList(error)) throw error;
        return { tools: undefined, fromCache: false };
      }
    },
  };
}

/** Is it a refusal of the method, not of the caller? It may be a wrong URL too, which the call itself will tell. */
function knowsNoList(error: unknown): boolean {
  const status = error instanceof AppError ? error.details.status : undefined;
  return status !== undefined && NO_SUCH_METHOD.includes(status);
}

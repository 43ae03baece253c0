import type { Service } from '../../app/service.ts';
import type { StoredTools, ToolCatalog } from '../../app/tool-list.ts';
import type { CallOptions, RawResponse } from '../../client/restaurant.ts';
import { assertComplete, type Caching } from '../../client/results.ts';
import { errorIn, INTERNAL_ERROR, type RpcError } from '../../client/rpc/envelope.ts';
import { DOCUMENTED_TOOLS } from '../../client/tools.ts';
import type { Tool } from '../../client/types.ts';
import type { Context } from '../../context.ts';
import { AppError, type Code } from '../../errors.ts';
import type { Hint } from '../../hint.ts';
import { within } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { forwardable, LIST_TTL_MS, ProtocolError } from './protocol.ts';

export interface Connection {
  readonly client: Service['client'];
  readonly tools: Pick<StoredTools, 'get' | 'capabilities'>;
}

/** Facts about the service that need no request. */
export interface StoredFacts {
  readonly tools?: readonly Tool[] | undefined;
  readonly capabilities?: JsonObject | undefined;
  /** Whether it supports MCP; undefined before its protocol was detected. */
  readonly isMcp?: boolean | undefined;
}

interface UpstreamOptions {
  connect(): Promise<Connection>;
  stored(): StoredFacts;
  hintFor(error: AppError): Hint;
  readonly context: Pick<Context, 'now' | 'sleep'>;
}

/** Failures that a login can fix, even while the bridge runs. */
export const FIXED_BY_LOGIN: readonly Code[] = [
  'no_key',
  'bad_key',
  'no_service',
  'bad_config',
  'unauthorized',
];

/** Maximum time that a host waits before a stored or built-in value is used, ms. Many hosts give up after 5 s. */
const MAX_WAIT_MS = 3000;

interface ToolList {
  readonly tools: readonly Tool[];
  /** How the host may cache them, as far as the service says. */
  readonly caching: Caching;
  /** When the service sent them, ms since the epoch. */
  readonly at: number;
}

export class Upstream {
  readonly #options: UpstreamOptions;
  #connection: Promise<Connection> | undefined;
  #list: ToolList | undefined;
  #pendingList: Promise<void> | undefined;
  #capabilities: JsonObject | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The tools for the host, within a few seconds; without the service a stored or built-in list. */
  async listTools(): Promise<ToolList> {
    if (this.#msLeft <= 0) {
      this.#pendingList ??= this.#fetchTools().finally(() => {
        this.#pendingList = undefined;
      });
      // Without a list, the host shows no tools. With one, the first call reports the error and what to do.
      await this.#withinHostWait(this.#pendingList);
    }
    const list = this.#currentList;
    if (list.caching.ttlMs === undefined) return list;
    return { ...list, caching: { ...list.caching, ttlMs: Math.max(0, this.#msLeft) } };
  }

  get #msLeft(): number {
    const { caching, at } = this.#currentList;
    return at + (caching.ttlMs ?? LIST_TTL_MS) - this.#options.context.now();
  }

  hasTool(name: string): boolean {
    return this.#currentList.tools.some((tool) => tool.name === name);
  }

  async capabilities(): Promise<JsonObject> {
    return (await this.#knownCapabilities()) ?? {};
  }

  /** Whether to forward requests that need a capability. A service of unknown protocol decides that itself. */
  async mayServe(capability: string): Promise<boolean> {
    const known = await this.#knownCapabilities();
    return known === undefined ? this.#options.stored().isMcp !== false : isObject(known[capability]);
  }

  request(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#use(async (service) =>
      resultOf(await (await service.client()).request(method, params, options), options.capabilities),
    );
  }

  async #use<T>(work: (service: Connection) => Promise<T>): Promise<T> {
    this.#connection ??= this.#options.connect();
    const current = this.#connection;
    try {
      return await work(await current);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (FIXED_BY_LOGIN.includes(error.code) && this.#connection === current) this.#connection = undefined;
      throw error.add({ hint: this.#options.hintFor(error) });
    }
  }

  /** The known tools: those of the service, else stored ones, else the documented ones. */
  get #currentList(): ToolList {
    this.#list ??= {
      tools: (this.#options.stored().tools ?? DOCUMENTED_TOOLS).map(withObjectSchema),
      caching: {},
      at: Number.NEGATIVE_INFINITY,
    };
    return this.#list;
  }

  async #fetchTools(): Promise<void> {
    const found = await this.#use((service) => this.#currentTools(service));
    const { tools = DOCUMENTED_TOOLS, caching, fromCache } = found;
    const at = caching.ttlMs === undefined ? this.#options.context.now() : found.at;
    this.#list = { tools: tools.map(withObjectSchema), caching, at };
    // Fetched for the next start, which must not wait for them.
    if (!fromCache) this.#fetchCapabilities().catch(() => {});
  }

  /** Returns stored tools only within the lifetime that the service set. */
  async #currentTools(service: Connection): Promise<ToolCatalog> {
    const found = await service.tools.get();
    const { ttlMs = Number.POSITIVE_INFINITY } = found.caching;
    const isCurrent = !found.fromCache || this.#options.context.now() - found.at < ttlMs;
    return isCurrent ? found : service.tools.get(true);
  }

  async #fetchCapabilities(): Promise<JsonObject> {
    this.#capabilities = await this.#use((service) => service.tools.capabilities());
    return this.#capabilities;
  }

  async #knownCapabilities(): Promise<JsonObject | undefined> {
    if (this.#capabilities === undefined) {
      const { capabilities, isMcp } = this.#options.stored();
      this.#capabilities = capabilities;
      if (capabilities === undefined && isMcp === true) await this.#withinHostWait(this.#fetchCapabilities());
    }
    return this.#capabilities;
  }

  async #withinHostWait<T>(value: Promise<T>): Promise<T | undefined> {
    try {
      return await within(value, MAX_WAIT_MS, this.#options.context.sleep);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }
}

/** @param capabilities of a host that gets results which request input */
function resultOf({ envelope, error }: RawResponse, capabilities?: JsonObject): JsonObject {
  const rpcError = errorIn(envelope);
  if (error !== undefined && (rpcError === undefined || error.code !== 'rpc_error')) throw error;
  if (rpcError !== undefined) throw forwardError(rpcError);
  const { result } = envelope;
  if (isObject(result)) {
    const isPassedOn = capabilities !== undefined && result.resultType === 'input_required';
    if (!isPassedOn) assertComplete(result, true);
    return forwardable(result);
  }
  throw new AppError('bad_response', 'the response of the service has no result');
}

function forwardError({ code, message, data }: RpcError): ProtocolError {
  return typeof code === 'number' && Number.isSafeInteger(code)
    ? new ProtocolError(code, message, data)
    : new ProtocolError(INTERNAL_ERROR, message, { code, data });
}

/** Adds a missing `type: "object"` to a schema. Hosts reject the whole list because of one such tool. */
function withObjectSchema(tool: Tool): Tool {
  return tool.inputSchema?.type === 'object'
    ? tool
    : { ...tool, inputSchema: { ...tool.inputSchema, type: 'object' } };
}

import type { Service } from '../../app/service.ts';
import { INTERNAL_ERROR } from '../../client/mcp/protocol.ts';
import type { CallOptions, RawResponse } from '../../client/restaurant.ts';
import { assertComplete } from '../../client/results.ts';
import { errorIn, type RpcError } from '../../client/rpc/envelope.ts';
import { DOCUMENTED_TOOLS, type Tool } from '../../client/types.ts';
import type { Context } from '../../context.ts';
import { AppError, type Code } from '../../errors.ts';
import type { Hint } from '../../hint.ts';
import { within } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { forwardable, LIST_TTL_MS, ProtocolError } from './protocol.ts';

interface UpstreamOptions {
  /** Opens the service with the current settings and login. */
  connect(): Promise<Service>;
  /** Returns the stored list of tools, regardless of its age. */
  storedTools(): readonly Tool[] | undefined;
  /** Returns the stored capabilities; undefined if the service must be called for them. */
  storedCapabilities(): JsonObject | undefined;
  /** Returns the hint of an error for users of an agent. */
  hintFor(error: AppError): Hint;
  readonly context: Pick<Context, 'now' | 'sleep'>;
}

/** Failures that a login can fix, even while the bridge runs. */
const FIXED_BY_LOGIN: readonly Code[] = ['no_key', 'bad_key', 'no_service', 'bad_config', 'unauthorized'];

/** Maximum time that a host waits before a stored or built-in value is used, ms. Many hosts give up after 5 s. */
const MAX_WAIT_MS = 3000;

/** The service behind the bridge. */
export type Upstream = ReturnType<typeof openUpstream>;

/** Opens the service behind the bridge. It is connected on first use. */
export function openUpstream(options: UpstreamOptions) {
  const { connect, storedTools, storedCapabilities, hintFor, context } = options;
  let connection: Promise<Service> | undefined;
  let list: { readonly tools: readonly Tool[]; readonly at: number } | undefined;
  let pendingList: Promise<void> | undefined;
  let capabilities: JsonObject | undefined;

  /** Uses the service. After a failure that a login can fix, the next call connects again. */
  async function use<T>(work: (service: Service) => Promise<T>): Promise<T> {
    connection ??= connect();
    const current = connection;
    try {
      return await work(await current);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (FIXED_BY_LOGIN.includes(error.code) && connection === current) connection = undefined;
      throw error.withHint(hintFor(error));
    }
  }

  /** Returns the known tools: those of the service, else stored ones, else the documented ones. */
  function currentList() {
    list ??= {
      tools: (storedTools() ?? DOCUMENTED_TOOLS).map(withObjectSchema),
      at: Number.NEGATIVE_INFINITY,
    };
    return list;
  }

  async function fetchTools(): Promise<void> {
    const { tools = DOCUMENTED_TOOLS, fromCache } = await use((service) => service.getTools());
    list = { tools: tools.map(withObjectSchema), at: context.now() };
    // Fetched for the next start, which must not wait for them.
    if (!fromCache) fetchCapabilities().catch(() => {});
  }

  async function fetchCapabilities(): Promise<JsonObject> {
    capabilities = await use((service) => service.capabilities());
    return capabilities;
  }

  const readCapabilities = async (): Promise<JsonObject> => storedCapabilities() ?? fetchCapabilities();

  /** Returns the value; undefined if it fails or takes longer than a host waits. */
  async function withinHostWait<T>(value: Promise<T>): Promise<T | undefined> {
    try {
      return await within(value, MAX_WAIT_MS, context.sleep);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  return {
    /** Returns the tools for the host, within a few seconds; without the service a stored or built-in list. */
    async listTools(): Promise<readonly Tool[]> {
      if (context.now() - currentList().at < LIST_TTL_MS) return currentList().tools;
      pendingList ??= fetchTools().finally(() => {
        pendingList = undefined;
      });
      // Without a list, the host shows no tools. With one, the first call reports the error and what to do.
      await withinHostWait(pendingList);
      return currentList().tools;
    },
    /** Returns whether a tool is in the known list. */
    hasTool: (name: string): boolean => currentList().tools.some((tool) => tool.name === name),
    /** Returns the known capabilities of the service. */
    async capabilities(): Promise<JsonObject> {
      capabilities ??= await withinHostWait(readCapabilities());
      return capabilities ?? {};
    },
    /** Sends a request. @returns the result as received @throws {AppError}; {ProtocolError} for a JSON-RPC error */
    request: (method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> =>
      use(async (service) => resultOf(await (await service.client()).request(method, params, options))),
  };
}

/** @throws {AppError} the error of the response; {ProtocolError} for a JSON-RPC error, which is forwarded */
function resultOf({ envelope, error }: RawResponse): JsonObject {
  const rpcError = errorIn(envelope);
  if (error !== undefined && (rpcError === undefined || error.code !== 'rpc_error')) throw error;
  if (rpcError !== undefined) throw forwardError(rpcError);
  const { result } = envelope;
  if (isObject(result)) {
    assertComplete(result, true);
    return forwardable(result);
  }
  throw new AppError('bad_response', 'the response of the service has no result');
}

/** Converts a JSON-RPC error of the service; its code must be an integer. */
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

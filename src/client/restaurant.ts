import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { AppError, CODES } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { assertMayCarryKey } from './endpoint.ts';
import { type Field, fieldList, mapTrace, type TraceEvent } from './http/exchange.ts';
import { baseHeaders, type RequestHeaders } from './http/headers.ts';
import { withMessage } from './http/network-error.ts';
import { openTransport } from './http/transport.ts';
import { keyMasker, keySuffix, redactor } from './key.ts';
import type { Protocol, ProtocolMemory, RpcCall } from './mcp/detect.ts';
import { openSession } from './mcp/negotiate.ts';
import { assertComplete, clientInfo } from './mcp/stateless.ts';
import { decodeFind, decodeLookup, type FindResult, listAllTools, parseToolResult } from './results.ts';
import { type CallState, openChannel } from './rpc/channel.ts';
import { isObject, type JsonObject, progressIn } from './rpc/envelope.ts';
import { rpcError, SERVICE_SAYS } from './rpc/errors.ts';
import type { Policy } from './rpc/retry.ts';
import type { Level, LookupOutput, RpcRequest, Tool, ToolResult } from './types.ts';

export interface ClientOptions {
  readonly endpoint: URL;
  readonly key?: string | undefined;
  /** What to do when the service refuses the key, with a command to run. */
  readonly keyHint?: string | undefined;
  /** Send the key over plain http to another machine. */
  readonly insecureHttp?: boolean;
  readonly protocol: Protocol;
  /** Time for one call, retries and their waits included, ms. */
  readonly timeoutMs: number;
  /** Tries after the first. */
  readonly retries: number;
  /** Longest wait that a 429 may ask for, ms; it extends the time. */
  readonly maxWaitMs: number;
  /** Version of this program, for User-Agent. */
  readonly version: string;
  readonly context: Pick<Context, 'env' | 'now' | 'sleep' | 'random' | 'signal'>;
  /** Maximum size of a response body in bytes. Default: 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Before every HTTP request that counts against the budget: each try. What it throws ends the call. */
  onRequest?(): void | Promise<void>;
  /** Before each wait for another try. */
  onWait?(wait: { ms: number; error: AppError }): void;
  /** At a 429 with Retry-After; ms since the epoch. */
  onRateLimited?(until: number): void | Promise<void>;
  /** Something that a person should know and that is no failure. */
  onWarning?(text: string): void;
  /** The exchange as it passes, without the key. */
  trace?(event: TraceEvent): void;
  /** Remembers what the endpoint speaks. */
  readonly session?: ProtocolMemory;
}

/** What `raw` shows of an answer. */
export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly Field[];
  /** The envelope's JSON text as it came. */
  readonly text: string;
  readonly envelope: JsonObject;
  /** A JSON-RPC error, or an HTTP status that is one. */
  readonly failed: boolean;
  /** What a status other than 2xx means. */
  readonly error?: AppError;
}

export interface CallOptions {
  /** Ends this call alone; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface ToolCallOptions extends CallOptions {
  /** Gets `params` of each `notifications/progress`, where the service tells how far it has come. */
  onProgress?(params: JsonObject): void;
  /** The tool as the service lists it: its schema tells which arguments travel as headers too. */
  readonly tool?: Tool | undefined;
}

/** The service. Every method throws AppError: what went wrong, never holding the key. */
export interface Client {
  /** Searches by name and city (`find_restaurant`). */
  find(query: { name: string; city: string }): Promise<FindResult>;
  /** Details of one restaurant (`lookup_restaurant`); `basic` sends no `fields`. */
  lookup(restaurantId: string, level: Level): Promise<LookupOutput>;
  /** One small documented call, to see that service and key work. */
  check(): Promise<void>;
  /** All pages of `tools/list`. */
  listTools(): Promise<Tool[]>;
  /** The capabilities of the server (`initialize` or `server/discover`); `{}` for a service without MCP. */
  capabilities(): Promise<JsonObject>;
  /** Any tool. A result that says `isError` is thrown. */
  callTool(name: string, args: JsonObject, options?: ToolCallOptions): Promise<ToolResult>;
  /** Any method. A JSON-RPC error is an answer like any other. */
  raw(
    method: string,
    params: RpcRequest['params'],
    options?: ToolCallOptions & { headers?: RequestHeaders },
  ): Promise<RawResponse>;
  close(): Promise<void>;
}

/**
 * Opens a client. Nothing is loaded or sent before the first call.
 * @param open the way to the endpoint
 * @throws {AppError} `usage` when the key would travel unprotected, or for a proxy that cannot be used
 */
export function createClient(options: ClientOptions, open = openTransport): Client {
  const { endpoint, key, context, timeoutMs, version } = options;
  if (key !== undefined) assertMayCarryKey(endpoint, options.insecureHttp === true);
  // Each call under way listens to it; Node would warn from the eleventh on.
  setMaxListeners(0, context.signal);
  const redact = redactor(key);
  const clean = cleaner(redact, endpoint.host);
  const { trace } = options;
  const note = trace && ((text: string) => trace({ kind: 'note', text: redact(text) }));
  const transport = open({
    endpoint,
    env: context.env,
    now: context.now,
    maxBodyBytes: options.maxBodyBytes,
    ...(trace === undefined ? {} : { trace: (event: TraceEvent) => trace(mapTrace(event, redact)) }),
  });
  const channel = openChannel({
    ...options,
    transport,
    headers: baseHeaders({ key, version }),
    keySuffix: key === undefined ? undefined : keySuffix(key),
    mask: keyMasker(key),
    ...(note === undefined ? {} : { note }),
  });
  const session = openSession({
    channel,
    protocol: options.protocol,
    clientInfo: clientInfo(version),
    memory: options.session,
    warn(text) {
      note?.(text);
      options.onWarning?.(redact(text));
    },
  });

  const newCall = (policy: Policy, signal?: AbortSignal): CallState => ({
    policy,
    signal: signal === undefined ? context.signal : AbortSignal.any([context.signal, signal]),
    deadline: context.now() + timeoutMs,
    totalMs: timeoutMs,
  });

  async function result(call: CallState, wanted: RpcCall): Promise<unknown> {
    const answer = await session.call(call, wanted);
    if (answer.error !== undefined) throw answer.error;
    const { reply = { result: undefined } } = answer;
    if ('error' in reply) throw rpcError(reply.error);
    assertComplete(reply.result, answer.typed === true);
    return reply.result;
  }

  const tool = (call: CallState, name: string, args: JsonObject, options: ToolCallOptions = {}) =>
    result(call, {
      method: 'tools/call',
      params: { name, arguments: args },
      tool: options.tool,
      ...listening(options.onProgress),
    });

  const client: Client = {
    find: async ({ name, city }) =>
      decodeFind(await tool(newCall('read'), 'find_restaurant', { name, city })),
    async lookup(restaurantId, level) {
      const fields = level === 'basic' ? {} : { fields: level };
      try {
        const found = await tool(newCall('read'), 'lookup_restaurant', {
          restaurant_id: restaurantId,
          ...fields,
        });
        return decodeLookup(found);
      } catch (error) {
        throw error instanceof AppError ? lookupError(error, restaurantId, level) : error;
      }
    },
    async check() {
      decodeFind(
        await tool(newCall('read'), 'find_restaurant', { name: 'restaurant', city: 'San Francisco' }),
      );
    },
    async listTools() {
      const call = newCall('read');
      return session.filterUsable(
        await listAllTools((params) => result(call, { method: 'tools/list', params })),
      );
    },
    async capabilities() {
      const known = session.capabilities();
      if (known !== undefined) return known;
      const { reply } = await session.call(newCall('read'), { method: 'server/discover', params: {} });
      const found = reply !== undefined && 'result' in reply ? reply.result : undefined;
      const capabilities = isObject(found) ? found.capabilities : undefined;
      return session.capabilities() ?? (isObject(capabilities) ? capabilities : {});
    },
    async callTool(name, args, options = {}) {
      const found = await tool(newCall('write', options.signal), name, args, options);
      try {
        return parseToolResult(found);
      } catch (error) {
        throw error instanceof AppError ? withToolHint(error, name) : error;
      }
    },
    async raw(method, params, { headers = {}, signal, onProgress } = {}) {
      const wanted: RpcCall = { method, params, headers, ...listening(onProgress) };
      const answer = await session.call(newCall('write', signal), wanted);
      const { status, statusText, text, envelope, reply, error } = answer;
      if (envelope === undefined || reply === undefined) {
        throw error ?? new AppError('bad_response', 'there is no JSON-RPC response in the answer');
      }
      const failed = error !== undefined || 'error' in reply;
      const shown = { status, statusText, headers: fieldList(answer.headers), text, envelope, failed };
      return error === undefined ? shown : { ...shown, error: clean(error) };
    },
    async close() {
      await session.close();
      await transport.close();
    },
  };
  return cleaned(client, clean);
}

/** A tool's own failure says where its arguments are told. */
function withToolHint(error: AppError, name: string): AppError {
  if (error.hint !== CODES.tool_error.hint) return error;
  return withMessage(error, error.message, { hint: `restaurant tools ${name} shows its arguments` });
}

/** The part of a call that listens for progress, where somebody wants to hear of it. */
function listening(onProgress: ToolCallOptions['onProgress']): Pick<RpcCall, 'onMessage'> {
  if (onProgress === undefined) return {};
  return {
    onMessage(message) {
      const progress = progressIn(message);
      if (progress !== undefined) onProgress(progress);
    },
  };
}

/** The same error without the key, and with the host where it speaks of what came from there. */
function cleaner(redact: (text: string) => string, host: string): (error: AppError) => AppError {
  return (error) => {
    const named = error.kind === 'service' && !error.message.includes(host);
    const told = named ? `${host}: ${error.message}` : error.message;
    const message = redact(
      told.replace(SERVICE_SAYS, `${host} says: `).replace(`${host}: ${host} `, `${host} `),
    );
    const hint = redact(error.hint);
    if (message === error.message && hint === error.hint) return error;
    return withMessage(error, message, hint === error.hint ? {} : { hint });
  };
}

/** The same client, whose errors hold no key. */
function cleaned(client: Client, clean: (error: AppError) => AppError): Client {
  const run = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw error instanceof AppError ? clean(error) : error;
    }
  };
  return {
    find: (query) => run(client.find(query)),
    lookup: (id, level) => run(client.lookup(id, level)),
    check: () => run(client.check()),
    listTools: () => run(client.listTools()),
    capabilities: () => run(client.capabilities()),
    callTool: (name, args, options) => run(client.callTool(name, args, options)),
    raw: (method, params, options) => run(client.raw(method, params, options)),
    close: () => client.close(),
  };
}

/**
 * The error of a lookup, with the restaurant it was for. How the service refuses a level that needs a paid key is
 * not documented: a 403 counts as that refusal, of others it is said that it may be.
 */
export function lookupError(error: AppError, restaurantId: string, level: Level): AppError {
  // Held back by the budget: nothing was sent, and it is not about this restaurant.
  if (error.kind === 'rate_limit' && error.details.status === undefined) return error;
  const free = `restaurant lookup ${shellWord(restaurantId)} --fields basic`;
  if (level !== 'basic' && error.code === 'forbidden') {
    const message = `the level ${level} needs a paid key: ${error.message}`;
    return new AppError('plan_required', message, {
      ...error.details,
      restaurantId,
      hint: `${free} works with every key`,
    });
  }
  if (error.code === 'plan_required') {
    return withMessage(error, error.message, { restaurantId, hint: `${free} works with every key` });
  }
  if (level !== 'basic' && ['tool_error', 'rpc_error', 'http_error'].includes(error.code)) {
    const hint = `the level ${level} needs a paid key; without one: ${free}`;
    return withMessage(error, error.message, { restaurantId, hint });
  }
  if (error.code === 'not_found') {
    return withMessage(error, `no restaurant ${restaurantId}: ${error.message}`, { restaurantId });
  }
  return withMessage(error, error.message, { restaurantId });
}

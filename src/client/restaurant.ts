import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { AppError, type ErrorDetails } from '../errors.ts';
import { exactJson, isObject, type JsonObject, memberText } from '../util/json.ts';
import { type Address, assertMayCarryKey, endpointOf } from './endpoint.ts';
import {
  baseHeaders,
  fieldList,
  type HeaderField,
  type RequestHeaders,
  withHeaders,
} from './http/headers.ts';
import { openTransport, type TraceEvent } from './http/transport.ts';
import { checkKey, keySuffix } from './key.ts';
import { createMasks, type Masks } from './masks.ts';
import type { Protocol, ProtocolMemory } from './mcp/protocol.ts';
import { Session } from './mcp/session.ts';
import {
  type Caching,
  decodeOutput,
  decodeToolPage,
  inputFacts,
  listAllTools,
  type OutputOptions,
  parseToolResult,
  resultOf,
} from './results.ts';
import { type TraceContext, traceOf, withTrace } from './rpc/envelope.ts';
import type { CallState, Channel, ClientEvents, RpcCall } from './rpc/exchange.ts';
import type { Outcome } from './rpc/outcome.ts';
import { type Effect, RateGate } from './rpc/retry.ts';
import { ServiceError } from './service-error.ts';
import { type FindResult, plannedCall, type ServiceTool, TOOLS, toolCall } from './tools.ts';
import type { FindQuery, Level, LookupOutput, RpcRequest, Tool, ToolResult } from './types.ts';

/** Options of a client. One of `endpoint` and `baseUrl` is required. */
export interface ClientOptions extends Address, ClientEvents {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** Additional headers of every request. They are redacted in traces unless known to be harmless. */
  readonly headers?: RequestHeaders | undefined;
  /** Default: `auto`, which detects the protocol. */
  readonly protocol?: Protocol;
  /** Time for one call, retries included, ms; silence has no limit, because a tool may take long. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first. Default: 2. */
  readonly retries?: number;
  /** Longest wait that a 429 may request, ms; it extends the time of the call. Default: 60,000. */
  readonly maxWaitMs?: number;
  /** Maximum size of a response body in bytes. Default: 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Allows sending the key over plain HTTP to a remote host. */
  readonly insecureHttp?: boolean;
  /** Passed on as headers and as `_meta` (W3C Trace Context, MCP SEP-414). */
  readonly traceContext?: TraceContext | undefined;
  /** Default: the system's clock, no proxy (`env`), and a signal that never aborts. */
  readonly context?: Partial<ClientContext>;
  /** Called once, when the service has accepted a request. */
  onAccepted?(): void;
  /** Called with a warning about a call that did not fail. */
  onWarning?(text: string): void;
  /** Masks further secrets in responses and traces, in which the key and secret headers are masked. */
  mask?(text: string): string;
  /** Gets the exchange as it happens, without the key. */
  trace?(event: TraceEvent): void;
  /** Stores the detected protocol of the endpoint. */
  readonly protocolMemory?: ProtocolMemory;
}

type ClientContext = Pick<Context, 'env' | 'now' | 'sleep' | 'random' | 'signal'>;

/** A JSON-RPC response as received. */
export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly HeaderField[];
  /** The envelope's JSON text as received. */
  readonly text: string;
  readonly envelope: JsonObject;
  /** Whether it is a JSON-RPC error or its HTTP status is an error. */
  readonly failed: boolean;
  /** The meaning of a status other than 2xx. */
  readonly error?: AppError;
}

/** Options of every method. */
export interface AbortOptions {
  /** Aborts this call only. Its reason is thrown if it is an AppError, else it is the cause of the error. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends OutputOptions, AbortOptions {}

export interface ToolListOptions extends AbortOptions {
  /** Gets how long and for whom the list may be cached, as far as the service says. */
  readonly onCaching?: (caching: Caching) => void;
}

export interface CallOptions
  extends ReadOptions,
    Pick<RpcCall, 'headers' | 'tool' | 'onProgress' | 'capabilities'> {}

/** A client of one service. Every method throws AppError, which never contains the key. */
export type Client = Pick<RestaurantClient, keyof RestaurantClient>;

/**
 * Creates a client. Nothing is loaded or sent before the first call.
 * @param open opens the transport to the endpoint
 * @throws {AppError} `usage` for an invalid URL, header or proxy, or when the key would be sent unprotected
 */
export function createClient(options: ClientOptions, open = openTransport): Client {
  // Own properties only: others may come from a polluted Object.prototype.
  const own = isObject(options) ? Object.assign(Object.create(null), options) : options;
  assertOptions(own);
  return new RestaurantClient(own, open);
}

interface Operation<Result> {
  readonly state: CallState;
  readonly message: RpcCall;
  read(outcome: Outcome): Result;
}

class RestaurantClient {
  readonly #options: ClientOptions;
  readonly #context: ClientContext;
  readonly #masks: Masks;
  readonly #channel: Channel;
  readonly #session: Session;
  readonly #trace: TraceContext | undefined;
  #isClosed = false;
  #isAccepted = false;

  constructor(options: ClientOptions, open: typeof openTransport) {
    const apiKey = options.apiKey === undefined ? undefined : checkKey(options.apiKey, '');
    const context = { ...defaultContext(), ...options.context };
    const endpoint = endpointOf(options);
    const masks = createMasks(options, apiKey);
    if (masks.hasSecrets) assertMayCarryKey(endpoint, options.insecureHttp === true);
    // Each call in progress adds a listener; Node prints a warning if there are more than ten.
    setMaxListeners(0, context.signal);
    const { mask, trace } = masks;
    const { maxBodyBytes, retries = 2, maxWaitMs = 60_000 } = options;
    this.#options = options;
    this.#context = context;
    this.#masks = masks;
    this.#trace = traceOf(options.traceContext, options.headers);
    this.#channel = {
      ...context,
      events: options,
      retries,
      maxWaitMs,
      host: endpoint.host,
      transport: open({ endpoint, maxBodyBytes, ...context, ...(trace && { trace }) }),
      headers: withHeaders(baseHeaders(apiKey), options.headers),
      keySuffix: apiKey === undefined ? undefined : keySuffix(apiKey),
      gate: new RateGate(context),
      lastId: 0,
      mask,
      note: (text) => trace?.({ kind: 'note', text }),
    };
    this.#session = new Session({
      channel: this.#channel,
      protocol: options.protocol ?? 'auto',
      memory: options.protocolMemory,
      warn: (text) => this.#warn(text),
    });
  }

  /** Searches by name and city (`find_restaurant`). */
  async find(query: FindQuery, options?: ReadOptions): Promise<FindResult> {
    assertTexts('find', query, ['name', 'city']);
    return this.call(TOOLS.find, query, options);
  }

  /** Returns details of one restaurant (`lookup_restaurant`); `basic`, the default, sends no `fields`. */
  async lookup(
    restaurantId: string,
    level: Level | ReadOptions = 'basic',
    options: ReadOptions = {},
  ): Promise<LookupOutput> {
    if (typeof level === 'object') return this.lookup(restaurantId, 'basic', level);
    const query = { id: restaurantId, level };
    assertTexts('lookup', query, ['id', 'level']);
    return this.call(TOOLS.lookup, query, options);
  }

  /** Calls a tool by its description. */
  async call<Query, Result>(
    tool: ServiceTool<Query, Result>,
    query: Query,
    options: ReadOptions = {},
  ): Promise<Result> {
    return this.#run({
      state: this.#state(tool.effect, options.signal, tool.facts?.(query)),
      message: plannedCall(tool, query),
      read: this.#reader((result, envelope) => tool.parse(decodeOutput(result, envelope, options))),
    });
  }

  /** Makes one small documented call, to verify service and key. */
  async check(options?: AbortOptions): Promise<void> {
    await this.find({ name: 'restaurant', city: 'San Francisco' }, options);
  }

  /** Lists the tools, all pages of `tools/list`. */
  async listTools({ signal, onCaching }: ToolListOptions = {}): Promise<Tool[]> {
    const state = this.#state('read', signal);
    const read = this.#reader(decodeToolPage);
    const { tools, caching } = await listAllTools((params) =>
      this.#run({ state, message: { method: 'tools/list', params }, read }),
    );
    onCaching?.(caching);
    return this.#session.filterTools(tools);
  }

  /** Returns the capabilities of the server (`initialize` or `server/discover`); `{}` for a service without MCP. */
  async capabilities({ signal }: AbortOptions = {}): Promise<JsonObject> {
    const known = this.#session.capabilities;
    if (known !== undefined) return known;
    const found = await this.#run({
      state: this.#state('read', signal),
      message: { method: 'server/discover', params: {} },
      // An error response says that the service has no capabilities; without a response, the call failed.
      read: ({ response, failure }) => {
        if (response === undefined) throw failure;
        const { result } = response.envelope ?? {};
        return failure === undefined && isObject(result) ? result.capabilities : undefined;
      },
    });
    // A protocol with a handshake may have been detected meanwhile.
    return this.#session.capabilities ?? (isObject(found) ? found : {});
  }

  /** Calls any tool. A result with `isError` is thrown. */
  async callTool(
    name: string,
    args: JsonObject,
    { signal, onText, ...extras }: CallOptions = {},
  ): Promise<ToolResult> {
    assertJson(args);
    return this.#run({
      state: this.#state('write', signal),
      message: { ...extras, ...toolCall(name, args) },
      read: this.#reader((result, envelope) => {
        const checked = parseToolResult(result, name);
        onText?.(memberText(envelope, 'result') ?? JSON.stringify(result));
        return checked;
      }),
    });
  }

  /** Sends any method. A JSON-RPC error is returned like any response. */
  async request(
    method: string,
    params?: RpcRequest['params'],
    { signal, ...extras }: CallOptions = {},
  ): Promise<RawResponse> {
    assertJson(params);
    return this.#run({
      state: this.#state('write', signal),
      message: { ...extras, method, params },
      read: ({ response, failure }) => {
        if (response?.envelope === undefined) throw failure;
        const { status, statusText, headers, text, envelope } = response;
        const failed = failure !== undefined;
        if (!failed) this.#accept();
        const raw = { status, statusText, headers: fieldList(headers), text, envelope, failed };
        return failed && status >= 300 ? { ...raw, error: this.#complete(failure) } : raw;
      },
    });
  }

  /** Ends the session and closes the connections. Later calls fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#session.close();
    await this.#channel.transport.close();
  }

  async #run<Result>({ state, message, read }: Operation<Result>): Promise<Result> {
    const { params, headers } = withTrace(this.#trace, message.params);
    try {
      const { headers: own = {} } = Object.assign(Object.create(null), message);
      const traced = { ...message, params, headers: { ...headers, ...own } };
      return read(await this.#session.speak(state, traced));
    } catch (error) {
      if (error instanceof ServiceError) throw this.#complete(error, state);
      // Others are errors of callbacks, or the reason of the signal.
      if (error !== state.signal.reason || error instanceof AppError) throw error;
      throw new AppError('interrupted', 'the call was aborted', { cause: error });
    }
  }

  /** Adds what the call was about, and removes secrets. */
  #complete(error: ServiceError, { facts, declinedInput }: Partial<CallState> = {}): ServiceError {
    const { host } = this.#channel;
    return error.add({ host, ...facts, ...inputFacts(error, declinedInput) }).redact(this.#masks.redact);
  }

  #reader<Result>(decode: (result: unknown, envelope: string) => Result) {
    return (outcome: Outcome): Result => {
      const result = resultOf(outcome, this.#session.isModern);
      const decoded = decode(result, outcome.response?.text ?? '');
      this.#accept();
      return decoded;
    };
  }

  #state(effect: Effect, signal?: AbortSignal, facts: ErrorDetails = {}): CallState {
    if (this.#isClosed) throw new AppError('usage', 'the client is closed', { reason: 'closed' });
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new AppError('usage', 'signal must be an AbortSignal');
    const { signal: all, now } = this.#context;
    const { timeoutMs: totalMs = 30_000 } = this.#options;
    return {
      effect,
      facts,
      signal: signal === undefined ? all : AbortSignal.any([all, signal]),
      deadline: now() + totalMs,
      totalMs,
    };
  }

  #accept(): void {
    if (!this.#isAccepted) this.#options.onAccepted?.();
    this.#isAccepted = true;
  }

  #warn(text: string): void {
    this.#channel.note(text);
    this.#options.onWarning?.(this.#masks.redact(text));
  }
}

function defaultContext(): ClientContext {
  return {
    env: {},
    now: Date.now,
    random: Math.random,
    signal: new AbortController().signal,
    async sleep(ms, signal) {
      await setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
        throw signal?.reason ?? error;
      });
    },
  };
}

/** @throws {AppError} `usage` for values that JSON cannot represent: a circular object */
function assertJson(params: unknown): void {
  try {
    exactJson(params);
  } catch (cause) {
    throw new AppError('usage', 'the arguments cannot be represented as JSON', { cause });
  }
}

function assertTexts(method: string, query: unknown, names: readonly string[]): void {
  const wrong = names.find((name) => !isObject(query) || typeof query[name] !== 'string');
  if (wrong !== undefined) throw new AppError('usage', `${method}: ${wrong} must be a string`);
}

const NUMBERS = ['timeoutMs', 'retries', 'maxWaitMs', 'maxBodyBytes'] as const;

/** Checks the types of a client's options, which JavaScript does not. @throws {AppError} `usage` */
function assertOptions(options: unknown): void {
  if (!isObject(options)) throw badOption('options', 'an object with endpoint or baseUrl');
  const { apiKey, headers = {}, baseUrl, endpoint } = options;
  for (const [name, url] of Object.entries({ baseUrl, endpoint })) {
    const isUrl = url === undefined || typeof url === 'string' || url instanceof URL;
    if (!isUrl) throw badOption(name, 'a URL or a string');
  }
  if (apiKey !== undefined && typeof apiKey !== 'string') throw badOption('apiKey', 'a string');
  const areTexts = isObject(headers) && Object.values(headers).every((value) => typeof value === 'string');
  if (!areTexts) throw badOption('headers', 'an object of strings');
  for (const name of NUMBERS) {
    const value = options[name];
    const isValid = value === undefined || (typeof value === 'number' && value >= 0);
    if (!isValid) throw badOption(name, 'a number that is not negative');
  }
}

const badOption = (name: string, expected: string): AppError =>
  new AppError('usage', `createClient: ${name} must be ${expected}`);

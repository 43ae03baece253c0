import { hintFor } from '../../app/error-hint.ts';
import { META_PREFIX } from '../../client/mcp/protocol.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../client/rpc/envelope.ts';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { hintText } from '../../output/hint-text.ts';
import { errorFields } from '../../output/problem.ts';
import { Semaphore, untilAborted } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { type Bounds, boundError, boundResult, isBounded } from './bounds.ts';
import {
  capabilityOf,
  describeServer,
  forwardable,
  invalidParams,
  negotiatedVersion,
  ProtocolError,
  SERVER_INFO,
  SUPPORTED_VERSIONS,
} from './protocol.ts';
import { getSkill, isSkill, listSkills, readSkill, skillResource } from './skills.ts';
import type { Upstream } from './upstream.ts';

export interface MethodOptions {
  readonly upstream: Pick<Upstream, keyof Upstream>;
  readonly context: Pick<Context, 'now' | 'sleep'>;
  readonly bounds?: Bounds;
  send(message: unknown): void;
}

/** Member of `_meta` with the code and details of a tool error, for programs. */
export const ERROR_META_KEY = 'restaurant/error';

const MAX_RUNNING_CALLS = 8;
const MAX_PENDING_CALLS = 1008;
/** JSON-RPC 2.0: reserved for implementation-defined server errors. */
const SERVER_BUSY = -32000;
/** Interval of progress notifications for a waiting call. Many hosts give up after 60 s of silence. */
const HEARTBEAT_MS = 5000;
/**
 * Least time between a progress notification and the response. Hosts with the official SDKs forget the token while they
 * read the response, before they handle a notification from the same read, and no message reports that they have read it: a
 * host of 2026-07-28 takes no requests, so not even a `ping`.
 */
const PROGRESS_GAP_MS = 50;

interface HostRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal;
  /** Whether it has its own metadata (MCP 2026-07-28). */
  readonly isModern: boolean;
}

export class Methods {
  readonly #options: MethodOptions;
  readonly #calls = new Semaphore(MAX_RUNNING_CALLS);
  #pending = 0;

  constructor(options: MethodOptions) {
    this.#options = options;
  }

  async call(request: HostRequest): Promise<JsonObject> {
    const { method, params, signal } = request;
    const { upstream } = this.#options;
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: negotiatedVersion(params.protocolVersion),
          serverInfo: SERVER_INFO,
          ...describeServer(await upstream.capabilities()),
        };
      case 'server/discover':
        return { supportedVersions: SUPPORTED_VERSIONS, ...describeServer(await upstream.capabilities()) };
      case 'ping':
        return {};
      case 'tools/list':
        // The list is a single page, so no cursor can be valid.
        if ((params.cursor ?? null) !== null) throw invalidParams('unknown cursor');
        return this.#listTools(signal);
      case 'skills/list':
        return listSkills();
      case 'skills/get':
        return getSkill(params.uri);
      case 'resources/list':
        return this.#listResources(request);
      case 'resources/read':
        return this.#readResource(request);
      case 'resources/templates/list':
        return this.#listTemplates(request);
      case 'prompts/list':
        return this.#list(request, { prompts: [] });
      case 'tools/call':
        return this.#callTool(request);
      default:
        return this.#forwardOther(request);
    }
  }

  async #callTool(request: HostRequest): Promise<JsonObject> {
    const { name, arguments: args = {}, _meta, inputResponses, requestState } = request.params;
    if (typeof name !== 'string' || name === '') throw invalidParams('name must be a string');
    if (!isObject(args)) throw invalidParams('arguments must be an object');
    const { bounds = {} } = this.#options;
    try {
      const params = { name, arguments: args, _meta, inputResponses, requestState };
      return boundResult(await this.#forward({ ...request, params }), bounds);
    } catch (error) {
      if (error instanceof AppError) return boundResult(toolError(error), bounds);
      if (!(error instanceof ProtocolError)) throw error;
      if (error.code !== INVALID_PARAMS || !this.#options.upstream.hasTool(name)) {
        throw boundError(error, bounds);
      }
      // Invalid arguments are a tool error, so that the model can correct them (MCP, tools: error handling).
      const hint = { text: 'correct the arguments: the input schema of the tool describes them' };
      const failed = toolError(new AppError('tool_error', error.message, { rpcCode: error.code, hint }));
      return boundResult(failed, bounds);
    }
  }

  async #listTools(signal: AbortSignal): Promise<JsonObject> {
    const { upstream, bounds = {} } = this.#options;
    const { tools, caching } = await untilAborted(upstream.listTools(), signal);
    // A bounded result does not match the schema of the output.
    const listed = isBounded(bounds) ? tools.map(({ outputSchema: _, ...tool }) => tool) : tools;
    return { tools: listed, ...caching };
  }

  async #listResources(request: HostRequest): Promise<JsonObject> {
    const result = await ifServed(this.#list(request, {}));
    const own = request.params.cursor === undefined ? [skillResource()] : [];
    return { ...result, resources: [...own, ...[result?.resources ?? []].flat()] };
  }

  async #listTemplates(request: HostRequest): Promise<JsonObject> {
    const none = { resourceTemplates: [] };
    return (await ifServed(this.#list(request, none))) ?? none;
  }

  async #readResource(request: HostRequest): Promise<JsonObject> {
    if (isSkill(request.params.uri)) return readSkill();
    const result = await ifServed(this.#forwardOther(request));
    if (result === undefined) throw invalidParams('the server has no such resource');
    return result;
  }

  /** Some hosts show no tools if another list fails. The first call reports the error and what to do. */
  async #list(request: HostRequest, empty: JsonObject): Promise<JsonObject> {
    try {
      return await this.#forwardOther(request);
    } catch (error) {
      if (error instanceof AppError && request.params.cursor === undefined) return empty;
      throw error;
    }
  }

  async #forwardOther(request: HostRequest): Promise<JsonObject> {
    const capability = capabilityOf(request.method);
    if (capability === undefined || !(await this.#options.upstream.mayServe(capability))) {
      throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${request.method.slice(0, 100)}`);
    }
    return this.#forward(request);
  }

  async #forward(request: HostRequest): Promise<JsonObject> {
    if (this.#pending >= MAX_PENDING_CALLS) {
      throw new ProtocolError(SERVER_BUSY, `${MAX_PENDING_CALLS} calls are already pending`);
    }
    this.#pending += 1;
    const { signal } = request;
    const progress = ProgressRelay.of(request.params, this.#options);
    try {
      const task = () => untilAborted(this.#send(request, progress), signal);
      return await this.#calls.run(task, signal);
    } finally {
      this.#pending -= 1;
      await progress?.end();
    }
  }

  /** A host of 2026-07-28 answers requests for input itself: they pass through as results. */
  #send({ method, params, signal, isModern }: HostRequest, progress?: ProgressRelay): Promise<JsonObject> {
    return this.#options.upstream.request(method, forwardable(params), {
      signal,
      ...(progress && { onProgress: progress.forward }),
      ...(isModern && { capabilities: inputCapabilities(params._meta) }),
    });
  }
}

/** The capabilities of a host that only concern requests for input. */
function inputCapabilities(meta: unknown): JsonObject {
  const declared = isObject(meta) ? meta[`${META_PREFIX}clientCapabilities`] : undefined;
  const { elicitation, sampling, roots }: JsonObject = isObject(declared) ? declared : {};
  return { elicitation, sampling, roots };
}

async function ifServed(result: Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}

class ProgressRelay {
  readonly #token: string | number;
  readonly #options: MethodOptions;
  readonly #done = new AbortController();
  #wasReceived = false;
  #reportedAt = Number.NEGATIVE_INFINITY;

  static of({ _meta }: JsonObject, options: MethodOptions): ProgressRelay | undefined {
    const token = isObject(_meta) ? _meta.progressToken : undefined;
    return typeof token === 'string' || typeof token === 'number'
      ? new ProgressRelay(token, options)
      : undefined;
  }

  private constructor(token: string | number, options: MethodOptions) {
    this.#token = token;
    this.#options = options;
    this.#heartbeat().catch(() => {});
  }

  readonly forward = (progress: JsonObject): void => {
    this.#wasReceived = true;
    this.#report(progress);
  };

  async end(): Promise<void> {
    this.#done.abort();
    const { now, sleep } = this.#options.context;
    const missing = this.#reportedAt + PROGRESS_GAP_MS - now();
    if (missing > 0) await sleep(missing);
  }

  #report(progress: JsonObject): void {
    // Progress must not follow the response.
    if (this.#done.signal.aborted) return;
    this.#reportedAt = this.#options.context.now();
    const params = { ...progress, progressToken: this.#token };
    this.#options.send({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  async #heartbeat(): Promise<void> {
    for (let beat = 1; ; beat += 1) {
      await this.#options.context.sleep(HEARTBEAT_MS, this.#done.signal);
      // Progress must increase, so use steps smaller than those of the service.
      if (!this.#wasReceived) this.#report({ progress: beat / 1000, message: 'waiting for the service' });
    }
  }
}

function toolError(error: AppError): JsonObject {
  const hint = hintFor(error);
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.message}\nhint: ${hintText(hint)}` }],
    _meta: { [ERROR_META_KEY]: errorFields(error.add({ hint })) },
  };
}

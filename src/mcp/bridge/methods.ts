import { hintFor } from '../../app/client-hints.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../client/mcp/protocol.ts';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { hintText } from '../../output/hint-text.ts';
import { errorFields } from '../../output/problem.ts';
import { Semaphore, untilAborted } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { type Bounds, boundResult, isBounded } from './bounds.ts';
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
  readonly sleep: Context['sleep'];
  readonly bounds?: Bounds;
  send(message: unknown): void;
}

/** Member of `_meta` with the code and details of a tool error, for programs. */
export const ERROR_META_KEY = 'restaurant/error';

const MAX_RUNNING_CALLS = 8;
const MAX_PENDING_CALLS = 1008;
/** JSON-RPC 2.0: reserved for implementation-defined server errors. */
const SERVER_BUSY = -32000;
/**
 * Interval of progress notifications for a waiting call, if the host requested progress. Many hosts give up after 60 s
 * of silence.
 */
const HEARTBEAT_MS = 5000;

export class Methods {
  readonly #options: MethodOptions;
  readonly #calls = new Semaphore(MAX_RUNNING_CALLS);
  #pending = 0;

  constructor(options: MethodOptions) {
    this.#options = options;
  }

  async call(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
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
        return this.#listResources(params, signal);
      case 'resources/read':
        return this.#readResource(params, signal);
      case 'resources/templates/list':
        return this.#listTemplates(params, signal);
      case 'tools/call':
        return this.#callTool(params, signal);
      default:
        return this.#forwardOther(method, params, signal);
    }
  }

  async #callTool(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { name, arguments: args = {}, _meta } = params;
    if (typeof name !== 'string' || name === '') throw invalidParams('name must be a string');
    if (!isObject(args)) throw invalidParams('arguments must be an object');
    try {
      const result = await this.#forward('tools/call', { name, arguments: args, _meta }, signal);
      return boundResult(result, this.#options.bounds ?? {});
    } catch (error) {
      if (error instanceof AppError) return toolError(error);
      const isInvalid = error instanceof ProtocolError && error.code === INVALID_PARAMS;
      if (!isInvalid || !this.#options.upstream.hasTool(name)) throw error;
      // Invalid arguments are a tool error, so that the model can correct them (MCP, tools: error handling).
      const hint = { text: 'correct the arguments: the input schema of the tool describes them' };
      return toolError(new AppError('tool_error', error.message, { rpcCode: error.code, hint }));
    }
  }

  async #listTools(signal: AbortSignal): Promise<JsonObject> {
    const { upstream, bounds = {} } = this.#options;
    const tools = await untilAborted(upstream.listTools(), signal);
    // A bounded result does not match the schema of the output.
    const listed = isBounded(bounds) ? tools.map(({ outputSchema: _, ...tool }) => tool) : tools;
    return { tools: listed, ...upstream.listCaching() };
  }

  /** Adds the skill to the resources of the service. */
  async #listResources(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const result = await this.#forwardIfServed('resources/list', params, signal);
    const own = params.cursor === undefined ? [skillResource()] : [];
    return { ...result, resources: [...own, ...[result?.resources ?? []].flat()] };
  }

  async #listTemplates(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const result = await this.#forwardIfServed('resources/templates/list', params, signal);
    return result ?? { resourceTemplates: [] };
  }

  async #readResource(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (isSkill(params.uri)) return readSkill();
    const result = await this.#forwardIfServed('resources/read', params, signal);
    if (result === undefined) throw invalidParams('the server has no such resource');
    return result;
  }

  /** Forwards a request; undefined if the service does not know the method. */
  async #forwardIfServed(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    try {
      return await this.#forwardOther(method, params, signal);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return undefined;
      throw error;
    }
  }

  async #forwardOther(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const capability = capabilityOf(method);
    if (capability === undefined || !(await this.#options.upstream.mayServe(capability))) {
      throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
    }
    return this.#forward(method, params, signal);
  }

  /** Forwards a request, and its progress under the host's own token. */
  async #forward(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (this.#pending >= MAX_PENDING_CALLS) {
      throw new ProtocolError(SERVER_BUSY, `${MAX_PENDING_CALLS} calls are already pending`);
    }
    this.#pending += 1;
    const { upstream } = this.#options;
    const progress = Progress.of(params, this.#options);
    const options = { signal, ...(progress && { onProgress: progress.forward }) };
    try {
      const task = () => untilAborted(upstream.request(method, forwardable(params), options), signal);
      const result = await this.#calls.run(task, signal);
      // Some hosts lose a progress notification that they read together with the response.
      if (progress?.wasReceived) await new Promise((resolve) => setImmediate(resolve));
      return result;
    } finally {
      this.#pending -= 1;
      progress?.end();
    }
  }
}

/** The progress of a call, with a heartbeat as long as the service sends none. */
class Progress {
  readonly #token: string | number;
  readonly #options: MethodOptions;
  readonly #done = new AbortController();
  wasReceived = false;

  static of({ _meta }: JsonObject, options: MethodOptions): Progress | undefined {
    const token = isObject(_meta) ? _meta.progressToken : undefined;
    return typeof token === 'string' || typeof token === 'number' ? new Progress(token, options) : undefined;
  }

  private constructor(token: string | number, options: MethodOptions) {
    this.#token = token;
    this.#options = options;
    this.#heartbeat().catch(() => {});
  }

  readonly forward = (progress: JsonObject): void => {
    this.wasReceived = true;
    this.#report(progress);
  };

  end(): void {
    this.#done.abort();
  }

  #report(progress: JsonObject): void {
    // Progress must not follow the response.
    if (this.#done.signal.aborted) return;
    const params = { ...progress, progressToken: this.#token };
    this.#options.send({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  async #heartbeat(): Promise<void> {
    for (let beat = 1; ; beat += 1) {
      await this.#options.sleep(HEARTBEAT_MS, this.#done.signal);
      // Progress must increase, so use steps smaller than those of the service.
      if (!this.wasReceived) this.#report({ progress: beat / 1000, message: 'waiting for the service' });
    }
  }
}

function toolError(error: AppError): JsonObject {
  const hint = hintFor(error);
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.message}\nhint: ${hintText(hint)}` }],
    _meta: { [ERROR_META_KEY]: errorFields(error.withHint(hint)) },
  };
}

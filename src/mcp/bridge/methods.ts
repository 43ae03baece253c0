import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../client/mcp/protocol.ts';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { hintText } from '../../output/hint-text.ts';
import { errorFields } from '../../output/problem.ts';
import { createSemaphore, untilAborted } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import {
  capabilityOf,
  describeServer,
  forwardable,
  invalidParams,
  negotiatedVersion,
  ProtocolError,
  SUPPORTED_VERSIONS,
} from './protocol.ts';
import type { Upstream } from './upstream.ts';

export interface MethodOptions {
  readonly upstream: Upstream;
  readonly sleep: Context['sleep'];
  /** Sends a message to the host. */
  send(message: unknown): void;
}

/** Member of `_meta` with the code and details of a tool error, for programs. */
export const ERROR_META_KEY = 'restaurant/error';

const MAX_RUNNING_CALLS = 8;
/** Maximum number of running and waiting calls. */
const MAX_PENDING_CALLS = 1008;
/** JSON-RPC 2.0: reserved for implementation-defined server errors. */
const SERVER_BUSY = -32000;
/**
 * Interval of progress notifications for a waiting call, if the host requested progress. Many hosts give up after 60 s
 * of silence.
 */
const HEARTBEAT_MS = 5000;

/**
 * Creates the methods of the server.
 * @returns runs a method; it rejects with a ProtocolError, an AppError, or the signal's reason when it is aborted
 */
export function createMethods({ upstream, sleep, send }: MethodOptions) {
  const limitCalls = createSemaphore(MAX_RUNNING_CALLS);
  let pending = 0;

  /** Forwards a request, and its progress under the host's own token. */
  async function forward(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (pending >= MAX_PENDING_CALLS) {
      throw new ProtocolError(SERVER_BUSY, `${MAX_PENDING_CALLS} calls are already pending`);
    }
    pending += 1;
    const progress = reportProgress(params, send, sleep);
    const options = { signal, ...(progress && { onProgress: progress.onProgress }) };
    try {
      const task = () => untilAborted(upstream.request(method, forwardable(params), options), signal);
      const result = await limitCalls(task, signal);
      // Some hosts lose a progress notification that they read together with the response.
      if (progress?.wasReceived()) await new Promise((resolve) => setImmediate(resolve));
      return result;
    } finally {
      pending -= 1;
      progress?.end();
    }
  }

  async function callTool(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { name, arguments: args = {}, _meta } = params;
    if (typeof name !== 'string' || name === '') throw invalidParams('name must be a string');
    if (!isObject(args)) throw invalidParams('arguments must be an object');
    try {
      return await forward('tools/call', { name, arguments: args, _meta }, signal);
    } catch (error) {
      if (error instanceof AppError) return toolError(error);
      // Invalid arguments are a tool error, so that the model can correct them (MCP, tools: error handling).
      if (error instanceof ProtocolError && error.code === INVALID_PARAMS && upstream.hasTool(name)) {
        const hint = 'correct the arguments: the input schema of the tool describes them';
        return toolError(new AppError('tool_error', error.message, { rpcCode: error.code, hint }));
      }
      throw error;
    }
  }

  async function forwardOther(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const capability = capabilityOf(method);
    if (capability === undefined || !isObject((await upstream.capabilities())[capability])) {
      throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
    }
    return forward(method, params, signal);
  }

  return async (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: negotiatedVersion(params.protocolVersion),
          ...describeServer(await upstream.capabilities()),
        };
      case 'server/discover':
        return {
          supportedVersions: SUPPORTED_VERSIONS,
          ...describeServer(await upstream.capabilities()),
        };
      case 'ping':
        return {};
      case 'tools/list':
        // The list is a single page, so no cursor can be valid.
        if ((params.cursor ?? null) !== null) throw invalidParams('unknown cursor');
        return { tools: await untilAborted(upstream.listTools(), signal) };
      case 'tools/call':
        return callTool(params, signal);
      default:
        return forwardOther(method, params, signal);
    }
  };
}

/**
 * Reports the progress of a call to the host, with a heartbeat as long as the service sends none.
 * @returns undefined if the host has not requested progress
 */
function reportProgress({ _meta }: JsonObject, send: MethodOptions['send'], sleep: Context['sleep']) {
  const token = isObject(_meta) ? _meta.progressToken : undefined;
  if (typeof token !== 'string' && typeof token !== 'number') return undefined;
  const done = new AbortController();
  let received = false;
  function report(progress: JsonObject): void {
    // Progress must not follow the response.
    if (done.signal.aborted) return;
    const notification = { ...progress, progressToken: token };
    send({ jsonrpc: '2.0', method: 'notifications/progress', params: notification });
  }
  async function heartbeat(): Promise<void> {
    for (let beat = 1; ; beat += 1) {
      await sleep(HEARTBEAT_MS, done.signal);
      // Progress must increase, so use steps smaller than those of the service.
      if (!received) report({ progress: beat / 1000, message: 'waiting for the service' });
    }
  }
  heartbeat().catch(() => {});
  return {
    onProgress(progress: JsonObject): void {
      received = true;
      report(progress);
    },
    wasReceived: () => received,
    end: () => done.abort(),
  };
}

/** Formats a failure as a tool result, so that the agent can read it and act on it. */
function toolError(error: AppError): JsonObject {
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.message}\nhint: ${hintText(error.hint)}` }],
    _meta: { [ERROR_META_KEY]: errorFields(error) },
  };
}

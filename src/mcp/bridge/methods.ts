import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import type { Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { errorFields } from '../../output/problem.ts';
import { createSemaphore, QueueFull } from '../../util/semaphore.ts';
import { INTERNAL_ERROR, invalidParams, METHOD_NOT_FOUND, ProtocolError, SERVER_BUSY } from './message.ts';
import { discoverResult, initializeResult } from './protocol.ts';

/** Options of one tool call. */
export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Receives `params` of each `notifications/progress`. Omitted: the host did not request progress. */
  onProgress?(params: JsonObject): void;
}

/** The service behind the bridge. */
export interface Upstream {
  /** Returns the tools for the host. @throws {AppError} */
  listTools(): Promise<readonly Tool[]>;
  /** Returns the tool's result as received. @throws {AppError}; {ProtocolError} for a JSON-RPC error of the service */
  callTool(name: string, args: JsonObject, options: ToolCallOptions): Promise<JsonObject>;
}

/** Returns the result of a method. @throws {ProtocolError}; the signal's reason when it is aborted */
export type Methods = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** Member of `_meta` that holds the code and details of a tool error, for programs. */
export const ERROR_META_KEY = 'restaurant/error';

const MAX_RUNNING_CALLS = 8;
const MAX_WAITING_CALLS = 1000;

/** Creates the methods of the server. `send` takes the notifications that precede a response. */
export function createMethods(upstream: Upstream, send: (message: JsonObject) => void): Methods {
  const semaphore = createSemaphore(MAX_RUNNING_CALLS, MAX_WAITING_CALLS);

  async function listTools({ cursor }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    // The list is a single page, so no cursor can be valid.
    if (cursor !== undefined && cursor !== null) throw invalidParams('unknown cursor');
    try {
      return { tools: await untilAborted(upstream.listTools(), signal) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new ProtocolError(INTERNAL_ERROR, `${error.message}; hint: ${error.hint}`);
    }
  }

  async function callTool(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { name, args, progressToken } = readToolCall(params);
    // Progress must not follow the response.
    let open = true;
    const onProgress = (progress: JsonObject): void => {
      const notification = { ...progress, progressToken };
      if (open) send({ jsonrpc: '2.0', method: 'notifications/progress', params: notification });
    };
    const options = { signal, ...(progressToken === undefined ? {} : { onProgress }) };
    try {
      return await semaphore.run(() => untilAborted(upstream.callTool(name, args, options), signal), signal);
    } catch (error) {
      if (error instanceof QueueFull) throw new ProtocolError(SERVER_BUSY, error.message);
      if (error instanceof AppError) return toolError(error);
      throw error;
    } finally {
      open = false;
    }
  }

  return async (method, params, signal) => {
    switch (method) {
      case 'initialize':
        return initializeResult(params);
      case 'server/discover':
        return discoverResult();
      case 'ping':
        return {};
      case 'tools/list':
        return listTools(params, signal);
      case 'tools/call':
        return callTool(params, signal);
      default:
        throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
    }
  };
}

interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly progressToken?: string | number;
}

/** Reads `params` of `tools/call`. @throws {ProtocolError} -32602 */
function readToolCall(params: JsonObject): ToolCall {
  const { name, arguments: args = {}, _meta: meta } = params;
  if (typeof name !== 'string' || name === '') throw invalidParams('name must be a string');
  if (!isObject(args)) throw invalidParams('arguments must be an object');
  const token = isObject(meta) ? meta.progressToken : undefined;
  const valid = typeof token === 'string' || typeof token === 'number';
  return { name, args, ...(valid ? { progressToken: token } : {}) };
}

/** Formats a failure as a tool result (MCP, tools: error handling), so that the agent can read it and act on it. */
function toolError(error: AppError): JsonObject {
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.message}\nhint: ${error.hint}` }],
    _meta: { [ERROR_META_KEY]: errorFields(error) },
  };
}

/** Settles like the promise, or rejects with the signal's reason as soon as it is aborted. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

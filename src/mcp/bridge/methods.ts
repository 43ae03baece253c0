import type { JsonObject } from '../../client/rpc.ts';
import type { Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { createLimit, LimitReached } from './limit.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, ProtocolError, SERVER_BUSY } from './message.ts';
import { readListParams, readToolCall } from './params.ts';
import { discoverResult, initializeResult } from './protocol.ts';
import { toolError } from './tool-error.ts';

/** What a call of a tool may take along. */
export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Gets `params` of each `notifications/progress`. Left out: none are wanted. */
  onProgress?(params: JsonObject): void;
}

/** What the bridge stands in front of. */
export interface Upstream {
  /** The tools that a host is offered. @throws {AppError} */
  listTools(): Promise<readonly Tool[]>;
  /** The result of the tool as the service gave it. @throws {AppError} or, as the service's own error, {ProtocolError} */
  callTool(name: string, args: JsonObject, options: ToolCallOptions): Promise<JsonObject>;
}

/** Gives the result of a method. @throws {ProtocolError}; the signal's reason when it is aborted */
export type Methods = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** Calls of the service at the same time, and how many may wait for their turn. */
const MOST_CALLS = 8;
const MOST_WAITING = 1000;

/** The methods that are served. `send` takes the notifications that precede a response. */
export function createMethods(upstream: Upstream, send: (message: JsonObject) => void): Methods {
  const limit = createLimit(MOST_CALLS, MOST_WAITING);

  async function listTools(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    readListParams(params);
    try {
      return { tools: await untilAborted(upstream.listTools(), signal) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new ProtocolError(INTERNAL_ERROR, `${error.message}; hint: ${error.hint}`);
    }
  }

  async function callTool(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { name, args, progressToken } = readToolCall(params);
    // Progress that comes late would follow the response.
    let open = true;
    const onProgress = (progress: JsonObject): void => {
      const notice = { ...progress, progressToken };
      if (open) send({ jsonrpc: '2.0', method: 'notifications/progress', params: notice });
    };
    const options = { signal, ...(progressToken === undefined ? {} : { onProgress }) };
    try {
      return await limit.run(() => untilAborted(upstream.callTool(name, args, options), signal), signal);
    } catch (error) {
      if (error instanceof LimitReached) throw new ProtocolError(SERVER_BUSY, error.message);
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

/** The promise, or the signal's reason as soon as it is aborted. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

import type { JsonObject } from '../api/rpc.ts';
import type { Tool } from '../api/types.ts';
import { AppError } from '../errors.ts';
import { discoverResult, initializeResult, isModern, modernResult } from './facts.ts';
import type { Line } from './framing.ts';
import { createLimit, LimitReached } from './limit.ts';
import {
  answerableId,
  errorMessage,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type Incoming,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  ProtocolError,
  parseMessage,
  type RequestId,
  readMessage,
  resultMessage,
  SERVER_BUSY,
} from './message.ts';
import { readListParams, readToolCall } from './params.ts';
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

export interface BridgeOptions {
  readonly upstream: Upstream;
  /** Takes a message for the host. */
  send(message: unknown): void;
  /** Gets what failed for no reason that is known. */
  onFault?(fault: unknown): void;
}

/** An MCP server over messages alone: no streams, no clock. */
export interface Bridge {
  receive(line: Line): void;
  /** Settles when nothing is under way. */
  idle(): Promise<void>;
  /** Ends what is under way; each call is answered with the reason. */
  stop(reason: AppError): void;
}

type Request = Extract<Incoming, { kind: 'request' }>;

/** Calls of the service at the same time, and how many may wait for their turn. */
const MOST_CALLS = 8;
const MOST_WAITING = 1000;
const MOST_IN_BATCH = 1000;
/** Why a call ends that its host no longer wants. */
const CANCELLED = Symbol('cancelled');

export function createBridge({ upstream, send, onFault }: BridgeOptions): Bridge {
  const limit = createLimit(MOST_CALLS, MOST_WAITING);
  const underWay = new Map<RequestId, AbortController>();
  const pending = new Set<Promise<void>>();

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

  async function resultOf({ method, params }: Request, signal: AbortSignal): Promise<JsonObject> {
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
  }

  /** The response to a request; none to one that was cancelled. */
  async function answer(request: Request): Promise<JsonObject | undefined> {
    const { id, method, params } = request;
    if (underWay.has(id)) {
      const taken = new ProtocolError(
        INVALID_REQUEST,
        'Invalid Request: a request with this id is under way',
      );
      return errorMessage(id, taken);
    }
    const controller = new AbortController();
    const { signal } = controller;
    underWay.set(id, controller);
    try {
      const modern = isModern(params) || method === 'server/discover';
      const result = await resultOf(request, signal);
      if (signal.reason === CANCELLED) return undefined;
      const keep = method === 'tools/list' || method === 'server/discover';
      return resultMessage(id, modern ? modernResult(result, keep) : result);
    } catch (error) {
      if (signal.reason === CANCELLED) return undefined;
      return errorMessage(id, asProtocolError(error));
    } finally {
      underWay.delete(id);
    }
  }

  function asProtocolError(error: unknown): ProtocolError {
    if (error instanceof ProtocolError) return error;
    if (error instanceof AppError) return new ProtocolError(INTERNAL_ERROR, error.message);
    onFault?.(error);
    return new ProtocolError(INTERNAL_ERROR, 'Internal error');
  }

  /** What a message is answered with, if with anything. */
  async function handle(value: unknown): Promise<JsonObject | undefined> {
    let message: Incoming;
    try {
      message = readMessage(value);
    } catch (error) {
      return errorMessage(answerableId(value), asProtocolError(error));
    }
    if (message.kind === 'request') return answer(message);
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      underWay.get(message.params.requestId as RequestId)?.abort(CANCELLED);
    }
    return undefined;
  }

  /** A batch (JSON-RPC 2.0, section 6; MCP until 2025-03-26) is answered by a batch. */
  async function handleLine(line: Line): Promise<void> {
    if ('problem' in line) {
      send(errorMessage(null, new ProtocolError(PARSE_ERROR, `Parse error: ${line.problem}`)));
      return;
    }
    let value: unknown;
    try {
      value = parseMessage(line.text);
    } catch (error) {
      send(errorMessage(null, asProtocolError(error)));
      return;
    }
    if (!Array.isArray(value) || value.length === 0 || value.length > MOST_IN_BATCH) {
      const response = await handle(value);
      if (response !== undefined) send(response);
      return;
    }
    const responses = (await Promise.all(value.map(handle))).filter((each) => each !== undefined);
    if (responses.length > 0) send(responses);
  }

  return {
    receive(line) {
      const work = handleLine(line).finally(() => pending.delete(work));
      pending.add(work);
    },
    async idle() {
      while (pending.size > 0) await Promise.all(pending);
    },
    stop(reason) {
      for (const controller of underWay.values()) controller.abort(reason);
    },
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

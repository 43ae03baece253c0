import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '../../client/mcp/protocol.ts';
import type { JsonObject } from '../../client/rpc/envelope.ts';
import { AppError } from '../../errors.ts';
import type { Line } from './framing.ts';
import {
  errorMessage,
  type Incoming,
  ProtocolError,
  parseMessage,
  type RequestId,
  readMessage,
  responseId,
  resultMessage,
} from './message.ts';
import { createMethods, type MethodOptions } from './methods.ts';
import { isModern, modernResult } from './protocol.ts';

export interface BridgeOptions extends Omit<MethodOptions, 'send'> {
  /** Takes a message for the host. */
  send(message: unknown): void;
  /** Receives unexpected errors. */
  onFault?(fault: unknown): void;
}

/** An MCP server over messages, without streams. */
export interface Bridge {
  receive(line: Line): void;
  /** Settles when no request is pending. */
  idle(): Promise<void>;
  /** Ends all pending requests; each gets the reason as its response. */
  stop(reason: AppError): void;
}

type Request = Extract<Incoming, { kind: 'request' }>;

const MAX_BATCH = 1000;
/** Abort reason of a request that its host cancelled. */
const CANCELLED = Symbol('cancelled');

/** Creates the server. */
export function createBridge({ upstream, send, sleep, onFault }: BridgeOptions): Bridge {
  const methods = createMethods({ upstream, send, sleep });
  const controllers = new Map<RequestId, AbortController>();
  const pending = new Set<Promise<void>>();

  /** Returns the response to a request; undefined when it was cancelled. */
  async function respond({ id, method, params }: Request): Promise<JsonObject | undefined> {
    if (controllers.has(id)) {
      const message = 'Invalid Request: a request with this id is already pending';
      return errorMessage(id, new ProtocolError(INVALID_REQUEST, message));
    }
    const controller = new AbortController();
    const { signal } = controller;
    controllers.set(id, controller);
    try {
      const modern = isModern(params) || method === 'server/discover';
      const result = await methods(method, params, signal);
      if (signal.reason === CANCELLED) return undefined;
      return resultMessage(id, modern ? modernResult(method, result) : result);
    } catch (error) {
      if (signal.reason === CANCELLED) return undefined;
      return errorMessage(id, toProtocolError(error));
    } finally {
      controllers.delete(id);
    }
  }

  function toProtocolError(error: unknown): ProtocolError {
    if (error instanceof ProtocolError) return error;
    if (error instanceof AppError) return new ProtocolError(INTERNAL_ERROR, error.message);
    onFault?.(error);
    return new ProtocolError(INTERNAL_ERROR, 'Internal error');
  }

  /** Handles a parsed message. @returns the response, if there is one */
  async function handle(value: unknown): Promise<JsonObject | undefined> {
    let message: Incoming;
    try {
      message = readMessage(value);
    } catch (error) {
      return errorMessage(responseId(value), toProtocolError(error));
    }
    if (message.kind === 'request') return respond(message);
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      controllers.get(message.params.requestId as RequestId)?.abort(CANCELLED);
    }
    return undefined;
  }

  /** A batch (JSON-RPC 2.0, section 6; MCP until 2025-03-26) gets a batch as its response. */
  async function handleLine(line: Line): Promise<void> {
    let value: unknown;
    try {
      if ('problem' in line) throw new ProtocolError(PARSE_ERROR, `Parse error: ${line.problem}`);
      value = parseMessage(line.text);
    } catch (error) {
      send(errorMessage(null, toProtocolError(error)));
      return;
    }
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_BATCH) {
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
      for (const controller of controllers.values()) controller.abort(reason);
    },
  };
}

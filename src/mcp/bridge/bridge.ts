import type { JsonObject } from '../../client/rpc.ts';
import { AppError } from '../../errors.ts';
import type { Line } from './framing.ts';
import {
  answerableId,
  errorMessage,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  type Incoming,
  PARSE_ERROR,
  ProtocolError,
  parseMessage,
  type RequestId,
  readMessage,
  resultMessage,
} from './message.ts';
import { createMethods, type Upstream } from './methods.ts';
import { isModern, modernResult } from './protocol.ts';

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

const MOST_IN_BATCH = 1000;
/** Results that a modern host may keep for a while. */
const LASTING: readonly string[] = ['tools/list', 'server/discover'];
/** Why a call ends that its host no longer wants. */
const CANCELLED = Symbol('cancelled');

export function createBridge({ upstream, send, onFault }: BridgeOptions): Bridge {
  const methods = createMethods(upstream, send);
  const underWay = new Map<RequestId, AbortController>();
  const pending = new Set<Promise<void>>();

  /** The response to a request; none to one that was cancelled. */
  async function answer({ id, method, params }: Request): Promise<JsonObject | undefined> {
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
      const result = await methods(method, params, signal);
      if (signal.reason === CANCELLED) return undefined;
      return resultMessage(id, modern ? modernResult(result, LASTING.includes(method)) : result);
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
    let value: unknown;
    try {
      if ('problem' in line) throw new ProtocolError(PARSE_ERROR, `Parse error: ${line.problem}`);
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

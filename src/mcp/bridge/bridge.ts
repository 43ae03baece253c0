import { hintFor } from '../../app/error-hint.ts';
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '../../client/rpc/envelope.ts';
import { AppError } from '../../errors.ts';
import { hintText } from '../../output/hint-text.ts';
import { parseExactJson } from '../../util/exact-json.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import type { BridgeLine } from './framing.ts';
import { type MethodOptions, Methods } from './methods.ts';
import { invalidParams, isModern, modernResult, ProtocolError } from './protocol.ts';

interface BridgeOptions extends MethodOptions {
  onFault?(fault: unknown): void;
}

type RequestId = string | number;

const MAX_BATCH = 1000;
const CANCELLED = Symbol('cancelled');

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #methods: Methods;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #pending = new Set<Promise<void>>();

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#methods = new Methods(options);
  }

  receive(line: BridgeLine): void {
    const work = this.#handleLine(line).finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  stop(reason: AppError): void {
    for (const controller of this.#running.values()) controller.abort(reason);
  }

  async #handleLine(line: BridgeLine): Promise<void> {
    const { send } = this.#options;
    const value = parseLine(line);
    if (value instanceof ProtocolError) {
      send(errorMessage(null, value));
    } else if (Array.isArray(value) && value.length > 0 && value.length <= MAX_BATCH) {
      const responses = await Promise.all(value.map((each) => this.#handle(each)));
      const present = responses.filter((each) => each !== undefined);
      if (present.length > 0) send(present);
    } else {
      const response = await this.#handle(value);
      if (response !== undefined) send(response);
    }
  }

  async #handle(value: unknown): Promise<JsonObject | undefined> {
    // The bridge sends no requests, so a response belongs to none.
    if (isResponse(value)) return undefined;
    // The response has the id of the message even if the rest of the message is invalid (JSON-RPC 2.0, section 5).
    const id = isObject(value) && isRequestId(value.id) ? value.id : null;
    const controller = new AbortController();
    const isCancelled = () => controller.signal.reason === CANCELLED;
    try {
      const result = await this.#run(readMessage(value), controller);
      return result === undefined || isCancelled() ? undefined : { jsonrpc: '2.0', id, result };
    } catch (error) {
      return isCancelled() ? undefined : errorMessage(id, this.#toProtocolError(error));
    }
  }

  async #run(
    { id, method, params }: HostMessage,
    controller: AbortController,
  ): Promise<JsonObject | undefined> {
    if (id === undefined) {
      if (method === 'notifications/cancelled') {
        this.#running.get(params.requestId as RequestId)?.abort(CANCELLED);
      }
      return undefined;
    }
    if (this.#running.has(id)) throw invalidRequest('a request with this id is already pending');
    this.#running.set(id, controller);
    try {
      const hasMetadata = isModern(params);
      const { signal } = controller;
      const result = await this.#methods.call({ method, params, signal, isModern: hasMetadata });
      return hasMetadata || method === 'server/discover' ? modernResult(method, result) : result;
    } finally {
      this.#running.delete(id);
    }
  }

  #toProtocolError(error: unknown): ProtocolError {
    if (error instanceof ProtocolError) return error;
    if (error instanceof AppError) {
      return new ProtocolError(INTERNAL_ERROR, `${error.message}; hint: ${hintText(hintFor(error))}`);
    }
    this.#options.onFault?.(error);
    return new ProtocolError(INTERNAL_ERROR, 'Internal error');
  }
}

/** A request of the host, or a notification if it has no `id`. */
interface HostMessage {
  readonly id?: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

const invalidRequest = (why: string): ProtocolError =>
  new ProtocolError(INVALID_REQUEST, `Invalid Request: ${why}`);

function parseLine(line: BridgeLine): unknown {
  if ('problem' in line) return new ProtocolError(PARSE_ERROR, `Parse error: ${line.problem}`);
  const value = parseExactJson(line.text);
  return value === undefined
    ? new ProtocolError(PARSE_ERROR, 'Parse error: the line is not valid JSON')
    : value;
}

function readMessage(value: unknown): HostMessage {
  if (!isObject(value)) throw invalidRequest('the message must be an object');
  const { id, method, params = {} } = value;
  if (value.jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0"');
  if (typeof method !== 'string') throw invalidRequest('method must be a string');
  if (!('id' in value)) return { method, params: isObject(params) ? params : {} };
  if (!isRequestId(id)) throw invalidRequest('id must be a string or an integer');
  if (!isObject(params)) throw invalidParams('params must be an object');
  return { id, method, params };
}

const isResponse = (value: unknown): value is JsonObject =>
  isObject(value) &&
  value.method === undefined &&
  value.jsonrpc === '2.0' &&
  ('result' in value || 'error' in value);

const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

function errorMessage(id: RequestId | null, { code, message, data }: ProtocolError): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

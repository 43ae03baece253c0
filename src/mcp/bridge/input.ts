import { randomUUID } from 'node:crypto';
import type { InputRequest } from '../../client/types.ts';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { onAbort } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { invalidParams } from './protocol.ts';

interface Waiting {
  resolve(result: JsonObject): void;
  reject(error: AppError): void;
}

/** The requests to a host with a handshake, and its responses. */
export class Host {
  readonly #send: (message: JsonObject) => void;
  readonly #waiting = new Map<string, Waiting>();
  #lastId = 0;

  constructor(send: (message: JsonObject) => void) {
    this.#send = send;
  }

  /** @throws {AppError} `tool_error` if the host responds with an error; the signal's reason */
  async ask({ method, params }: InputRequest, signal: AbortSignal): Promise<JsonObject> {
    signal.throwIfAborted();
    this.#lastId += 1;
    const id = `input-${this.#lastId}`;
    let ignoreAbort = () => {};
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        ignoreAbort = onAbort(signal, () => {
          const cancelled = { requestId: id, reason: 'the call has ended' };
          this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled });
          reject(signal.reason);
        });
        this.#send({ jsonrpc: '2.0', id, method, params });
      });
    } finally {
      ignoreAbort();
      this.#waiting.delete(id);
    }
  }

  /** Takes a response. One to an unknown request is ignored. */
  receive({ id, result, error }: JsonObject): void {
    const waiting = this.#waiting.get(String(id));
    if (isObject(result)) waiting?.resolve(result);
    else
      waiting?.reject(
        new AppError('tool_error', `the MCP client refused the request for input${whyOf(error)}`),
      );
  }
}

const whyOf = (error: unknown): string =>
  isObject(error) && typeof error.message === 'string' ? `: ${error.message.slice(0, 200)}` : '';

type Answer = (request: InputRequest) => Promise<JsonObject>;
type Send = (answer: Answer, signal: AbortSignal) => Promise<JsonObject>;

interface Question {
  readonly request: InputRequest;
  answer(result: JsonObject): void;
}

/** A call to a server that requests input while the call is running (MCP until 2025-11-25). */
class OpenCall {
  readonly #result: Promise<JsonObject>;
  readonly #controller = new AbortController();
  readonly #questions: Question[] = [];
  #wake = () => {};

  constructor(send: Send) {
    const answer: Answer = (request) =>
      new Promise((resolve) => {
        this.#questions.push({ request, answer: resolve });
        this.#wake();
      });
    this.#result = send(answer, this.#controller.signal);
    // It may fail while nobody waits for it.
    this.#result.catch(() => {});
  }

  /** Returns the result, or the next request for input. */
  async next(signal: AbortSignal): Promise<JsonObject | Question> {
    const ignoreAbort = onAbort(signal, () => this.abort(signal.reason));
    try {
      const asked = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#questions.length === 0) await Promise.race([this.#result, asked]);
      return this.#questions.shift() ?? (await this.#result);
    } finally {
      ignoreAbort();
    }
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }
}

interface Parked {
  readonly call: OpenCall;
  readonly question: Question;
  /** Of the request that started it: another one cannot continue it. */
  readonly key: string;
  readonly timer: AbortController;
}

const PREFIX = 'restaurant/';
const INPUT_KEY = 'input';
const MAX_PARKED = 100;
const TOO_LATE = new AppError('timeout', 'the MCP client did not provide the input in time');
/** Longest time until the host repeats a request with the input, ms. */
const PARKED_MS = 10 * 60_000;

/**
 * Maps requests for input of a server with a handshake to those of MCP 2026-07-28: the host gets them as a result, and
 * repeats its request with the input, while the call to the server is kept open.
 */
export class Parking {
  readonly #sleep: Context['sleep'];
  readonly #parked = new Map<string, Parked>();

  constructor(sleep: Context['sleep']) {
    this.#sleep = sleep;
  }

  /** Starts a call, or continues one if the request repeats it. @throws {ProtocolError} -32602 for one that has ended */
  async call(method: string, params: JsonObject, signal: AbortSignal, send: Send): Promise<JsonObject> {
    const { requestState, inputResponses } = params;
    const key = JSON.stringify([method, params.name, params.uri, params.arguments]);
    if (typeof requestState !== 'string' || !requestState.startsWith(PREFIX)) {
      return this.#continue(new OpenCall(send), key, signal);
    }
    const parked = this.#parked.get(requestState);
    this.#parked.delete(requestState);
    parked?.timer.abort();
    const input = isObject(inputResponses) ? inputResponses[INPUT_KEY] : undefined;
    if (parked?.key !== key || !isObject(input))
      throw invalidParams('the call has ended: repeat it without requestState');
    parked.question.answer(input);
    return this.#continue(parked.call, key, signal);
  }

  stop(reason: unknown): void {
    for (const id of [...this.#parked.keys()]) this.#end(id, reason);
  }

  async #continue(call: OpenCall, key: string, signal: AbortSignal): Promise<JsonObject> {
    const next = await call.next(signal);
    if (!isQuestion(next)) return next;
    const requestState = `${PREFIX}${randomUUID()}`;
    this.#park(requestState, { call, question: next, key, timer: new AbortController() });
    return { resultType: 'input_required', inputRequests: { [INPUT_KEY]: next.request }, requestState };
  }

  #park(id: string, parked: Parked): void {
    const [oldest = ''] = this.#parked.keys();
    if (this.#parked.size >= MAX_PARKED) this.#end(oldest, TOO_LATE);
    this.#parked.set(id, parked);
    void this.#sleep(PARKED_MS, parked.timer.signal).then(
      () => this.#end(id, TOO_LATE),
      () => {},
    );
  }

  #end(id: string, reason: unknown): void {
    const parked = this.#parked.get(id);
    this.#parked.delete(id);
    parked?.timer.abort();
    parked?.call.abort(reason);
  }
}

const isQuestion = (next: JsonObject | Question): next is Question => typeof next.answer === 'function';

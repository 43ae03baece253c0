import type { InputRequest } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { onAbort } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/object.ts';

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

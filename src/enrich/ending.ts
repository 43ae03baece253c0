import { AppError } from '../errors.ts';

/** How a run ends before its list does. The first reason counts; all that is under way ends with it. */
export class Ending {
  readonly #controller = new AbortController();

  /** @param interruption Ctrl-C, for one */
  constructor(interruption: AbortSignal) {
    const follow = (): void => this.end(interruption.reason);
    if (interruption.aborted) follow();
    else interruption.addEventListener('abort', follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(reason: unknown): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }
}

/** Rows failed one after the other: the service is not well. */
export class TooManyFailures extends AppError {
  constructor(cause: AppError, count: number) {
    super(cause.code, `${count} rows in a row failed: ${cause.message}`, { ...cause.details, cause });
  }
}

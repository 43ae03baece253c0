import { AppError } from '../../errors.ts';

/** How a run ends before its list does. The first reason counts; all that is under way ends with it. */
export class Ending {
  readonly #controller = new AbortController();
  readonly #interruption: AbortSignal;
  readonly #follow = (): void => this.end(this.#interruption.reason);

  /** @param interruption Ctrl-C, for one */
  constructor(interruption: AbortSignal) {
    this.#interruption = interruption;
    if (interruption.aborted) this.#follow();
    else interruption.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(reason: unknown): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Stops to listen for the interruption. */
  release(): void {
    this.#interruption.removeEventListener('abort', this.#follow);
  }
}

/** Rows failed one after the other: the service is not well. */
export class TooManyFailures extends AppError {
  constructor(cause: AppError, count: number) {
    super(cause.code, `${count} rows in a row failed: ${cause.message}`, { ...cause.details, cause });
  }
}

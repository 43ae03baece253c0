import { AppError, type Code, type ErrorDetails } from '../errors.ts';

/**
 * What broke an exchange. `refused`: no connection came about, nothing was sent. `reset`: closed without an answer.
 * `cut_off`: closed inside the answer. `incomplete`: the answer ended in good order but is not all there.
 */
export type Reason =
  | 'refused'
  | 'connect_timeout'
  | 'unreachable'
  | 'dns'
  | 'proxy'
  | 'reset'
  | 'cut_off'
  | 'incomplete'
  | 'time';

/** An exchange that ended without a readable answer, with its reason for the decision to try again. */
export class ExchangeError extends AppError {
  readonly reason: Reason;

  constructor(code: Code, reason: Reason, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
    this.reason = reason;
  }
}

/** The same error with another message (and details), its reason kept. */
export function reworded(error: AppError, message: string, details: ErrorDetails = {}): AppError {
  const all = { ...error.details, hint: error.hint, retryable: error.retryable, ...details };
  return error instanceof ExchangeError
    ? new ExchangeError(error.code, error.reason, message, all)
    : new AppError(error.code, message, all);
}

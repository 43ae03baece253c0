import type { AppError } from '../../src/errors.ts';

/** Returns the error that a function throws. */
export function thrown(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    return error as AppError;
  }
  throw new Error('nothing was thrown');
}

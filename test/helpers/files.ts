import { statSync } from 'node:fs';
import { AppError } from '../../src/errors.ts';

/** Returns the error with which a function fails. */
export function errorOf(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('did not fail');
}

/** Returns the mode of a file, such as `600`. */
export const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

import type { AppError } from '../errors.ts';
import type { Hint } from '../hint.ts';
import type { App } from './app.ts';
import { factHint, hintFor } from './client-hints.ts';
import { hintOf } from './hints.ts';
import { currentKeyHint } from './target.ts';

/** Formats the hint of an error. @param fallback the hint for an error without one */
export const errorHint = (app: App, error: AppError, fallback?: Hint): string =>
  hintOf(app, hintInRun(app, error, fallback));

export function hintInRun(app: App, error: AppError, fallback?: Hint): Hint {
  const byRun = error.code === 'unauthorized' ? currentKeyHint(app) : fallback;
  return factHint(error) ?? byRun ?? hintFor(error);
}

import { AppError } from '../errors.ts';
import { excerpt, kindOf } from '../util/excerpt.ts';
import { isFilled, isObject, type JsonObject } from '../util/object.ts';
import type { FindOutput, Restaurant } from './types.ts';

export interface FindResult {
  /** The tool's output object as received. */
  readonly output: FindOutput;
  /** The `results` as received; see {@link isRestaurant}. */
  readonly results: readonly unknown[];
  /** How many of them are not objects. */
  readonly unreadable: number;
}

/** Whether an element of `results` is a restaurant: an object with an id and a name. */
export function isRestaurant(value: unknown): value is Restaurant {
  return isObject(value) && isFilled(value.service_id) && isFilled(value.name);
}

/** @throws {AppError} `bad_response` */
export function findResult(value: unknown): FindResult {
  const output = outputObject(value);
  const { results } = output;
  if (!Array.isArray(results)) throw mismatch('an array "results"', results, output);
  const unreadable = results.filter((element) => !isObject(element)).length;
  return { output: output as FindOutput, results, unreadable };
}

/** @throws {AppError} `bad_response` */
export function outputObject(output: unknown): JsonObject {
  if (!isObject(output)) throw mismatch("an object as the tool's output", output, output);
  return output;
}

/** @param context the value that contains it, which is shown */
export function mismatch(wanted: string, value: unknown, context?: unknown): AppError {
  const shown = context === undefined ? '' : ` in: ${excerpt(JSON.stringify(context))}`;
  return new AppError('bad_response', `expected ${wanted}, got ${kindOf(value)}${shown}`);
}

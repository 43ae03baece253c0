import type { Lookup } from '../client/types.ts';
import type { JsonObject } from '../util/json.ts';
import { errorFields } from './problem.ts';
import { pick } from './records.ts';

export function lookupEntry(
  { restaurantId, output, error }: Lookup,
  columns?: readonly string[],
): JsonObject {
  if (error !== undefined) return { restaurant_id: restaurantId, error: errorFields(error) };
  return { restaurant_id: restaurantId, output: columns === undefined ? output : pick(output, columns) };
}

export const lookupEntries = (outcomes: readonly Lookup[], columns?: readonly string[]): JsonObject[] =>
  outcomes.map((outcome) => lookupEntry(outcome, columns));

import { tryParseJson } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import type { EarlierResult } from '../row.ts';
import type { RowResult } from './match.ts';

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

/** Returns the result that a row keeps: one that was matched or confirmed, or rejected by a person. */
export function decidedResult(earlier: EarlierResult): RowResult | undefined {
  const { status, match, error, ...fields } = earlier;
  const isMatched = status === 'matched' && textOf(fields.id) !== '';
  if (!isMatched && !(status === 'not_found' && match === 'rejected')) return undefined;
  const { id, candidates, similarity, distance_m, details, cuisine_tags, ...restaurant } = fields;
  const parsed = typeof details === 'string' ? tryParseJson(details) : details;
  return {
    status,
    match: match as RowResult['match'],
    ...known({ candidates, similarity, distance_m }),
    restaurant: {
      ...known(restaurant),
      ...(textOf(id) !== '' && { service_id: textOf(id) }),
      ...(cuisine_tags !== '' && { cuisine_tags: listOf(cuisine_tags) }),
    },
    ...(isObject(parsed) && { details: parsed }),
    ...(typeof error === 'string' && error !== '' && { error }),
  } as RowResult;
}

function known(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isNumber = (value: unknown) => typeof value === 'string' && String(Number(value)) === value;
  const numbers: readonly string[] = ['candidates', 'similarity', 'distance_m', 'lat', 'lng'];
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([key, value]) => [key, numbers.includes(key) && isNumber(value) ? Number(value) : value]),
  );
}

const listOf = (tags: unknown): unknown => (typeof tags === 'string' ? tags.split('; ') : tags);

/** Statuses of a restaurant that was only guessed. */
const GUESSED: readonly unknown[] = ['likely', 'ambiguous'];

export const earlierId = (
  earlier: EarlierResult | undefined,
): { readonly id: string; readonly isGuess: boolean } => ({
  id: textOf(earlier?.id),
  isGuess: GUESSED.includes(earlier?.status),
});

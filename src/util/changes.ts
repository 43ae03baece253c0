import { canonicalJson, checkDepth, isObject, type JsonObject } from './json.ts';

export interface FieldChange {
  /** Dotted path. */
  readonly field: string;
  /** The value, which may be an array or an object; null if there was none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** A change of a restaurant, as it is recorded. */
export interface Change extends FieldChange {
  /** ISO 8601, UTC. */
  readonly when: string;
  readonly id: string;
  readonly name: string;
}

/**
 * Lists the fields in which two records of the same restaurant differ: first in the order of `before`, then those that
 * only `after` has. Arrays are compared as values; a missing field equals null. The order of keys has no meaning.
 * @throws {AppError} `bad_response` if a record nests deeper than 200 levels
 */
export function fieldChanges(before: unknown, after: unknown): FieldChange[] {
  checkDepth(before);
  checkDepth(after);
  return compare(before ?? null, after ?? null, '');
}

function compare(before: unknown, after: unknown, field: string): FieldChange[] {
  const hasMembers = isObject(before) || isObject(after);
  if (hasMembers && isObjectOrNull(before) && isObjectOrNull(after)) {
    const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
    return [...keys].flatMap((key) =>
      compare(member(before, key), member(after, key), field === '' ? key : `${field}.${key}`),
    );
  }
  return canonicalJson(before) === canonicalJson(after) ? [] : [{ field, before, after }];
}

const isObjectOrNull = (value: unknown): value is JsonObject | null => value === null || isObject(value);

/** Own members only: a response may have a key `__proto__`. */
const member = (holder: JsonObject | null, key: string): unknown =>
  (holder !== null && Object.hasOwn(holder, key) ? holder[key] : undefined) ?? null;

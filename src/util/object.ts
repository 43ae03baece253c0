/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Returns whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is a non-empty string. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

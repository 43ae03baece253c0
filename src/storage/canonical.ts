import { hash } from 'node:crypto';
import { rawNumber } from '../util/exact-json.ts';

/** SHA-256 in hex. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/**
 * JSON with the keys of each object sorted by code unit: equal texts for equal values. Unicode is kept as it is, not
 * normalised.
 * @throws {RangeError} when nested too deep.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((_, index) => memberJson(value, index)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name]) => `${JSON.stringify(name)}:${memberJson(value, name)}`);
  return `{${members.join(',')}}`;
}

/** Numbers count as they are written: two long ones may be the same for JavaScript. */
function memberJson(container: object, key: string | number): string {
  return rawNumber(container, key) ?? canonicalJson((container as Record<string | number, unknown>)[key]);
}

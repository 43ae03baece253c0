import type { Restaurant } from '../client/types.ts';
import { isObject } from './rpc.ts';

/** A restaurant whose id may still have to be made. */
export interface Entry extends Partial<Restaurant> {
  name: string;
  city: string;
}

const REQUIRED = ['name', 'city'] as const;
const TEXTS = ['service_id', 'address', 'neighborhood', 'grade', 'coverage_level'] as const;

/**
 * Checks the documented fields of a restaurant and keeps all others. An optional field that is null, or an id, grade or
 * coverage that is empty, counts as left out.
 * @throws what `fail` makes of the problem.
 */
export function readEntry(
  fields: Readonly<Record<string, unknown>>,
  fail: (problem: string) => Error,
): Entry {
  const known: Record<string, unknown> = { ...fields };
  for (const name of REQUIRED) {
    const value = known[name];
    if (typeof value !== 'string' || value.trim() === '') throw fail(`${name} is missing`);
  }
  for (const name of TEXTS) {
    const value = known[name];
    if (value === undefined || value === null || value === '') delete known[name];
    else if (typeof value !== 'string') throw fail(`${name} is not text`);
  }
  if (known.coordinates === undefined || known.coordinates === null) delete known.coordinates;
  else known.coordinates = readCoordinates(known.coordinates, fail);
  if (known.cuisine_tags === undefined || known.cuisine_tags === null) delete known.cuisine_tags;
  else if (!isTextList(known.cuisine_tags)) throw fail('cuisine_tags is not a list of texts');
  return known as Entry;
}

function readCoordinates(value: unknown, fail: (problem: string) => Error): { lat: number; lng: number } {
  const { lat, lng } = isObject(value) ? value : {};
  if (!isWithin(lat, 90)) throw fail('lat is not a number from -90 to 90');
  if (!isWithin(lng, 180)) throw fail('lng is not a number from -180 to 180');
  return { lat, lng };
}

function isWithin(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

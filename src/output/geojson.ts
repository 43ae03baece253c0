import { copyRawNumbers, rawNumber, setRawNumber } from '../util/exact-json.ts';
import { toJson } from '../util/json.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { isRecord, pick } from './records.ts';

/** A feature of RFC 7946, section 3.2. */
export interface Feature {
  type: 'Feature';
  id?: string | number;
  geometry: { type: 'Point'; coordinates: [lng: number, lat: number] } | null;
  properties: Record<string, unknown>;
}

export interface FeatureCollection {
  type: 'FeatureCollection';
  features: Feature[];
}

export function writeGeoJson({ records }: Presentation, { columns, prettyJson }: PresentOptions): string {
  return `${toJson(toGeoJson(records, columns), prettyJson)}\n`;
}

/**
 * Converts restaurants to GeoJSON (RFC 7946): points in `[lng, lat]`, `service_id` as the id of the feature, everything
 * else, or only `columns`, in `properties`. Without usable coordinates the geometry is null.
 */
export function toGeoJson(restaurants: readonly unknown[], columns?: readonly string[]): FeatureCollection {
  return {
    type: 'FeatureCollection',
    features: restaurants.map((restaurant) => feature(restaurant, columns)),
  };
}

function feature(restaurant: unknown, columns: readonly string[] | undefined): Feature {
  const record = isRecord(restaurant) ? restaurant : {};
  const geometry = point(record.coordinates);
  const shown = columns === undefined ? record : pick(record, columns);
  const properties = Object.fromEntries(
    Object.entries(shown).filter(([key]) => geometry === null || key !== 'coordinates'),
  );
  copyRawNumbers(shown, properties);
  const id = record.service_id;
  const made: Feature = {
    type: 'Feature',
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    geometry,
    properties,
  };
  keepAs(made, 'id', record, 'service_id');
  return made;
}

function point(coordinates: unknown): Feature['geometry'] {
  const found = pointOf(coordinates);
  if (found === undefined || !isRecord(coordinates)) return null;
  const place: [lng: number, lat: number] = [found.lng, found.lat];
  keepAs(place, '0', coordinates, 'lng');
  keepAs(place, '1', coordinates, 'lat');
  return { type: 'Point', coordinates: place };
}

/** Returns coordinates in degrees; undefined if they are not a place on Earth. */
export function pointOf(coordinates: unknown): { lat: number; lng: number } | undefined {
  if (!isRecord(coordinates)) return undefined;
  const { lat, lng } = coordinates;
  return isDegrees(lat, 90) && isDegrees(lng, 180) ? { lat, lng } : undefined;
}

/** Keeps the digits of a number that is copied to another key. */
function keepAs(to: object, newKey: string, from: object, key: string): void {
  const text = rawNumber(from, key);
  if (text !== undefined) setRawNumber(to, newKey, text);
}

function isDegrees(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit;
}

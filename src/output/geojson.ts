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

/**
 * Restaurants as GeoJSON (RFC 7946): points in `[lng, lat]`, `service_id` as the feature's id, everything else in
 * `properties`, of which only `columns` where they are given. Without usable coordinates the geometry is null.
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
  const properties = Object.entries(columns === undefined ? record : pick(record, columns));
  const id = record.service_id;
  return {
    type: 'Feature',
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    geometry,
    properties: Object.fromEntries(properties.filter(([key]) => geometry === null || key !== 'coordinates')),
  };
}

function point(coordinates: unknown): Feature['geometry'] {
  if (!isRecord(coordinates)) return null;
  const { lat, lng } = coordinates;
  return isDegrees(lat, 90) && isDegrees(lng, 180) ? { type: 'Point', coordinates: [lng, lat] } : null;
}

function isDegrees(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit;
}

import { isObject, toJson } from '../util/json.ts';
import { pointOf } from '../util/restaurant.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { pick } from './records.ts';

export function writeGeoJson({ records }: Presentation, { columns, prettyJson }: PresentOptions): string {
  return `${toJson(toGeoJson(records, columns), prettyJson)}\n`;
}

/** RFC 7946: points in `[lng, lat]`. Without usable coordinates the geometry is null. */
export function toGeoJson(restaurants: readonly unknown[], columns?: readonly string[]) {
  return {
    type: 'FeatureCollection',
    features: restaurants.map((restaurant) => feature(restaurant, columns)),
  };
}

function feature(restaurant: unknown, columns: readonly string[] | undefined) {
  const record = isObject(restaurant) ? restaurant : {};
  const point = pointOf(record.coordinates);
  const shown = columns === undefined ? record : pick(record, columns);
  const { coordinates: _, ...others } = shown;
  const id = record.service_id;
  return {
    type: 'Feature',
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    geometry: point === undefined ? null : { type: 'Point', coordinates: [point.lng, point.lat] },
    properties: point === undefined ? shown : others,
  };
}

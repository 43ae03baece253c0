import { isObject, toJson } from '../util/json.ts';
import { cleanLine, label } from '../util/text.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { pick, type Scalar, tabulate } from './records.ts';

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

/** Returns coordinates in degrees; undefined if they are not a place on Earth. */
export function pointOf(coordinates: unknown): { lat: number; lng: number } | undefined {
  if (!isObject(coordinates)) return undefined;
  const { lat, lng } = coordinates;
  return isDegrees(lat, 90) && isDegrees(lng, 180) ? { lat, lng } : undefined;
}

function isDegrees(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit;
}

/** Characters that XML 1.0 does not allow, not even escaped. */
const FORBIDDEN = /[\ufffe\uffff]/g;

/** KML 2.2 (OGC 12-007r2). A record without usable coordinates is a placemark without a point. */
export function writeKml({ records, columns: defaults }: Presentation, { columns }: PresentOptions): string {
  const { keys, rows } = tabulate(records, columns ?? defaults);
  const placemarks = records.map((record, index) => placemark(record, keys, rows[index] ?? []));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<kml xmlns="http://www.opengis.net/kml/2.2">',
    '<Document>',
    '<name>Restaurants</name>',
    ...placemarks,
    '</Document>',
    '</kml>',
    '',
  ].join('\n');
}

function placemark(record: unknown, keys: readonly string[], cells: readonly Scalar[]): string {
  const fields = isObject(record) ? record : {};
  const point = pointOf(fields.coordinates);
  const data = keys.flatMap((key, index) => {
    const value = cells[index] ?? null;
    if (value === null) return [];
    const name = escapeXml(key);
    return [
      `<Data name="${name}"><displayName>${escapeXml(label(key))}</displayName><value>${escapeXml(value)}</value></Data>`,
    ];
  });
  return [
    '<Placemark>',
    ...element('name', fields.name ?? fields.service_id),
    ...element('address', fields.address),
    `<ExtendedData>${data.join('')}</ExtendedData>`,
    ...(point === undefined ? [] : [`<Point><coordinates>${point.lng},${point.lat}</coordinates></Point>`]),
    '</Placemark>',
  ].join('\n');
}

function element(name: string, value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [`<${name}>${escapeXml(value)}</${name}>`] : [];
}

function escapeXml(value: unknown): string {
  return cleanLine(String(value))
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export function mapUrl(coordinates: unknown): string | undefined {
  const point = pointOf(coordinates);
  if (point === undefined) return undefined;
  const [north, east] = [point.lat, point.lng].map((degrees) => String(Number(degrees.toFixed(6))));
  return `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=18/${north}/${east}`;
}

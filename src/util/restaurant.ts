import { failure } from '../errors.ts';
import { type Hint, restaurant } from '../hint.ts';
import { isObject } from './json.ts';

const MAX_LENGTH = 128;

export const isId = (text: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/.test(text) && !text.includes('..') && text.length <= MAX_LENGTH;

/** Rejects what could be harmful in a URL, a shell command, or a terminal. @param where it is; undefined: on the command line */
export function checkId(text: string, where?: string): string {
  const id = text.trim();
  const at = where === undefined ? '' : `${where}: `;
  const code = where === undefined ? 'usage' : 'bad_input';
  const hint: Hint = {
    text: 'an id is a service_id, as in the output of',
    command: restaurant('last', '--json'),
  };
  if (id === 'null' || id === 'undefined') {
    throw failure(code, `${at}'${id}' is not an id: the search before it found nothing`, hint);
  }
  if (!isId(id)) {
    const shown = id.length > 60 ? `${id.slice(0, 60)}…` : id;
    throw failure(code, `${at}${JSON.stringify(shown)} is not a restaurant id`, hint);
  }
  return id;
}

export const SUMMARY_COLUMNS: readonly string[] = [
  'service_id',
  'name',
  'grade',
  'cuisine_tags',
  'neighborhood',
  'city',
  'address',
  'lat',
  'lng',
  'coverage_level',
];

const STEPS: Readonly<Record<string, number>> = { '+': -1, '': 0 };

/** Ranks letter grades (smaller is better); undefined for any other text. */
export function gradeRank(grade: unknown): number | undefined {
  const [, letter = '', sign = ''] = /^([a-z])\s*([+\-−–]?)$/i.exec(String(grade).trim()) ?? [];
  if (letter === '') return undefined;
  return (letter.toUpperCase().charCodeAt(0) - 64) * 3 + (STEPS[sign] ?? 1);
}

/** WGS 84, degrees. */
export interface Point {
  readonly lat: number;
  readonly lng: number;
}

/** Returns coordinates in degrees; undefined if they are not a place on Earth. */
export function pointOf(coordinates: unknown): Point | undefined {
  if (!isObject(coordinates)) return undefined;
  const { lat, lng } = coordinates;
  return isDegrees(lat, 90) && isDegrees(lng, 180) ? { lat, lng } : undefined;
}

function isDegrees(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit;
}

export function mapUrl(coordinates: unknown): string | undefined {
  const point = pointOf(coordinates);
  if (point === undefined) return undefined;
  const [north, east] = [point.lat, point.lng].map((degrees) => String(Number(degrees.toFixed(6))));
  return `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=18/${north}/${east}`;
}

const EARTH_RADIUS_KM = 6371;

export function kilometers(from: Point, to: Point): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const square = (value: number): number => Math.sin(radians(value) / 2) ** 2;
  const chord =
    square(to.lat - from.lat) +
    Math.cos(radians(from.lat)) * Math.cos(radians(to.lat)) * square(to.lng - from.lng);
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord)));
}

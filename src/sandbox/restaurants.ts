import { createHash } from 'node:crypto';
import { AppError } from '../errors.ts';
import { CsvError, CsvReader, type CsvRecord } from '../util/csv.ts';
import { foldName, spellAnd } from '../util/fold.ts';
import { isObject, type JsonObject, tryParseJson } from '../util/json.ts';
import { CITY_NAMES } from './cities.ts';
import SAMPLE from './sample.csv' with { type: 'text' };
import type { SandboxRestaurant } from './types.ts';

interface SampleEntry {
  readonly position: string;
  readonly fields: Readonly<JsonObject>;
}

const TEXT_FIELDS = ['service_id', 'address', 'neighborhood', 'grade', 'coverage_level'] as const;
const OPTIONAL: readonly string[] = [...TEXT_FIELDS, 'coordinates', 'cuisine_tags'];
const OMITTED_WHEN_EMPTY: readonly string[] = ['service_id', 'grade', 'coverage_level'];

export const sampleRestaurants = (): SandboxRestaurant[] => readRestaurants(SAMPLE, 'csv');

/**
 * Reads restaurants from JSON or CSV. JSON: an array, or an object with `results` (the output of a search). CSV: a header
 * with the documented names, `lat` and `lng`; `cuisine_tags` are separated by semicolons. Only name and city are
 * required; unknown fields are kept.
 * @throws {AppError} `bad_input`, naming the line or the entry.
 */
export function readRestaurants(text: string, format: 'json' | 'csv'): SandboxRestaurant[] {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const entries = format === 'json' ? readJson(content) : readCsv(content);
  if (entries.length === 0) throw badInput('the data contains no restaurants');
  const positions = new Map<string, string>();
  return entries.map(({ position, fields }) => {
    const restaurant = readFields(fields, positions, (problem) => badInput(`${position}: ${problem}`));
    const first = positions.get(restaurant.service_id);
    if (first !== undefined) throw badInput(`${position}: the service_id is already used by ${first}`);
    positions.set(restaurant.service_id, position);
    return restaurant;
  });
}

function readFields(
  fields: Readonly<JsonObject>,
  taken: ReadonlyMap<string, string>,
  fail: (problem: string) => AppError,
): SandboxRestaurant {
  const { name, city } = fields;
  if (!isFilled(name)) throw fail('name is missing');
  if (!isFilled(city)) throw fail('city is missing');
  const isMissing = ([field, value]: [string, unknown]): boolean =>
    value === null ? OPTIONAL.includes(field) : value === '' && OMITTED_WHEN_EMPTY.includes(field);
  const known = Object.fromEntries(Object.entries(fields).filter((entry) => !isMissing(entry)));
  const notText = TEXT_FIELDS.find((field) => typeof (known[field] ?? '') !== 'string');
  if (notText !== undefined) throw fail(`${notText} is not text`);
  const { coordinates, cuisine_tags: tags = [], address = '' } = known;
  if (coordinates !== undefined) known.coordinates = readCoordinates(coordinates, fail);
  if (!isTextList(tags)) throw fail('cuisine_tags is not a list of texts');
  known.service_id ??= freeId([city, name, String(address)], taken);
  return known as SandboxRestaurant & JsonObject;
}

function readCoordinates(value: unknown, fail: (problem: string) => AppError): { lat: number; lng: number } {
  const { lat, lng } = isObject(value) ? value : {};
  if (!isWithin(lat, 90)) throw fail('lat is not a number from -90 to 90');
  if (!isWithin(lng, 180)) throw fail('lng is not a number from -180 to 180');
  return { lat, lng };
}

function freeId(parts: readonly string[], taken: ReadonlyMap<string, string>): string {
  let id = stableId(parts);
  for (let copy = 2; taken.has(id); copy += 1) id = stableId([...parts, String(copy)]);
  return id;
}

function stableId(parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4];
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, `$1-$2-4$3-${variant}$4-$5`);
}

function readJson(text: string): SampleEntry[] {
  const value = tryParseJson(text);
  // The message of the parser would quote the file, which may not be meant for the sandbox.
  if (value === undefined) throw badInput('the data is not JSON');
  const list = isObject(value) ? value.results : value;
  if (!Array.isArray(list)) throw badInput('the data is neither a JSON array nor an object with "results"');
  return list.map((fields: unknown, index) => {
    const position = `entry ${index + 1}`;
    if (!isObject(fields)) throw badInput(`${position}: not an object`);
    return { position, fields };
  });
}

function readCsv(text: string): SampleEntry[] {
  const [header, ...rows] = parseCsv(text);
  if (header === undefined) return [];
  const names = header.cells.map((name) => name.trim());
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw badInput(`line 1: repeated column ${JSON.stringify(repeated)}`);
  return rows.map(({ line, cells }) => {
    const position = `line ${line}`;
    if (cells.length > names.length) {
      throw badInput(`${position}: ${cells.length} fields, but ${names.length} columns`);
    }
    const fields: JsonObject = {};
    const coordinates: Record<string, number> = {};
    for (const [index, name] of names.entries()) {
      const cell = cells[index] ?? '';
      if (name === 'cuisine_tags') {
        fields[name] = cell
          .split(';')
          .map((tag) => tag.trim())
          .filter(Boolean);
      } else if (name !== 'lat' && name !== 'lng') {
        fields[name] = cell;
      } else if (cell.trim() !== '') {
        coordinates[name] = Number(cell);
        fields.coordinates = coordinates;
      }
    }
    fields.cuisine_tags ??= [];
    return { position, fields };
  });
}

function parseCsv(text: string): CsvRecord[] {
  const reader = new CsvReader(',');
  try {
    return [...reader.push(text), ...reader.end()];
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw badInput(`line ${cause.line}: ${cause.message}`, cause);
  }
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isWithin = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && Math.abs(value) <= limit;

const badInput = (message: string, cause?: unknown): AppError =>
  new AppError('bad_input', message, cause === undefined ? {} : { cause });

const NO_MATCH = 4;

const ALIASES: ReadonlyMap<string, string> = new Map(
  CITY_NAMES.flatMap((names) => names.map((name) => [fold(name), fold(names[0] ?? name)] as const)),
);

export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(restaurants: readonly SandboxRestaurant[]) {
  const byId = new Map(restaurants.map((restaurant) => [restaurant.service_id, restaurant]));
  const byCity = new Map<string, SandboxRestaurant[]>();
  for (const restaurant of restaurants) {
    const key = cityKey(restaurant.city);
    const others = byCity.get(key) ?? [];
    others.push(restaurant);
    byCity.set(key, others);
  }
  const inCity = (city: string): readonly SandboxRestaurant[] => byCity.get(cityKey(city)) ?? [];
  return {
    /** Returns the matches, best first; equally good ones in the order of the data. */
    find(name: string, city: string): SandboxRestaurant[] {
      const query = fold(name);
      return inCity(city)
        .map((restaurant) => ({ restaurant, rank: rank(fold(restaurant.name), query) }))
        .filter((hit) => hit.rank < NO_MATCH)
        .sort((a, b) => a.rank - b.rank)
        .map(({ restaurant }) => restaurant);
    },
    get: (id: string): SandboxRestaurant | undefined => byId.get(id),
    inCity,
  };
}

/** Ranks a match: 0 is the same name, 1 a prefix, 2 all words, 3 a part. Both texts are folded. */
function rank(name: string, query: string): number {
  if (query === '') return NO_MATCH;
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  const words = name.split(' ');
  if (query.split(' ').every((part) => words.includes(part))) return 2;
  return name.includes(query) ? 3 : NO_MATCH;
}

export function fold(text: string): string {
  return foldName(spellAnd(text));
}

/** Returns a key that is the same for all spellings of a city. Text after a comma ("Paris, France") is ignored. */
export function cityKey(city: string): string {
  const folded = fold(city);
  const beforeComma = fold(city.split(/[,、，]/, 1)[0] ?? '');
  return ALIASES.get(folded) ?? ALIASES.get(beforeComma) ?? (beforeComma || folded);
}

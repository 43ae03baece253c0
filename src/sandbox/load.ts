import { CsvError, parse } from 'csv-parse/sync';
import { AppError } from '../errors.ts';
import { type Entry, readEntry } from './entry.ts';
import { isObject } from './rpc.ts';
import { stableId } from './seed.ts';
import type { SandboxRestaurant } from './types.ts';

/** A restaurant as it was written, and where: "line 4", "entry 3". */
interface Written {
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Reads a user's own restaurants. JSON: an array, or an object with `results` (what a search prints). CSV: a header of
 * the documented names, with `lat`, `lng`, and `cuisine_tags` joined by `; `. Only name and city are needed; what is not
 * known is kept.
 * @throws {AppError} `bad_input`, naming the line or the entry.
 */
export function readRestaurants(text: string, format: 'json' | 'csv'): SandboxRestaurant[] {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const written = format === 'json' ? readJson(plain) : readCsv(plain);
  if (written.length === 0) throw bad('the data holds no restaurant');
  const places = new Map<string, string>();
  return written.map(({ place, fields }) => {
    const entry = readEntry(fields, (problem) => bad(`${place}: ${problem}`));
    const restaurant = { ...entry, service_id: entry.service_id ?? freshId(entry, places) };
    const taken = places.get(restaurant.service_id);
    if (taken !== undefined) throw bad(`${place}: the service_id is that of ${taken}`);
    places.set(restaurant.service_id, place);
    return restaurant;
  });
}

/** An id from name, city and address; equal entries are told apart by their order. */
function freshId(entry: Entry, taken: ReadonlyMap<string, string>): string {
  const parts = [entry.city, entry.name, entry.address ?? ''];
  let id = stableId(...parts);
  for (let copy = 2; taken.has(id); copy += 1) id = stableId(...parts, String(copy));
  return id;
}

function readJson(text: string): Written[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw bad(`the data is not JSON${reason}`, cause);
  }
  const list = isObject(value) ? value.results : value;
  if (!Array.isArray(list)) throw bad('the data is neither a JSON array nor an object with "results"');
  return list.map((fields: unknown, index) => {
    const place = `entry ${index + 1}`;
    if (!isObject(fields)) throw bad(`${place}: not an object`);
    return { place, fields };
  });
}

function readCsv(text: string): Written[] {
  const [header, ...rows] = parseCsv(text);
  if (header === undefined) throw bad('the data holds no restaurant');
  const names = header.cells.map((name) => name.trim());
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw bad(`line 1: the column ${JSON.stringify(repeated)} is there twice`);
  return rows.map(({ line, cells }) => {
    if (cells.length > names.length)
      throw bad(`line ${line}: ${cells.length} fields, but ${names.length} columns`);
    const pairs = names.map((name, index) => [name, cells[index] ?? ''] as const);
    const { lat, lng, cuisine_tags = '', ...rest } = Object.fromEntries(pairs);
    const tags = cuisine_tags.split(';').map((tag) => tag.trim());
    const coordinates = lat || lng ? { lat: toNumber(lat), lng: toNumber(lng) } : undefined;
    return { place: `line ${line}`, fields: { ...rest, coordinates, cuisine_tags: tags.filter(Boolean) } };
  });
}

function parseCsv(text: string): { line: number; cells: string[] }[] {
  try {
    const records: unknown = parse(text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    });
    // With `info` each record comes in a wrapper that the library's types do not know.
    const wrapped = records as { info: { lines: number }; record: string[] }[];
    return wrapped.map(({ info, record }) => ({ line: info.lines, cells: record }));
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const line = typeof cause.lines === 'number' ? `line ${cause.lines}: ` : '';
    throw bad(`${line}not CSV (${cause.code})`, cause);
  }
}

/** NaN for what is no number, an empty cell included. */
function toNumber(cell: string | undefined): number {
  return cell === undefined || cell.trim() === '' ? Number.NaN : Number(cell);
}

function bad(message: string, cause?: unknown): AppError {
  return new AppError('bad_input', message, cause === undefined ? {} : { cause });
}

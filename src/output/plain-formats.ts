import { checkDepth, isObject, toJson } from '../util/json.ts';
import { didYouMean } from '../util/nearest.ts';
import { pointOf } from '../util/restaurant.ts';
import { cleanLine, label } from '../util/text.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { lines, pick, tabulate, toCell, valueAt } from './records.ts';

export function writeNdjson({ records }: Presentation, { columns }: PresentOptions): string {
  return lines(
    records.map((record) => toJson(columns === undefined ? record : pick(record, columns), false)),
  );
}

const SPECIAL = /[\\`*_{}[\]<>|~&]/g;

export function writeMarkdown(data: Presentation, options: PresentOptions): string {
  const columns = options.columns ?? data.readableColumns ?? data.columns;
  const { keys, rows } = tabulate(data.rows ?? data.records, columns);
  if (keys.length === 0) return '';
  const isNumeric = (index: number): boolean =>
    rows.length > 0 && rows.every((row) => typeof row[index] === 'number');
  const rule = keys.map((_, index) => (isNumeric(index) ? '---:' : '---'));
  const cells = rows.map((row) => row.map((cell) => escapeMarkdown(String(cell ?? ''))));
  return lines(
    [keys.map((key) => escapeMarkdown(label(key))), rule, ...cells].map((line) => `| ${line.join(' | ')} |`),
  );
}

/** Text without markup. A web address is a link, which escapes would break; `|` in it would end the cell. */
function escapeMarkdown(text: string): string {
  const line = cleanLine(text).trim();
  if (WEB_ADDRESS.test(line)) return `<${line.replaceAll('|', '%7C')}>`;
  return line.replace(SPECIAL, '\\$&');
}

/** An address that `<>` can hold (CommonMark 0.31, section 6.5) without another meaning in a cell. */
const WEB_ADDRESS = /^https?:\/\/[^\s<>\\`]+$/i;

const MAX_NAMED = 40;

/** Selected columns that no record has, with the nearest name. Other records may have them, so they are kept, empty. */
export function missingColumns(
  { records, columns: usual = [] }: Presentation,
  selected: readonly string[],
): { readonly message: string; readonly hint: string } | undefined {
  const missing = selected.filter(
    (column) => !usual.includes(column) && records.every((record) => valueAt(record, column) === undefined),
  );
  const [first] = missing;
  if (first === undefined || records.length === 0) return undefined;
  const ownKeys = records.filter(isObject).flatMap(Object.keys);
  const valid = [...new Set([...usual, ...tabulate(records).keys, ...ownKeys])];
  const named = valid.slice(0, MAX_NAMED).join(', ') + (valid.length > MAX_NAMED ? ', …' : '');
  const names = missing.map((column) => `'${column}'`).join(', ');
  const meant = didYouMean(first, valid, 1);
  return { message: `no result has ${names}`, hint: `${meant === '' ? '' : `${meant} `}these have ${named}` };
}

/** One field per line, for screen readers. Items of lists are numbered from 1; fields without a value are left out. */
export function writeList(data: Presentation, options: PresentOptions): string {
  const { columns: selected } = options;
  const columns = selected ?? data.readableColumns ?? data.columns;
  const readable = selected === undefined ? data.readable : undefined;
  const records = readable ?? data.rows ?? data.records;
  return records
    .map((record, index) => {
      checkDepth(record);
      const number = data.numbered === true ? [`Row: ${index + 1}`] : [];
      const all = columns?.flatMap((column) => fields(valueAt(record, column), [column]));
      return [...number, ...(all ?? fields(record, []))];
    })
    .map(lines)
    .join('\n');
}

function fields(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return value.flatMap((item, index) => fields(item, [...path, String(index + 1)]));
  if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => fields(inner, [...path, key]));
  const text = cleanLine(String(toCell(value) ?? '')).trim();
  return text === '' ? [] : [`${label(path.join(' '))}: ${text}`];
}

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

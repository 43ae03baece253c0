import { toJson } from '../util/json.ts';
import { cleanCell } from '../util/text.ts';
import { csvRows, tsvRow } from './csv.ts';
import { toGeoJson } from './geojson.ts';
import type { PageDocument } from './html/document.ts';
import { cellAt, checkColumns, flatten, isRecord, pick, type Scalar } from './records.ts';
import type { View } from './view.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'csv', 'tsv', 'geojson', 'html'] as const;
export type Format = (typeof FORMATS)[number];
/** The forms that are made of the records alone; a page is made of more. */
export type RecordFormat = Exclude<Format, 'html'>;

/** A command's data, ready for every form of output. */
export interface Presentation {
  /** The JSON document. */
  readonly json: unknown;
  /** The records in it, for the forms that have one line for each. An element that is no object gives an empty one. */
  readonly records: readonly unknown[];
  /** The records of CSV and TSV, where these show others than the rest. */
  readonly rows?: readonly unknown[];
  /** Columns of CSV and TSV where none are asked for. Default: all keys, as they first come. */
  readonly columns?: readonly string[];
  /** The JSON document cut down to these keys. Default: each record cut down, in a list where `json` is one. */
  readonly selectColumns?: (columns: readonly string[]) => unknown;
  /** The text for people, without a final line break. */
  table(view: View, columns?: readonly string[]): string;
  /** What a page shows. Undefined: there is none. */
  page?(columns?: readonly string[]): Promise<PageDocument>;
}

export interface PresentOptions {
  readonly columns?: readonly string[] | undefined;
  readonly prettyJson: boolean;
  /** Neutralise formulas in CSV. */
  readonly guardCsv: boolean;
  readonly view: View;
}

/**
 * The whole text of a command's data in one format, with a final line break where it is not empty.
 * @throws {AppError} `usage` where a column does not exist; `bad_response` where data nests too deep
 */
export function present(given: Presentation, format: RecordFormat, options: PresentOptions): string {
  const { columns, view } = options;
  const { rows } = given;
  const data =
    rows !== undefined && (format === 'csv' || format === 'tsv') ? { ...given, records: rows } : given;
  checkColumnNames(data, columns);
  const trimmed = (record: unknown): unknown => (columns === undefined ? record : pick(record, columns));
  switch (format) {
    case 'table':
      return lines([data.table(view, columns)].filter((text) => text !== ''));
    case 'json':
      return lines([toJson(columns === undefined ? data.json : trim(data, columns), options.prettyJson)]);
    case 'ndjson':
      return lines(data.records.map((record) => toJson(trimmed(record), false)));
    case 'geojson':
      return lines([toJson(toGeoJson(data.records, columns), options.prettyJson)]);
    case 'csv':
      return csv(data, options);
    case 'tsv': {
      const keys = columns ?? data.columns ?? keysOf(data.records);
      return lines(data.records.map((record) => tsvRow(row(record, keys))));
    }
  }
}

/** @throws {AppError} `usage` where a column that was asked for does not exist */
export function checkColumnNames(data: Presentation, columns: readonly string[] | undefined): void {
  if (columns !== undefined && data.records.length > 0) checkColumns(columns, columnsOf(data));
}

function csv(data: Presentation, { columns, guardCsv: guard }: PresentOptions): string {
  const keys = columns ?? data.columns ?? keysOf(data.records);
  if (keys.length === 0) return '';
  const records = data.records.map((record) => row(record, keys));
  return csvRows(
    [keys, ...records].map((cells) => cells.map(cleaned)),
    { guard },
  );
}

function cleaned(value: Scalar): Scalar {
  return typeof value === 'string' ? cleanCell(value) : value;
}

function row(record: unknown, columns: readonly string[]): Scalar[] {
  return columns.map((column) => cellAt(record, column));
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

function trim({ json, records, selectColumns: own }: Presentation, columns: readonly string[]): unknown {
  if (own !== undefined) return own(columns);
  const cut = records.map((record) => pick(record, columns));
  return Array.isArray(json) ? cut : cut[0];
}

function keysOf(records: readonly unknown[]): string[] {
  const keys = new Set<string>();
  for (const record of records) if (isRecord(record)) for (const key of flatten(record).keys()) keys.add(key);
  return [...keys];
}

/** Every name that `--columns` may hold: the usual ones, the dotted keys, and the keys that hold others. */
function columnsOf({ columns = [], records }: Presentation): string[] {
  const parents = records.flatMap((record) => (isRecord(record) ? Object.keys(record) : []));
  return [...new Set([...columns, ...keysOf(records), ...parents])];
}

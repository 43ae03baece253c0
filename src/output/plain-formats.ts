import { AppError } from '../errors.ts';
import { toJson } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';
import type { Presentation, PresentOptions } from './formats.ts';
import { isRecord, keysOf, lines, pick } from './records.ts';

export function writeTable({ table }: Presentation, { view, columns }: PresentOptions): string {
  const text = table(view, columns);
  return text === '' ? '' : `${text}\n`;
}

export function writeJson(data: Presentation, { columns, prettyJson }: PresentOptions): string {
  return `${toJson(selectedJson(data, columns), prettyJson)}\n`;
}

export function writeNdjson({ records }: Presentation, { columns }: PresentOptions): string {
  return lines(
    records.map((record) => toJson(columns === undefined ? record : pick(record, columns), false)),
  );
}

/** The JSON document, reduced to the selected columns. */
export function selectedJson(data: Presentation, columns: readonly string[] | undefined): unknown {
  if (columns === undefined) return data.json;
  if (data.selectColumns !== undefined) return data.selectColumns(columns);
  const records = data.records.map((record) => pick(record, columns));
  return Array.isArray(data.json) ? records : records[0];
}

const MAX_NAMED = 40;

/**
 * Checks the selected columns against those of the records.
 * @throws {AppError} `usage` with the valid names, and the nearest of them
 */
export function checkColumnNames(data: Presentation, columns: readonly string[] | undefined): void {
  if (columns === undefined || data.records.length === 0) return;
  const valid = columnNames(data);
  const unknown = columns.find((column) => !valid.includes(column));
  if (unknown === undefined && columns.length > 0) return;
  const problem = unknown === undefined ? 'no column is named' : `there is no column '${unknown}'`;
  const named = valid.slice(0, MAX_NAMED).join(', ') + (valid.length > MAX_NAMED ? ', …' : '');
  const [guess] = unknown === undefined ? [] : nearest(unknown, valid, 1);
  const better =
    guess === undefined ? valid.slice(0, 3) : columns.map((column) => (column === unknown ? guess : column));
  const option = `--columns ${shellWord(better.join(','))}`;
  const hint = guess === undefined ? `for example ${option}` : `did you mean ${option}?`;
  throw new AppError('usage', `${problem}; valid: ${named}`, { hint });
}

/** Every name that `--columns` may hold: the usual columns, the dotted keys, and the keys that hold others. */
function columnNames({ columns = [], records }: Presentation): string[] {
  const parents = records.flatMap((record) => (isRecord(record) ? Object.keys(record) : []));
  return [...new Set([...columns, ...keysOf(records), ...parents])];
}

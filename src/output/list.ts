import { checkDepth } from '../util/json.ts';
import { isObject } from '../util/object.ts';
import { cleanLine, label } from '../util/text.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { lines, toCell, valueAt } from './records.ts';

/** One field per line, for screen readers. Items of lists are numbered from 1; fields without a value are left out. */
export function writeList(data: Presentation, options: PresentOptions): string {
  const columns = options.columns ?? data.readableColumns ?? data.columns;
  const records = data.rows ?? data.records;
  return records
    .map((record) => {
      checkDepth(record);
      return columns?.flatMap((column) => fields(valueAt(record, column), [column])) ?? fields(record, []);
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

import type { ToolResult } from '../../client/types.ts';
import { stringifyRawNumbers } from '../../util/exact-json.ts';
import { callData } from '../call-data.ts';
import type { Presentation } from '../present.ts';
import { isRecord, pick } from '../records.ts';
import { clean, wrap } from '../text.ts';
import type { View } from '../view.ts';
import { contentLines, isNamedOnly } from './content.ts';
import { dataLines } from './data.ts';

/** The answer of any tool, for every form of output. */
export function callPresentation(result: ToolResult): Presentation {
  const json = callData(result);
  const list = isRecord(json) && Array.isArray(json.results) ? json.results : json;
  return {
    json,
    records: Array.isArray(list) ? list : [isRecord(list) ? list : { value: list }],
    selectColumns: (columns) => trimmed(json, columns),
    table: (view, columns) =>
      (columns === undefined
        ? resultLines(result, json, view)
        : valueLines(trimmed(json, columns), view)
      ).join('\n'),
  };
}

/** Whether the table only names some of the data. */
export function isTruncated({ content = [] }: ToolResult): boolean {
  return content.some(isNamedOnly);
}

function resultLines({ content = [] }: ToolResult, json: unknown, view: View): string[] {
  if (json === content) return contentLines(content, view);
  // Beside structured content, text says the same in words; pictures and links are more.
  const more = contentLines(
    content.filter((block) => isRecord(block) && block.type !== 'text'),
    view,
  );
  const lines = valueLines(json, view);
  return more.length === 0 ? lines : [...lines, '', ...more];
}

function valueLines(value: unknown, view: View): string[] {
  return typeof value === 'string'
    ? wrap(clean(value).trim(), view.width)
    : dataLines(stringifyRawNumbers(value), view.width, view);
}

function trimmed(json: unknown, columns: readonly string[]): unknown {
  if (Array.isArray(json)) return json.map((item) => pick(item, columns));
  if (!isRecord(json)) return json;
  return Array.isArray(json.results)
    ? { ...json, results: json.results.map((item) => pick(item, columns)) }
    : pick(json, columns);
}

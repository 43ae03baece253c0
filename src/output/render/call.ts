import type { ToolResult } from '../../api/types.ts';
import type { Presentation } from '../present.ts';
import { isRecord, pick } from '../records.ts';
import { clean, wrap } from '../text.ts';
import { dataLines } from './data.ts';

/**
 * The answer of any tool, for every form of output: `structuredContent` where there is one, else the only text block,
 * parsed where it is JSON, else the content as it came.
 */
export function callPresentation(result: ToolResult): Presentation {
  const json = dataOf(result);
  const list = isRecord(json) && Array.isArray(json.results) ? json.results : json;
  return {
    json,
    records: Array.isArray(list) ? list : [isRecord(list) ? list : { value: list }],
    trim: (columns) => trimmed(json, columns),
    table: (view, columns) => {
      const shown = columns === undefined ? json : trimmed(json, columns);
      return (
        typeof shown === 'string' ? wrap(clean(shown).trim(), view.width) : dataLines(shown, view.width, view)
      ).join('\n');
    },
  };
}

function trimmed(json: unknown, columns: readonly string[]): unknown {
  if (Array.isArray(json)) return json.map((item) => pick(item, columns));
  if (!isRecord(json)) return json;
  return Array.isArray(json.results)
    ? { ...json, results: json.results.map((item) => pick(item, columns)) }
    : pick(json, columns);
}

function dataOf({ structuredContent, content }: ToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [only] = content ?? [];
  const single =
    content?.length === 1 && isRecord(only) && only.type === 'text' && typeof only.text === 'string';
  return single ? parsed(String(only.text)) : (content ?? []);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

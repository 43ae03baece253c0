import type { ToolResult } from '../client/types.ts';
import { isInexact, parseExact } from '../util/exact-json.ts';
import { isRecord } from './records.ts';

/**
 * The data in the answer of any tool: `structuredContent` where there is one, else the only text block, parsed where it
 * is JSON, else the content as it came.
 */
export function callData({ structuredContent, content }: ToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [only] = content ?? [];
  const single =
    content?.length === 1 && isRecord(only) && only.type === 'text' && typeof only.text === 'string';
  return single ? parseText(String(only.text)) : (content ?? []);
}

function parseText(text: string): unknown {
  try {
    const value = parseExact(text);
    // A number alone has no place to keep its digits at.
    return typeof value === 'number' && isInexact(text.trim()) ? text.trim() : value;
  } catch {
    return text;
  }
}

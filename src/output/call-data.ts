import type { ToolResult } from '../client/types.ts';
import { isInexact, parseExact } from '../util/exact-json.ts';
import { isRecord } from './records.ts';

/**
 * Returns the data of a tool's result: `structuredContent` if present, else the only text block, parsed if it is JSON,
 * else the content as received.
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
    // The digits of a number are kept by the container that it is in; this one has none.
    return typeof value === 'number' && isInexact(text.trim()) ? text.trim() : value;
  } catch {
    return text;
  }
}

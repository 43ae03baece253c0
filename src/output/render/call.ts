import type { ToolResult } from '../../client/types.ts';
import { isObject, type JsonObject, memberText, tryParseJson } from '../../util/json.ts';
import { clean, cleanLine, wrap } from '../../util/text.ts';
import { dataLines } from '../data.ts';
import { indented } from '../pairs.ts';
import type { Presentation } from '../presentation.ts';
import { pick } from '../records.ts';
import type { View } from '../style.ts';

/**
 * `structuredContent`, else the only text block, parsed if it is JSON, else the content; with its JSON text as received.
 * @param received the JSON text of the result
 */
export function callData(
  { structuredContent, content = [] }: ToolResult,
  received = '',
): { readonly json: unknown; readonly text?: string | undefined } {
  if (structuredContent !== undefined) {
    return { json: structuredContent, text: memberText(received, 'structuredContent') };
  }
  const [only] = content;
  const isText = content.length === 1 && isObject(only) && only.type === 'text';
  if (!isText || typeof only.text !== 'string')
    return { json: content, text: memberText(received, 'content') };
  const json = tryParseJson(only.text);
  return json === undefined ? { json: only.text } : { json, text: only.text };
}

export function callPresentation(result: ToolResult, json: unknown): Presentation {
  const list = isObject(json) && Array.isArray(json.results) ? json.results : json;
  return {
    records: Array.isArray(list) ? list : [isObject(list) ? list : { value: list }],
    keyValue: isObject(list),
    selectColumns: (columns) => trimmed(json, columns),
    table: (view, columns) =>
      (columns === undefined
        ? resultLines(result, json, view)
        : valueLines(trimmed(json, columns), view)
      ).join('\n'),
  };
}

export function isTruncated({ content = [] }: ToolResult): boolean {
  return content.filter(isObject).some(({ type, resource }) => {
    return type === 'image' || type === 'audio' || (isObject(resource) && 'blob' in resource);
  });
}

function resultLines({ content = [] }: ToolResult, json: unknown, view: View): string[] {
  if (json === content) return contentLines(content, view);
  // If there is structured content, text blocks repeat it, but images and links add to it.
  const more = contentLines(
    content.filter((block) => isObject(block) && block.type !== 'text'),
    view,
  );
  const lines = valueLines(json, view);
  return more.length === 0 ? lines : [...lines, '', ...more];
}

function valueLines(value: unknown, view: View): string[] {
  return typeof value === 'string'
    ? wrap(clean(value).trim(), view.width)
    : dataLines(value, view.width, view);
}

function trimmed(json: unknown, columns: readonly string[]): unknown {
  if (Array.isArray(json)) return json.map((item) => pick(item, columns));
  if (!isObject(json)) return json;
  return Array.isArray(json.results)
    ? { ...json, results: json.results.map((item) => pick(item, columns)) }
    : pick(json, columns);
}

const CONTENT_INDENT = 2;

/** Text as received, JSON formatted for reading, and other blocks as their type, media type, and size or URI. */
export function contentLines(blocks: readonly unknown[], view: View): string[] {
  const parts = blocks.map((block) => blockLines(block, view)).filter((lines) => lines.length > 0);
  return parts.flatMap((lines, index) => {
    const before = parts[index - 1];
    const isListed = before === undefined || (before.length === 1 && lines.length === 1);
    return isListed ? lines : ['', ...lines];
  });
}

/** Kinds of blocks that are shown as `[image] image/png, 4.1 kB`, with their text below. */
const SUMMARIZED: ReadonlySet<unknown> = new Set(['image', 'audio', 'resource', 'resource_link']);

function blockLines(block: unknown, view: View): string[] {
  if (!isObject(block)) return dataLines(block, view.width, view);
  const { type, text, resource } = block;
  if (type === 'text' && typeof text === 'string') return textLines(text, view.width, view);
  if (!SUMMARIZED.has(type)) return dataLines(block, view.width, view);
  const about = isObject(resource) ? resource : block;
  const kind = `[${String(type).replace('_', ' ')}]`;
  const facts = [about.title ?? about.name, about.uri, about.mimeType, sizeOf(about)]
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => cleanLine(String(fact)));
  const [first = '', ...rest] = wrap(`${kind} ${facts.join(', ')}`.trim(), view.width);
  const below = [about.text, about.description].find((each) => typeof each === 'string');
  const content = typeof below === 'string' ? textLines(below, view.width - CONTENT_INDENT, view) : [];
  return [first.replace(kind, view.palette.heading), ...rest, ...indented(content, CONTENT_INDENT)];
}

function textLines(text: string, columns: number, view: View): string[] {
  const value = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  if (value !== undefined) return dataLines(value, columns, view);
  const shown = clean(text).trim();
  return shown === '' ? [] : wrap(shown, columns);
}

function sizeOf({ data, blob = data, size }: JsonObject): string | undefined {
  const bytes = typeof blob === 'string' ? Math.floor((blob.replace(/[\s=]/g, '').length * 3) / 4) : size;
  if (typeof bytes !== 'number') return undefined;
  if (!(bytes >= 1000)) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

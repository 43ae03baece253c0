import type { ToolResult } from '../../client/types.ts';
import { parseExactOrNone, stringifyRawNumbers } from '../../util/exact-json.ts';
import { clean, cleanLine, wrap } from '../../util/text.ts';
import type { Presentation, View } from '../presentation.ts';
import { callData, isRecord, pick } from '../records.ts';
import { dataLines } from './data.ts';

/** Presents the result of any tool. */
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

/** Returns whether the table shows some of the data by name only. */
export function isTruncated({ content = [] }: ToolResult): boolean {
  return content.filter(isRecord).some(({ type, resource }) => {
    return type === 'image' || type === 'audio' || (isRecord(resource) && 'blob' in resource);
  });
}

function resultLines({ content = [] }: ToolResult, json: unknown, view: View): string[] {
  if (json === content) return contentLines(content, view);
  // Next to structured content, text blocks repeat the data; images and links add to it.
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

const CONTENT_INDENT = 2;

/**
 * Renders the content blocks of a tool's result (MCP, tool result) as lines: text as received, JSON laid out, other
 * blocks as their kind, media type, and size or URI.
 */
export function contentLines(blocks: readonly unknown[], view: View): string[] {
  const parts = blocks.map((block) => blockLines(block, view)).filter((lines) => lines.length > 0);
  return parts.flatMap((lines, index) => {
    const before = parts[index - 1];
    const isListed = before === undefined || (before.length === 1 && lines.length === 1);
    return isListed ? lines : ['', ...lines];
  });
}

function blockLines(block: unknown, view: View): string[] {
  if (!isRecord(block)) return dataLines(block, view.width, view);
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return textLines(text, view.width, view);
  if (type === 'image' || type === 'audio') return summaryLines(type, [mimeType, sizeOf(data)], view);
  if (type === 'resource' && isRecord(resource)) {
    const facts = [resource.uri, resource.mimeType, sizeOf(resource.blob)];
    return [...summaryLines('resource', facts, view), ...indentedText(resource.text, view)];
  }
  if (type === 'resource_link') {
    const { title, name, uri, size, description } = block;
    const facts = [title ?? name, uri, mimeType, typeof size === 'number' ? inBytes(size) : undefined];
    return [...summaryLines('resource link', facts, view), ...indentedText(description, view)];
  }
  return dataLines(stringifyRawNumbers(block), view.width, view);
}

/** Renders text, or the JSON in it. */
function textLines(text: string, columns: number, view: View): string[] {
  const value = /^\s*[[{]/.test(text) ? parseExactOrNone(text) : undefined;
  if (value !== undefined) return dataLines(stringifyRawNumbers(value), columns, view);
  const shown = clean(text).trim();
  return shown === '' ? [] : wrap(shown, columns);
}

/** `[image] image/png, 4.1 kB`. Facts that are not text are left out. */
function summaryLines(kind: string, facts: readonly unknown[], view: View): string[] {
  const texts = facts
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => cleanLine(String(fact)));
  const [first = '', ...rest] = wrap(`[${kind}] ${texts.join(', ')}`.trim(), view.width);
  const label = `[${kind}]`;
  return [first.startsWith(label) ? view.palette.heading(label) + first.slice(label.length) : first, ...rest];
}

function indentedText(text: unknown, view: View): string[] {
  if (typeof text !== 'string') return [];
  return textLines(text, Math.max(1, view.width - CONTENT_INDENT), view).map((line) =>
    line === '' ? '' : ' '.repeat(CONTENT_INDENT) + line,
  );
}

/** Returns the size of base64 data after decoding, with its unit. */
function sizeOf(base64: unknown): string | undefined {
  if (typeof base64 !== 'string') return undefined;
  const digits = base64.replace(/[\s=]/g, '').length;
  return inBytes(Math.floor((digits * 3) / 4));
}

function inBytes(bytes: number): string {
  if (!(bytes >= 1000)) return `${bytes} bytes`;
  const kilo = bytes / 1000;
  return kilo < 1000 ? `${kilo.toFixed(1)} kB` : `${(kilo / 1000).toFixed(1)} MB`;
}

import { cleanLine, label } from '../util/text.ts';
import type { Presentation, PresentOptions } from './formats.ts';
import { isRecord, keysOf, lines, valueAt } from './records.ts';
import { cellText } from './table.ts';

/** Characters with a meaning in a cell of GitHub Flavored Markdown. */
const SPECIAL = /[\\`*_{}[\]<>|~&]/g;

/** The records as a table of GitHub Flavored Markdown; numbers are aligned to the right. */
export function writeMarkdown(
  { records, columns: own, readableColumns }: Presentation,
  { columns }: PresentOptions,
): string {
  const keys = columns ?? readableColumns ?? own ?? keysOf(records);
  if (keys.length === 0) return '';
  const rule = keys.map((key) => (records.length > 0 && isNumeric(records, key) ? '---:' : '---'));
  const rows = records.map((record) => keys.map((key) => escapeMarkdown(cellText(record, key))));
  return lines(
    [keys.map((key) => escapeMarkdown(label(key))), rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`),
  );
}

function isNumeric(records: readonly unknown[], key: string): boolean {
  return records.filter(isRecord).every((record) => typeof valueAt(record, key) === 'number');
}

function escapeMarkdown(text: string): string {
  return cleanLine(text).trim().replace(SPECIAL, '\\$&');
}

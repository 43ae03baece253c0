import { cleanLine, label } from '../util/text.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { lines, tabulate } from './records.ts';

/** Characters with a meaning in a cell of GitHub Flavored Markdown. */
const SPECIAL = /[\\`*_{}[\]<>|~&]/g;

/** The records as a table of GitHub Flavored Markdown; numbers are aligned to the right. */
export function writeMarkdown(
  { records, columns: own, readableColumns }: Presentation,
  { columns }: PresentOptions,
): string {
  const { keys, rows } = tabulate(records, columns ?? readableColumns ?? own);
  if (keys.length === 0) return '';
  const isNumeric = (index: number): boolean =>
    rows.length > 0 && rows.every((row) => typeof row[index] === 'number');
  const rule = keys.map((_, index) => (isNumeric(index) ? '---:' : '---'));
  const cells = rows.map((row) => row.map((cell) => escapeMarkdown(String(cell ?? ''))));
  return lines(
    [keys.map((key) => escapeMarkdown(label(key))), rule, ...cells].map((line) => `| ${line.join(' | ')} |`),
  );
}

function escapeMarkdown(text: string): string {
  return cleanLine(text).trim().replace(SPECIAL, '\\$&');
}

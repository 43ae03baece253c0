import type { Hint } from '../hint.ts';
import type { PageDocument } from './html/document.ts';
import type { View } from './style.ts';

export interface Presentation {
  /** For formats with one entry per record. An element that is not an object becomes an empty entry. */
  readonly records: readonly unknown[];
  /** The records for CSV, TSV, and Markdown, if they differ from `records`. */
  readonly rows?: readonly unknown[];
  /** Default columns of CSV and TSV. If undefined: all keys, in order of appearance. */
  readonly columns?: readonly string[];
  /** How to get more columns than the records have. */
  readonly moreColumns?: Hint;
  readonly readableColumns?: readonly string[];
  /** The records as a person reads them, field by field, if they differ from `rows`. */
  readonly readable?: readonly unknown[];
  /** Whether commands accept the numbers of the rows. */
  readonly numbered?: boolean;
  /** Whether TSV without `--columns` prints `key<TAB>value` lines instead of one line per record. */
  readonly keyValue?: boolean;
  selectColumns(columns: readonly string[]): unknown;
  /** For people, without a final line break. A long text is returned in parts, which are joined by line breaks. */
  table(view: View, columns?: readonly string[]): string | Generator<string>;
  page?(columns?: readonly string[]): Promise<PageDocument>;
}

export interface PresentOptions {
  readonly columns?: readonly string[] | undefined;
  readonly prettyJson: boolean;
  /** Whether CSV and TSV neutralize text that a spreadsheet would run as a formula. */
  readonly guardFormulas: boolean;
  readonly view: View;
  readonly signal?: AbortSignal;
}

export function glyphs(view: View): { ellipsis: string; dot: string; rule: string; bullet: string } {
  return view.unicode
    ? { ellipsis: '…', dot: '·', rule: '─', bullet: '•' }
    : { ellipsis: '...', dot: '-', rule: '-', bullet: '*' };
}

export const EMPTY = '-';

/** Formats the table. Pauses between the parts of a long table, so that it can be interrupted. */
export async function writeTable(
  { table }: Presentation,
  { view, columns, signal }: PresentOptions,
): Promise<string> {
  const text = table(view, columns);
  if (typeof text === 'string') return text === '' ? '' : `${text}\n`;
  const parts: string[] = [];
  for (const part of text) {
    parts.push(`${part}\n`);
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
  return parts.join('');
}

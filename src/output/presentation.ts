import type { Palette } from './color.ts';
import type { PageDocument } from './html/document.ts';

/** A command's data for every format but its whole JSON document. */
export interface Presentation {
  /** The records in the document, for formats with one entry per record. An element that is not an object gives an empty one. */
  readonly records: readonly unknown[];
  /** The records of CSV, TSV and Markdown, where they differ from `records`. */
  readonly rows?: readonly unknown[];
  /** Default columns of CSV and TSV. Without them: all keys, in order of appearance. */
  readonly columns?: readonly string[];
  /** Default columns of Markdown. Without them: `columns`. */
  readonly readableColumns?: readonly string[];
  /** Whether TSV without `--columns` prints `key<TAB>value` lines, and not one line per record. */
  readonly keyValue?: boolean;
  /** Returns the JSON document reduced to these columns. */
  selectColumns(columns: readonly string[]): unknown;
  /** The text for people, without a final line break; a long one in parts, which are joined by line breaks. */
  table(view: View, columns?: readonly string[]): string | Generator<string>;
  /** The content of an HTML page, for commands that have one. */
  page?(columns?: readonly string[]): Promise<PageDocument>;
}

export interface PresentOptions {
  readonly columns?: readonly string[] | undefined;
  readonly prettyJson: boolean;
  /** Neutralizes text that a spreadsheet would run as a formula, in CSV and TSV. */
  readonly guardFormulas: boolean;
  readonly view: View;
  /** Stops a long table between its parts. */
  readonly signal?: AbortSignal;
}

/** Properties of the terminal or file that a text is rendered for. */
export interface View {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  readonly palette: Palette;
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean;
  /** Whether links (OSC 8) are shown. */
  readonly links?: boolean;
}

/** Returns symbols that the view can show. */
export function glyphs(view: View): { ellipsis: string; dot: string; rule: string; bullet: string } {
  return view.unicode
    ? { ellipsis: '…', dot: '·', rule: '─', bullet: '•' }
    : { ellipsis: '...', dot: '-', rule: '-', bullet: '*' };
}

/** Shown for a missing value in tables and cards. */
export const EMPTY = '-';

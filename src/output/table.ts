import Table from 'cli-table3';
import { cleanLine, label, truncate, width, wrap } from '../util/text.ts';
import type { Palette } from './color.ts';
import { allocateWidths, type ColumnSpec, GAP } from './layout.ts';
import { pairLines } from './pairs.ts';
import { cellAt, valueAt } from './records.ts';
import { EMPTY, glyphs, type View } from './view.ts';

export interface Column extends ColumnSpec {
  readonly key: string;
  /** Heading; shown in capitals. */
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Maximum lines of a cell in a column that wraps; the rest is cut. Default: 3. */
  readonly maxLines?: number;
  /** Colors the cleaned text of a row, counted from 0, without changing its width. */
  readonly paint?: (text: string, palette: Palette, row: number) => string;
}

/** A visible column with its width in terminal columns. */
interface VisibleColumn {
  readonly column: Column;
  readonly index: number;
  readonly width: number;
}

/** In narrower views, rows are listed below each other. */
const MIN_TABLE_WIDTH = 30;
const DEFAULT_MAX_LINES = 3;
const ROWS_PER_DRAW = 20;

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
};

/**
 * Renders rows under a header, without borders or a final line break; `''` for no rows. Cells are cleaned, then cut or
 * wrapped so that no line is wider than the view; columns are dropped by priority. In a very narrow view, rows are
 * listed below each other.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  view: View,
): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) => columns.map((_, index) => cleanLine(row[index] ?? '').trim() || EMPTY));
  const natural = columns.map((column, index) => naturalWidth(column, cells, index, view.width));
  const widths = view.width < MIN_TABLE_WIDTH ? undefined : allocateWidths(columns, natural, view.width);
  if (widths === undefined) return stacked(columns, cells, view);
  const shown = columns.flatMap((column, index) => {
    const columnWidth = widths[index] ?? 0;
    return columnWidth === 0 ? [] : [{ column, index, width: columnWidth }];
  });
  const header = shown.map(({ column, width: room }) => view.palette.dim(truncate(title(column), room)));
  const body = cells.flatMap((row, rowIndex) =>
    lineRows(shown.map((column) => cellLines(row[column.index] ?? '', rowIndex, column, view))),
  );
  return draw([header, ...body], shown);
}

/** Returns the width of the widest cell, up to what the view can show. */
function naturalWidth(
  column: Column,
  cells: readonly (readonly string[])[],
  index: number,
  most: number,
): number {
  const room = Math.min(column.max ?? most, most) + 1;
  const widest = (sofar: number, row: readonly string[]): number =>
    Math.max(sofar, width(truncate(row[index] ?? '', room, '')));
  return Math.min(cells.reduce(widest, width(title(column))), most);
}

function title(column: Column): string {
  return cleanLine(column.title).toUpperCase();
}

function cellLines(text: string, row: number, { column, width: room }: VisibleColumn, view: View): string[] {
  const paint =
    text === EMPTY ? view.palette.dim : (line: string) => column.paint?.(line, view.palette, row) ?? line;
  const { ellipsis } = glyphs(view);
  const most = column.wrap === true ? (column.maxLines ?? DEFAULT_MAX_LINES) : 1;
  // Twice the room, since the ends of wrapped lines stay empty.
  const lines = most === 1 ? [text] : wrap(truncate(text, room * most * 2, ''), room);
  const last = lines.slice(most - 1).join(' ');
  return [...lines.slice(0, most - 1), ...(last === '' ? [] : [truncate(last, room, ellipsis)])].map(paint);
}

/** Splits a row of multi-line cells into one row per terminal line. */
function lineRows(cells: readonly (readonly string[])[]): string[][] {
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
}

/**
 * Lays out cells of one line. They are drawn in groups, since cli-table3 takes time quadratic in the number of rows;
 * it gets no cell of several lines, since it measures such a cell whole for each of them. It takes about 8 ms for 20
 * rows and 200 ms for 1,000.
 */
function draw(rows: readonly (readonly string[])[], shown: readonly VisibleColumn[]): string {
  const lines: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_DRAW) {
    const table = new Table({
      chars: BORDERLESS,
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
      colWidths: shown.map(({ width: columns }) => columns),
      colAligns: shown.map(({ column }) => column.align ?? 'left'),
    });
    table.push(...rows.slice(start, start + ROWS_PER_DRAW).map((cells) => [...cells]));
    lines.push(...table.toString().split('\n'));
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}

function stacked(columns: readonly Column[], cells: readonly (readonly string[])[], view: View): string {
  const items = cells.map((row, place) => {
    const pairs = columns.flatMap((column, index) => {
      const text = row[index] ?? '';
      if (text === EMPTY || column.priority <= 0) return [];
      return [
        {
          key: label(column.title),
          text,
          paint: (line: string) => column.paint?.(line, view.palette, place) ?? line,
        },
      ];
    });
    return pairLines(pairs, view.width, view).join('\n');
  });
  return items.join('\n\n');
}

/** Renders exactly these columns of the records as a table, without a final line break. */
export function renderRecords(records: readonly unknown[], columns: readonly string[], view: View): string {
  const shown: Column[] = columns.map((key) => ({ key, title: key, priority: Number.POSITIVE_INFINITY }));
  return renderTable(
    shown,
    records.map((record) => columns.map((key) => cellText(record, key))),
    view,
  );
}

/** Returns the value of a column as the text of a table cell, not cleaned. A list of texts is joined with commas. */
export function cellText(record: unknown, column: string): string {
  const value = valueAt(record, column);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.length === 0 ? 'none' : value.join(', ');
  return String(cellAt(record, column) ?? '');
}

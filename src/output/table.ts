import Table from 'cli-table3';
import { cleanLine, label, truncate, wrap } from '../util/text.ts';
import { maxWidth, pairLines } from './pairs.ts';
import { EMPTY, glyphs, type View } from './presentation.ts';
import { cellAt, valueAt } from './records.ts';
import type { Palette } from './style.ts';

export interface Column {
  readonly key: string;
  readonly title: string;
  /** Minimum width at which the column is readable. Default: 8, or the width of its cells if that is less. */
  readonly min?: number;
  readonly max?: number;
  /**
   * The column with the lowest priority is dropped first if there is not enough room. `Infinity` is never dropped.
   * Columns of priority 0 are shown only if no other column has to shrink for them.
   */
  readonly priority: number;
  readonly align?: 'left' | 'right';
  /** Maximum lines of a cell, the rest is cut; default 1. Columns that wrap shrink before the others. */
  readonly maxLines?: number;
  /** A color, or a function that paints the cleaned text of a row, counted from 0, without changing its width. */
  readonly paint?: keyof Palette | ((text: string, row: number) => string);
}

interface VisibleColumn {
  readonly column: Column;
  readonly index: number;
  readonly width: number;
}

const MIN_TABLE_WIDTH = 30;
const GAP = 2;

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
  return [...tableParts(columns, rows, view)].join('\n');
}

/** Renders a table as `renderTable` does, line by line: 100,000 rows take seconds. */
export function* tableParts(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  view: View,
): Generator<string> {
  if (rows.length === 0) return;
  const cells = rows.map((row) => columns.map((_, index) => cleanLine(row[index] ?? '').trim() || EMPTY));
  const natural = columns.map((column, index) => naturalWidth(column, cells, index, view.width));
  const widths = view.width < MIN_TABLE_WIDTH ? undefined : allocateWidths(columns, natural, view.width);
  if (widths === undefined) {
    yield stacked(columns, cells, view);
    return;
  }
  const shown = columns
    .map((column, index) => ({ column, index, width: widths[index] ?? 0 }))
    .filter((column) => column.width > 0);
  const header = shown.map(({ column, width: room }) => view.palette.dim(truncate(title(column), room)));
  yield draw(header, shown);
  for (const [rowIndex, row] of cells.entries()) {
    const wrapped = shown.map((column) => cellLines(row[column.index] ?? '', rowIndex, column, view));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    for (let line = 0; line < height; line += 1) {
      yield draw(
        wrapped.map((lines) => lines[line] ?? ''),
        shown,
      );
    }
  }
}

function naturalWidth(
  column: Column,
  cells: readonly (readonly string[])[],
  index: number,
  limit: number,
): number {
  const room = Math.min(column.max ?? limit, limit) + 1;
  const texts = cells.map((row) => truncate(row[index] ?? '', room, ''));
  return Math.min(maxWidth([title(column), ...texts]), limit);
}

function title(column: Column): string {
  return cleanLine(column.title).toUpperCase();
}

function cellLines(text: string, row: number, { column, width: room }: VisibleColumn, view: View): string[] {
  const { maxLines = 1 } = column;
  // Twice the room, because the ends of wrapped lines are empty.
  const lines = maxLines === 1 ? [text] : wrap(truncate(text, room * maxLines * 2, ''), room);
  const last = truncate(lines.slice(maxLines - 1).join(' '), room, glyphs(view).ellipsis);
  return [...lines.slice(0, maxLines - 1), ...(last === '' ? [] : [last])].map((line) =>
    text === EMPTY ? view.palette.dim(line) : painted(line, column, row, view),
  );
}

function painted(line: string, { paint }: Column, row: number, { palette }: View): string {
  if (typeof paint === 'string') return palette[paint](line);
  return paint === undefined ? line : paint(line, row);
}

/** Draws one line. The time of cli-table3 is quadratic in the number of rows. */
function draw(cells: string[], shown: readonly VisibleColumn[]): string {
  const table = new Table({
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: shown.map(({ width: columns }) => columns),
    colAligns: shown.map(({ column }) => column.align ?? 'left'),
  });
  table.push(cells);
  return table.toString().replace(/ +$/, '');
}

function stacked(columns: readonly Column[], cells: readonly (readonly string[])[], view: View): string {
  const items = cells.map((row, place) => {
    const pairs = columns
      .map((column, index) => ({
        key: label(column.title),
        text: row[index] ?? '',
        paint: (line: string) => painted(line, column, place, view),
        priority: column.priority,
      }))
      .filter(({ text, priority }) => text !== EMPTY && priority > 0);
    return pairLines(pairs, view.width, view).join('\n');
  });
  return items.join('\n\n');
}

const MIN_READABLE_WIDTH = 8;

/**
 * Divides `total` terminal columns among the columns of a table. `natural` holds the width of each column's content.
 * @returns the width of each column, 0 for a dropped one; undefined if the columns that must stay do not fit
 */
export function allocateWidths(
  columns: readonly Pick<Column, 'min' | 'max' | 'priority' | 'maxLines'>[],
  natural: readonly number[],
  total: number,
): readonly number[] | undefined {
  const wanted = columns.map(({ max = total }, index) => Math.min(natural[index] ?? 0, max));
  const minWidths = columns.map(({ min = MIN_READABLE_WIDTH }, index) => Math.min(wanted[index] ?? 0, min));
  const byPriority = [...columns.entries()].sort(
    ([a, one], [b, other]) => Math.sign(other.priority - one.priority) || a - b,
  );
  const kept = new Set<number>();
  const taken = (widths: readonly number[]): number =>
    [...kept].reduce((sum, index) => sum + (widths[index] ?? 0), GAP * (kept.size - 1));
  for (const [index, { priority }] of byPriority) {
    kept.add(index);
    if (taken(priority > 0 ? minWidths : wanted) <= total) continue;
    if (priority === Number.POSITIVE_INFINITY || kept.size === 1) return undefined;
    kept.delete(index);
  }
  const widths = wanted.map((room, index) => (kept.has(index) ? room : 0));
  const slack = (index: number): number => (widths[index] ?? 0) - (minWidths[index] ?? 0);
  const wraps = (index: number): number => ((columns[index]?.maxLines ?? 1) > 1 ? 1 : 0);
  // Columns that wrap shrink first. The widest one shrinks by one character at a time, until all fit.
  for (let excess = taken(widths) - total; excess > 0; excess -= 1) {
    const [widest = 0] = [...columns.keys()]
      .filter((index) => slack(index) > 0)
      .sort((a, b) => wraps(b) - wraps(a) || (widths[b] ?? 0) - (widths[a] ?? 0));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

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

import Table from 'cli-table3';
import { cleanLine, label, truncate, wrap } from '../util/text.ts';
import { maxWidth, pairLines } from './pairs.ts';
import { EMPTY, glyphs } from './presentation.ts';
import { cellAt, valueAt } from './records.ts';
import type { Palette, View } from './style.ts';

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

const BORDERS = ['top', 'bottom'].flatMap((side) => ['', '-left', '-mid', '-right'].map((end) => side + end));
const BORDERLESS = {
  ...Object.fromEntries(['left', 'right', ...BORDERS].map((name) => [name, ''])),
  middle: ' '.repeat(GAP),
};

/** Cells are cleaned, then cut or wrapped to the view; columns are dropped by priority. @returns no final line break */
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
  const cells = rows.map((row) => row.map((cell) => cleanLine(cell).trim() || EMPTY));
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
  return table.toString().replace(/(?<! ) +$/, '');
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

/** @param natural width of the content. @returns 0 for a dropped column; undefined if those that must stay do not fit */
export function allocateWidths(
  columns: readonly Pick<Column, 'min' | 'max' | 'priority' | 'maxLines'>[],
  natural: readonly number[],
  total: number,
): readonly number[] | undefined {
  const slots = columns.map(({ min = MIN_READABLE_WIDTH, max = total, priority, maxLines = 1 }, index) => {
    const wanted = Math.min(natural[index] ?? 0, max);
    return { wanted, min: Math.min(wanted, min), width: wanted, priority, wraps: maxLines > 1 };
  });
  const kept = new Set<(typeof slots)[number]>();
  const taken = (width: 'wanted' | 'min'): number =>
    [...kept].reduce((sum, slot) => sum + slot[width], GAP * (kept.size - 1));
  for (const slot of [...slots].sort((one, other) => Math.sign(other.priority - one.priority))) {
    kept.add(slot);
    if (taken(slot.priority > 0 ? 'min' : 'wanted') <= total) continue;
    if (slot.priority === Number.POSITIVE_INFINITY || kept.size === 1) return undefined;
    kept.delete(slot);
  }
  // Columns that wrap shrink first. The widest one shrinks by one character at a time, until all fit.
  for (let excess = taken('wanted') - total; excess > 0; excess -= 1) {
    const [widest] = slots
      .filter((slot) => kept.has(slot) && slot.width > slot.min)
      .sort((one, other) => Number(other.wraps) - Number(one.wraps) || other.width - one.width);
    if (widest !== undefined) widest.width -= 1;
  }
  return slots.map((slot) => (kept.has(slot) ? slot.width : 0));
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

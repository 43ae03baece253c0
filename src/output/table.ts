import Table from 'cli-table3';
import { cleanLine, label, truncate, width, wrap } from '../util/text.ts';
import type { Palette } from './color.ts';
import { allocateWidths, type ColumnSpec, GAP } from './layout.ts';
import { pairLines } from './pairs.ts';
import { cellAt, valueAt } from './records.ts';
import { EMPTY, glyphs, type View } from './view.ts';

export interface Column extends ColumnSpec {
  readonly key: string;
  /** Stands over the column, in capitals. */
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Of a column that wraps; the rest is cut. Default: 3. */
  readonly maxLines?: number;
  /** Colours cleaned text of a row, counted from 0; must not change its width. */
  readonly paint?: (text: string, palette: Palette, row: number) => string;
}

/** A column that is shown, with its width. */
interface Shown {
  readonly column: Column;
  readonly index: number;
  readonly width: number;
}

/** Below this, a table is no longer one. */
const MIN_TABLE_WIDTH = 30;
const DEFAULT_MAX_LINES = 3;
/** Any character that is one column wide by every measure. */
const STAND_IN = 'x';
const STAND_INS = /x+/;
const GAP_TEXT = ' '.repeat(GAP);

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
  middle: '',
};

/**
 * Rows under a header, without frames and without a final line break; `''` where there are no rows. Cells are cleaned,
 * then cut or wrapped so that no line is wider than the view; columns are dropped by priority. In a very narrow view
 * the rows are listed one below the other.
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
  const header = shown.map(({ column, width: room }) => [view.palette.dim(truncate(title(column), room))]);
  const body = cells.map((row, place) =>
    shown.map((column) => cellLines(row[column.index] ?? '', place, column, view)),
  );
  return draw([header, ...body], shown);
}

/** What the widest cell takes, as far as a terminal can show it. */
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

function cellLines(text: string, row: number, { column, width: room }: Shown, view: View): string[] {
  const paint =
    text === EMPTY ? view.palette.dim : (line: string) => column.paint?.(line, view.palette, row) ?? line;
  const { ellipsis } = glyphs(view);
  const most = column.wrap === true ? (column.maxLines ?? DEFAULT_MAX_LINES) : 1;
  // Twice the room: what is left over at the ends of lines counts too.
  const lines = most === 1 ? [text] : wrap(truncate(text, room * most * 2, ''), room);
  const last = lines.slice(most - 1).join(' ');
  return [...lines.slice(0, most - 1), ...(last === '' ? [] : [truncate(last, room, ellipsis)])].map(paint);
}

/**
 * cli-table3 measures text by its own, older rules, and takes its time for each cell. So it lays out stand-ins, each
 * width of a column once, and the text takes their place afterwards.
 */
function draw(rows: readonly (readonly string[][])[], shown: readonly Shown[]): string {
  const lines = rows.flatMap(linesOf);
  const measured = lines.map((line) => line.map((text) => ({ text, width: width(text) })));
  const cells = shown.map((column, index) =>
    cellLayouts(column, new Set(measured.map((line) => line[index]?.width ?? 0))),
  );
  return measured
    .map((line) =>
      line
        .map((cell, index) => cells[index]?.get(cell.width)?.replace(STAND_INS, () => cell.text) ?? '')
        .join(GAP_TEXT)
        .trimEnd(),
    )
    .join('\n');
}

/** How a text of each of these widths stands in a column. */
function cellLayouts({ column, width: room }: Shown, widths: ReadonlySet<number>): Map<number, string> {
  const table = new Table({
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: [room],
    colAligns: [column.align ?? 'left'],
  });
  for (const each of widths) table.push([STAND_IN.repeat(each)]);
  const layouts = table.toString().split('\n');
  return new Map([...widths].map((each, place) => [each, layouts[place] ?? '']));
}

/** The lines of a row of the table. */
function linesOf(row: readonly string[][]): string[][] {
  const height = row.reduce((most, lines) => Math.max(most, lines.length), 0);
  return Array.from({ length: height }, (_, line) => row.map((cell) => cell[line] ?? ''));
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

/** Exactly these columns of the records, as a table; without a final line break. */
export function renderRecords(records: readonly unknown[], columns: readonly string[], view: View): string {
  const shown: Column[] = columns.map((key) => ({ key, title: key, priority: Number.POSITIVE_INFINITY }));
  return renderTable(
    shown,
    records.map((record) => columns.map((key) => cellText(record, key))),
    view,
  );
}

/** What a record holds under a column's name, as the text of a table cell; a list of texts with commas. Not cleaned. */
export function cellText(record: unknown, column: string): string {
  const value = valueAt(record, column);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return String(cellAt(record, column) ?? '');
}

import { pad, width } from '../util/text.ts';

/** The layout of a column. */
export interface ColumnSpec {
  /** Minimum width at which the column is readable. Default: 8, or the width of its cells if that is less. */
  readonly min?: number;
  /** Maximum width. Default: none. */
  readonly max?: number;
  /**
   * The lowest is dropped first if there is too little room; `Infinity` is never dropped. Columns of priority 0 and
   * less are shown only if no other column has to shrink for them.
   */
  readonly priority: number;
  /** Whether the text wraps. Such columns shrink before the others. */
  readonly wrap?: boolean;
}

/** Spaces between two columns. */
export const GAP = 2;

const MIN_READABLE_WIDTH = 8;

/**
 * Divides `total` terminal columns among the columns of a table. `natural` holds the width of each column's content.
 * @returns the width of each column, 0 for a dropped one; undefined if the columns that must stay do not fit
 */
export function allocateWidths(
  columns: readonly ColumnSpec[],
  natural: readonly number[],
  total: number,
): readonly number[] | undefined {
  const wanted = columns.map((column, index) =>
    Math.min(natural[index] ?? 0, column.max ?? Number.POSITIVE_INFINITY),
  );
  const floors = columns.map((column, index) =>
    Math.min(wanted[index] ?? 0, column.min ?? MIN_READABLE_WIDTH),
  );
  const kept = new Set(columns.keys());
  const taken = (widths: readonly number[]): number =>
    [...kept].reduce((sum, index) => sum + (widths[index] ?? 0), GAP * (kept.size - 1));
  for (const index of byPriority(columns)) {
    const priority = columns[index]?.priority ?? 0;
    const fits = taken(priority <= 0 ? wanted : floors) <= total;
    if (fits) continue;
    if (priority === Number.POSITIVE_INFINITY || kept.size === 1) return undefined;
    kept.delete(index);
  }
  // The last column that was dropped may have been wide, and may leave room for others.
  for (const index of byPriority(columns).reverse()) {
    if (kept.has(index) || (columns[index]?.priority ?? 0) <= 0) continue;
    kept.add(index);
    if (taken(floors) > total) kept.delete(index);
  }
  const widths = wanted.map((columnWidth, index) => (kept.has(index) ? columnWidth : 0));
  shrink(widths, floors, columns, total - GAP * (kept.size - 1));
  return widths;
}

function byPriority(columns: readonly ColumnSpec[]): number[] {
  const priority = (index: number): number => columns[index]?.priority ?? 0;
  return [...columns.keys()].sort((a, b) => Math.sign(priority(a) - priority(b)) || b - a);
}

/** Narrows the widest column until all fit, first those that wrap. */
function shrink(
  widths: number[],
  floors: readonly number[],
  columns: readonly ColumnSpec[],
  room: number,
): void {
  const widthOf = (index: number): number => widths[index] ?? 0;
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  for (const wraps of [true, false]) {
    const group = [...widths.keys()].filter((index) => (columns[index]?.wrap === true) === wraps);
    for (; excess > 0; excess -= 1) {
      const [widest] = group
        .filter((index) => widthOf(index) > (floors[index] ?? 0))
        .sort((a, b) => widthOf(b) - widthOf(a));
      if (widest === undefined) break;
      widths[widest] = widthOf(widest) - 1;
    }
  }
}

/** Wider blocks are hard to read. */
const MAX_FLOW_WIDTH = 120;
const FLOW_GAP = 4;
/** Taller blocks get a row of their own. */
const MAX_FLOW_HEIGHT = 60;

/**
 * Places blocks of lines side by side, from left to right, as many per row as fit into `columns`, with a blank line
 * between rows.
 */
export function flowColumns(blocks: readonly (readonly string[])[], columns: number): string[] {
  const room = Math.min(columns, MAX_FLOW_WIDTH);
  const rows: { lines: readonly string[]; width: number }[][] = [];
  let used = 0;
  for (const lines of blocks) {
    const own = lines.length > MAX_FLOW_HEIGHT ? room : widest(lines);
    const row = rows.at(-1);
    if (row !== undefined && used + FLOW_GAP + own <= room) {
      row.push({ lines, width: own });
      used += FLOW_GAP + own;
    } else {
      rows.push([{ lines, width: own }]);
      used = own;
    }
  }
  return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...joinHorizontal(row)]);
}

function widest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, width(line)), 0);
}

/** Joins columns of lines horizontally, each padded to its width. */
export function joinHorizontal(
  columns: readonly { readonly lines: readonly string[]; readonly width: number }[],
  gap = FLOW_GAP,
): string[] {
  const height = columns.reduce((most, { lines }) => Math.max(most, lines.length), 0);
  return Array.from({ length: height }, (_, index) => {
    const filled = columns.findLastIndex(({ lines }) => (lines[index] ?? '') !== '');
    return columns
      .slice(0, filled + 1)
      .map(({ lines, width: room }, place) => {
        const line = lines[index] ?? '';
        return place === filled ? line : pad(line, room + gap);
      })
      .join('');
  });
}

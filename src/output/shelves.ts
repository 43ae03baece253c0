import { pad, width } from './text.ts';

/** Wider than this, the eye does not find the next line. */
const MAX_FLOW_WIDTH = 120;
const FLOW_GAP = 4;
/** Longer ones stand alone. */
const MAX_FLOW_HEIGHT = 60;

/**
 * Blocks of lines, side by side from left to right where the next one still fits, with a blank line between the rows
 * of them. No line is wider than `columns` for it.
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
  return rows.flatMap((shelf, index) => [...(index === 0 ? [] : ['']), ...joinHorizontal(shelf)]);
}

function widest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, width(line)), 0);
}

/** Columns of lines next to each other, each as wide as it is told. */
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

import { pad, width } from './text.ts';

/** Wider than this, the eye does not find the next line. */
const WIDEST = 120;
const GAP = 4;
/** Longer ones stand alone. */
const TALLEST = 60;

/**
 * Blocks of lines, side by side from left to right where the next one still fits, with a blank line between the rows
 * of them. No line is wider than `columns` for it.
 */
export function shelve(blocks: readonly (readonly string[])[], columns: number): string[] {
  const room = Math.min(columns, WIDEST);
  const shelves: { lines: readonly string[]; width: number }[][] = [];
  let used = 0;
  for (const lines of blocks) {
    const own = lines.length > TALLEST ? room : widest(lines);
    const shelf = shelves.at(-1);
    if (shelf !== undefined && used + GAP + own <= room) {
      shelf.push({ lines, width: own });
      used += GAP + own;
    } else {
      shelves.push([{ lines, width: own }]);
      used = own;
    }
  }
  return shelves.flatMap((shelf, index) => [...(index === 0 ? [] : ['']), ...besides(shelf)]);
}

function widest(lines: readonly string[]): number {
  return lines.reduce((most, line) => Math.max(most, width(line)), 0);
}

/** Columns of lines next to each other, each as wide as it is told. */
export function besides(
  columns: readonly { readonly lines: readonly string[]; readonly width: number }[],
  gap = GAP,
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

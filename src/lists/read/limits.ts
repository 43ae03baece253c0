export const MIB = 1024 * 1024;
export const MAX_BYTES = 256 * MIB;
const MAX_ROWS = 1_000_000;
const MAX_CELLS = 20_000_000;

/** Of what there is more than fits into memory; undefined if all fits. */
export function excess(rows: number, cells: number): string | undefined {
  if (rows > MAX_ROWS) return 'more than 1,000,000 rows';
  return cells > MAX_CELLS ? 'more than 20,000,000 cells' : undefined;
}

/** A workbook or Parquet file that cannot be read. The message completes the sentence `<file> cannot be read: <message>`. */
export class UnreadableFile extends Error {}

/** Limits of a list, which is kept in memory. */
export const MIB = 1024 * 1024;
export const MAX_BYTES = 256 * MIB;
export const MAX_ROWS = 1_000_000;
export const MAX_CELLS = 20_000_000;

/** A workbook or Parquet file that cannot be read. The message completes the sentence `<file> cannot be read: <message>`. */
export class UnreadableFile extends Error {}

import { isKnownHeader } from '../match/headers.ts';

/** Number of rows in which the header is looked for. */
export const FIRST_ROWS = 10;

/** Whether a row has several cells with text, which a title does not. */
export const hasTexts = (cells: readonly string[]): boolean =>
  cells.filter((cell) => cell.trim() !== '').length > 1;

/** @param named columns that options name */
export const hasKnown = (cells: readonly string[], named: readonly (string | undefined)[]): boolean =>
  cells.some((cell) => isKnownHeader(cell) || named.includes(cell));

/** Returns the position of the first row that is a header for certain, or -1. */
export const findHeader = (
  rows: readonly (readonly string[])[],
  named: readonly (string | undefined)[],
): number => rows.findIndex((cells) => hasKnown(cells, named) && hasTexts(cells));

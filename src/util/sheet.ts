/** Limits of a sheet in Excel: rows, columns, and characters in a cell. */
export const MAX_SHEET_ROWS = 1_048_576;
export const MAX_SHEET_COLUMNS = 16_384;
export const MAX_CELL = 32_767;

const LETTERS = 26;
const BEFORE_A = 64;

/** Returns the letters of a column, such as AB of 28. */
export function columnName(column: number): string {
  const before = Math.floor((column - 1) / LETTERS);
  const letter = String.fromCharCode(BEFORE_A + 1 + ((column - 1) % LETTERS));
  return before === 0 ? letter : columnName(before) + letter;
}

/** Returns the column of a cell reference, such as 28 of AB7; undefined without letters. */
export function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,4}/i.exec(reference ?? '') ?? [];
  return [...(letters ?? '').toUpperCase()].reduce<number | undefined>(
    (sum, letter) => (sum ?? 0) * LETTERS + letter.charCodeAt(0) - BEFORE_A,
    undefined,
  );
}

import { stringify } from 'csv-stringify/sync';
import { cleanLine } from '../util/text.ts';
import type { Scalar } from './records.ts';

/** What may stand between the cells of a CSV. */
export type Delimiter = ',' | ';' | '\t';

export interface CsvOptions {
  /** Neutralise text that a spreadsheet would run as a formula. */
  readonly guard: boolean;
  /** Default: a comma. */
  readonly delimiter?: Delimiter;
}

const FORMULA_START = /^[\s\p{C}]*[=+\-@＝＋－＠]/u;
const BREAK_START = /^[\t\r\n]/;
const PHONE = /^\+?[\s(.]*\d[\d\s().\-‐‑–]*(?:(?:x|ext\.?)\s*\d+)?$/i;
const SIGNED_NUMBER = /^[+-]\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * CSV records (RFC 4180), all of the same length, each with its line break; cells are quoted only where they must be. The
 * text of the cells is not cleaned.
 */
export function csvRows(
  records: readonly (readonly Scalar[])[],
  { guard, delimiter = ',' }: CsvOptions,
): string {
  const guarded = (value: Scalar): Scalar => (typeof value === 'string' ? guardFormula(value) : value);
  return stringify(guard ? records.map((values) => values.map(guarded)) : [...records], {
    delimiter,
    // A record of one empty cell would be a blank line, which readers skip.
    quoted_empty: records[0]?.length === 1,
    cast: { boolean: String },
  });
}

/**
 * Puts a `'` before text that a spreadsheet would run as a formula, also behind blanks and in full-width signs.
 * Telephone numbers, signed numbers and lists of them pass.
 */
export function guardFormula(text: string): string {
  const runs = BREAK_START.test(text) || (FORMULA_START.test(text) && !isPhoneOrNumber(text));
  return runs ? `'${text}` : text;
}

function isPhoneOrNumber(text: string): boolean {
  const parts = text.split(/[;,/]/).map((part) => part.trim());
  return parts.every((part) => PHONE.test(part) || SIGNED_NUMBER.test(part));
}

/** One line of TSV without its line break: cleaned, nothing cut, tabs and line breaks as spaces. */
export function tsvRow(values: readonly Scalar[]): string {
  return values.map((value) => (value === null ? '' : cleanLine(String(value)))).join('\t');
}

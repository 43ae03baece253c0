import { encodeRecord } from '../util/csv.ts';
import { escapeUnit } from '../util/json.ts';
import { cleanCell, cleanLine } from '../util/text.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { lines, type Scalar, tabulate } from './records.ts';

/** Matches text that may be a formula. Other text is not changed. */
const GUARDED = /[=+\-@＝＋－＠]|^[\t\r\n]/;
const FORMULA_START = /^[\s\p{C}]*[=+\-@＝＋－＠]/u;
/** A formula after a delimiter or line break, which a program that splits cells there would run. */
const INNER_FORMULA = /[=+\-@＝＋－＠](?<=[;,\t\r\n][\s\p{C}]*.)[^;,\t\r\n]*/gu;
/** The same, also at the start of a string of JSON. */
const JSON_FORMULA = /[=+\-@＝＋－＠](?<=[";,][\s\p{C}]*.)[^";,]*/gu;
const JSON_STRING = /"(?:[^"\\]|\\.)*"?/g;
const BREAK_START = /^[\t\r\n]/;
const PHONE = /^\+?[\s(.]*\d[\d\s().\-‐‑–]*(?:(?:x|ext\.?)\s*\d+)?$/i;
const SIGNED_NUMBER = /^[+-]\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

export function writeCsv(data: Presentation, { columns, guardFormulas: guard }: PresentOptions): string {
  const { keys, rows } = tabulate(data.rows ?? data.records, columns ?? data.columns);
  if (keys.length === 0) return '';
  return lines([keys, ...rows].map((cells) => csvRow(cells, guard)));
}

export function csvRow(cells: readonly Scalar[], guard = false): string {
  return encodeRecord(
    cells.map((cell) => formatCell(cell, cleanCell, guard)),
    ',',
  );
}

function formatCell(value: Scalar, clean: (text: string) => string, guard: boolean): string {
  if (typeof value !== 'string') return String(value ?? '');
  return guard ? guardFormula(clean(value)) : clean(value);
}

/**
 * Puts a `'` before text that a spreadsheet would run as a formula: at the start of a cell, or after a delimiter or line
 * break in it, also after white space and with full-width signs. Telephone numbers and signed numbers are not changed.
 */
export function guardFormula(text: string): string {
  if (!GUARDED.test(text) || isPhoneOrNumber(text)) return text;
  const inner = /[;,\t\r\n]/.test(text)
    ? text.replace(INNER_FORMULA, (part) => (isPhoneOrNumber(part) ? part : `'${part}`))
    : text;
  return BREAK_START.test(text) || FORMULA_START.test(text) ? `'${inner}` : inner;
}

/** Escapes the first character of each formula in a cell of JSON, which stays the same JSON. */
export function guardJson(json: string): string {
  return json.replace(JSON_STRING, (string) =>
    string.replace(JSON_FORMULA, (part) =>
      isPhoneOrNumber(part) ? part : escapeUnit(part.charAt(0)) + part.slice(1),
    ),
  );
}

/** Returns the text that {@link guardFormula} changed into this one. */
export function unguardFormula(text: string): string {
  const bare = text.slice(1);
  return text.startsWith("'") && guardFormula(bare) === text ? bare : text;
}

function isPhoneOrNumber(text: string): boolean {
  const parts = text.split(/[;,/]/).map((part) => part.trim());
  return parts.every((part) => PHONE.test(part) || SIGNED_NUMBER.test(part));
}

/** One line per record, or `key<TAB>value` lines with a blank line between records. */
export function writeTsv(data: Presentation, { columns, guardFormulas: guard }: PresentOptions): string {
  const { keys, rows } = tabulate(data.rows ?? data.records, columns ?? data.columns);
  if (data.keyValue !== true || columns !== undefined) return lines(rows.map((row) => tsvRow(row, guard)));
  return rows
    .map((row) => lines(row.map((cell, index) => tsvRow([keys[index] ?? '', cell], guard))))
    .join('\n');
}

export function tsvRow(values: readonly Scalar[], guard = false): string {
  return values.map((value) => formatCell(value, cleanLine, guard)).join('\t');
}

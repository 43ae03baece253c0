import { cellAt, valueAt } from '../records.ts';
import { type Column, renderTable } from '../table.ts';
import type { View } from '../view.ts';

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

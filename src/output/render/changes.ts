import { shortTime } from '../../util/format.ts';
import type { Presentation } from '../presentation.ts';
import { pick } from '../records.ts';
import { type Column, cellText, renderRecords, renderTable } from '../table.ts';

/** A field of a restaurant that two answers tell differently. `before` and `after` can be any value. */
export interface Change {
  /** ISO 8601, UTC: when the later answer was received. */
  readonly when: string;
  readonly id: string;
  readonly name: string;
  /** Dotted path; or `gone`, if the service no longer knows the restaurant. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export const CHANGE_COLUMNS: readonly string[] = ['when', 'id', 'name', 'field', 'before', 'after'];

const TABLE: readonly Column[] = [
  { key: 'when', title: 'when', priority: 5, paint: 'dim' },
  { key: 'name', title: 'name', min: 16, max: 48, priority: 9, paint: 'name' },
  { key: 'field', title: 'field', min: 10, max: 32, priority: 8 },
  { key: 'before', title: 'before', min: 12, max: 60, priority: 7, maxLines: 3 },
  { key: 'after', title: 'after', min: 12, max: 60, priority: 7, maxLines: 3 },
  { key: 'id', title: 'id', min: 36, priority: 0, paint: 'dim' },
];

/** @param now in milliseconds since the epoch */
export function changesPresentation(changes: readonly Change[], now: number): Presentation {
  return {
    records: changes,
    columns: CHANGE_COLUMNS,
    selectColumns: (columns) => ({ changes: changes.map((change) => pick(change, columns)) }),
    table(view, columns) {
      const rows = changes.map((change) => ({ ...change, when: shortTime(Date.parse(change.when), now) }));
      if (columns !== undefined) return renderRecords(rows, columns, view);
      const cells = rows.map((row) => TABLE.map(({ key }) => cellText(row, key)));
      return renderTable(TABLE, cells, view);
    },
  };
}

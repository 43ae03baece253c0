import { SUMMARY_COLUMNS } from '../../util/restaurant.ts';
import type { Presentation } from '../presentation.ts';
import { pick } from '../records.ts';
import { renderFind } from './find.ts';

export const SAVED_COLUMNS: readonly string[] = [...SUMMARY_COLUMNS, 'note', 'saved_at', 'checked_at'];

/** Without row numbers, which refer to the last search. @param at now, in milliseconds since the epoch */
export function savedPresentation(records: readonly unknown[], at: number): Presentation {
  return {
    records,
    columns: SAVED_COLUMNS,
    readableColumns: ['name', 'grade', 'cuisine_tags', 'neighborhood', 'city', 'address', 'note'],
    selectColumns: (columns) => ({ results: records.map((record) => pick(record, columns)) }),
    table: (view, columns) => renderFind(records, { columns, extra: ['note'], numbered: false }, view),
    page: async (columns) => (await import('../html/rows.ts')).savedPage(records, at, columns),
  };
}

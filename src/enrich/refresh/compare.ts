import type { LookupOutput } from '../../client/types.ts';
import { valueAt } from '../../output/records.ts';
import { type FieldChange, fieldChanges } from '../../util/changes.ts';
import { canonicalJson } from '../../util/json.ts';
import { detailsOf, type FinishedList, type ListRow, type Values } from '../finished/finished-list.ts';
import { RESTAURANT_FIELDS } from '../write/row-codec.ts';

export interface Refreshed {
  /** The values that change; null if none does. */
  readonly set: Values | null;
  readonly changes: readonly FieldChange[];
}

/**
 * Compares a row with new details of its restaurant. With details in the row, these are compared, and columns follow
 * them. Without, the columns are compared. A field that the new details lack in a column is unknown, and stays.
 * @param keepsDetails whether the details are stored in the row
 */
export function compareRow(
  list: FinishedList,
  row: ListRow,
  details: LookupOutput,
  keepsDetails: boolean,
): Refreshed {
  const next = list.valuesOf({ status: 'matched', restaurant: { ...details }, details });
  const before = detailsOf(row);
  const fields = RESTAURANT_FIELDS.filter(
    (field) => valueAt(details, field) !== undefined && field in row.values,
  );
  const differing = fields.filter((field) => !isSame(row.values[field], next[field]));
  if (before === undefined) {
    const changes = differing.map((field) => ({
      field,
      before: list.value(row.values, field) ?? null,
      after: list.value(next, field) ?? null,
    }));
    return { set: setOf(row, next, [...differing, ...(keepsDetails ? list.detailFields : [])]), changes };
  }
  const changes = fieldChanges(before, details);
  const paths = changes.map(({ field }) => field.replace(/^coordinates\./, ''));
  const columns = differing.filter((field) => paths.some((path) => path === field || path === 'coordinates'));
  return { set: changes.length === 0 ? null : setOf(row, next, [...columns, ...list.detailFields]), changes };
}

function setOf(row: ListRow, next: Values, fields: readonly string[]): Values | null {
  const changed = fields.filter((field) => field in row.values && !isSame(row.values[field], next[field]));
  return changed.length === 0 ? null : Object.fromEntries(changed.map((field) => [field, next[field]]));
}

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalJson(one ?? null) === canonicalJson(other ?? null);

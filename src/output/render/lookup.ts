import { glyphs, type Presentation, type View } from '../presentation.ts';
import { isRecord, pick } from '../records.ts';
import { cardLines, type LookupItem, READING_WIDTH } from './card.ts';
import { comparisonLines } from './compare.ts';

/**
 * Renders restaurants without a final line break: one as a card, two to four side by side if they fit, otherwise cards
 * below each other, in the order requested. With `columns`, only those fields. No value is cut.
 */
export function renderLookup(
  items: readonly LookupItem[],
  columns: readonly string[] | undefined,
  view: View,
): string {
  const comparison = comparisonLines(items, columns, view);
  if (comparison !== undefined) return comparison.join('\n');
  const rule = view.palette.dim(glyphs(view).rule.repeat(Math.min(view.width, READING_WIDTH)));
  return items.map((item) => cardLines(item, columns, view).join('\n')).join(`\n\n${rule}\n\n`);
}

/**
 * Presents lookups. `json` is the document: the output itself or, for a list, an array of `{restaurant_id, output}` and
 * `{restaurant_id, error}`. Failed lookups are not records; the table shows them in their place.
 */
export function lookupPresentation(items: readonly LookupItem[], json: unknown): Presentation {
  const list = Array.isArray(json);
  return {
    json,
    records: list ? items.flatMap(rowOf) : items.flatMap((item) => ('failure' in item ? [] : [item.output])),
    ...(list ? {} : { rows: items.flatMap(rowOf) }),
    keyValue: true,
    selectColumns: (columns) => (list ? json.map((entry) => trimEntry(entry, columns)) : pick(json, columns)),
    table: (view, columns) => renderLookup(items, columns, view),
  };
}

/** Returns a row that starts with the requested id. */
function rowOf(item: LookupItem): Record<string, unknown>[] {
  return 'failure' in item ? [] : [{ restaurant_id: item.restaurantId, ...item.output }];
}

function trimEntry(entry: unknown, columns: readonly string[]): unknown {
  return isRecord(entry) && isRecord(entry.output)
    ? { ...entry, output: pick(entry.output, columns) }
    : entry;
}

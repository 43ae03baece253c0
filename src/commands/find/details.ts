import type { App } from '../../app/app.ts';
import type { Service } from '../../app/service.ts';
import type { Level } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import type { Presentation } from '../../output/presentation.ts';

/** A result with its details, or with the reason why there are none. */
export type Detailed =
  | { readonly result: unknown; readonly details: Readonly<Record<string, unknown>> }
  | { readonly result: unknown; readonly error: AppError };

/** Looks up every result, in order. A lookup that fails does not stop the others. */
export async function lookupResults(
  app: App,
  service: Service,
  results: readonly unknown[],
  level: Level,
): Promise<Detailed[]> {
  const { lookupMany } = await import('../../app/lookups.ts');
  const ids = results.map((result) => {
    const { service_id: id } = (result ?? {}) as Record<string, unknown>;
    return typeof id === 'string' ? id : '';
  });
  const all: Detailed[] = [];
  await app.withSpinner('looking up', async () => {
    for await (const { output, error } of lookupMany(service, ids, level)) {
      const result = results[all.length];
      all.push(error === undefined ? { result, details: output } : { result, error });
    }
  });
  return all;
}

/** Widest value that a table of results has room for, in characters. */
const MAX_CELL = 24;
/** Maximum number of columns of details in a table. */
const MAX_COLUMNS = 3;

/** Presents results with their details: extra columns in tables, all of them in CSV and TSV. */
export async function detailedPresentation(
  detailed: readonly Detailed[],
  columns: readonly string[],
): Promise<Presentation> {
  const { errorFields } = await import('../../output/problem.ts');
  const { flatten, isRecord, pick } = await import('../../output/records.ts');
  const { renderFind } = await import('../../output/render/find.ts');
  const records = detailed.map((each) => {
    const result = isRecord(each.result) ? each.result : {};
    return 'details' in each ? { ...each.details, ...result } : result;
  });
  const keys = new Set(records.flatMap((record) => [...flatten(record).keys()]));
  const extra = [...keys].filter((key) => !columns.includes(key));
  const json = detailed.map((each) =>
    'details' in each ? each : { result: each.result, error: errorFields(each.error) },
  );
  const short = extra
    .filter((key) => !['status', 'restaurant_id'].includes(key) && !key.includes('.'))
    .filter((key) =>
      records.every(
        (record) =>
          ['string', 'undefined'].includes(typeof record[key]) &&
          String(record[key] ?? '').length <= MAX_CELL,
      ),
    )
    .slice(0, MAX_COLUMNS);
  return {
    json,
    records,
    columns: [...columns, ...extra],
    selectColumns: (selected) =>
      json.map((each) =>
        'details' in each
          ? { ...each, result: pick(each.result, selected), details: pick(each.details, selected) }
          : each,
      ),
    table: (view, selected) => renderFind(records, { columns: selected, extra: short }, view),
  };
}

import type { App } from '../../app/app.ts';
import { lookupAll, lookupsFailed, withPlanHint } from '../../app/lookup-many.ts';
import type { Service } from '../../app/service.ts';
import type { FindResult } from '../../client/tools.ts';
import type { Level } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import type { Presentation } from '../../output/presentation.ts';
import { errorFields } from '../../output/problem.ts';
import { flatten, pick } from '../../output/records.ts';
import { renderFind } from '../../output/render/find.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { assertReadable, type Listing } from './listing.ts';
import { DISTANCE } from './refine.ts';

type Data = Readonly<JsonObject>;

type Detailed =
  | { readonly result: unknown; readonly details: Data }
  | { readonly result: unknown; readonly error: AppError };

const WITHOUT_DETAILS: Hint = {
  text: 'a search without details works with every key',
  command: again({}, { without: ['--fields'] }),
};

export async function withDetails(
  app: App,
  service: Service,
  answer: FindResult,
  results: readonly unknown[],
  level: Level,
  columns: readonly string[],
): Promise<Listing> {
  const ids = results.map((row) =>
    isObject(row) && typeof row.service_id === 'string' ? row.service_id : '',
  );
  const outcomes = await lookupAll(app, service, ids, level).catch(withPlanHint(WITHOUT_DETAILS));
  const detailed = outcomes.map(({ output, error }, index): Detailed => {
    const result = results[index];
    return error === undefined ? { result, details: output } : { result, error };
  });
  return {
    json: detailed.map(asJson),
    present: async () => detailedPresentation(detailed, columns),
    assertComplete() {
      const failed = outcomes.filter(({ error }) => error !== undefined);
      if (failed.length > 0) throw lookupsFailed(app, failed, outcomes.length, () => again());
      assertReadable(answer);
    },
  };
}

const asJson = (each: Detailed): unknown =>
  'error' in each ? { result: each.result, error: errorFields(each.error) } : each;

/** A result and its details as one record. A key of both has the value of the result. */
function merged(each: Detailed): Data {
  const result = isObject(each.result) ? each.result : {};
  return 'details' in each ? { ...each.details, ...result } : result;
}

function selectedJson(detailed: readonly Detailed[], columns: readonly string[]): unknown[] {
  return detailed.map((each) => {
    const record = pick(merged(each), columns);
    return 'error' in each ? { ...record, error: errorFields(each.error) } : record;
  });
}

const MAX_CELL = 24;
const MAX_COLUMNS = 3;

function detailedPresentation(detailed: readonly Detailed[], columns: readonly string[]): Presentation {
  const records = detailed.map(merged);
  const keys = new Set(records.flatMap((record) => [...flatten(record).keys()]));
  const extra = [...keys].filter((key) => !columns.includes(key));
  const isShort = (value: unknown): boolean =>
    value === undefined || (typeof value === 'string' && value.length <= MAX_CELL);
  const short = extra
    .filter((key) => !['status', 'restaurant_id'].includes(key) && !key.includes('.'))
    .filter((key) => records.every((record) => isShort(record[key])))
    .slice(0, MAX_COLUMNS);
  const inTable = [...columns.filter((key) => key === DISTANCE), ...short];
  return {
    records,
    columns: [...columns, ...extra],
    selectColumns: (selected) => selectedJson(detailed, selected),
    table: (view, selected) => renderFind(records, { columns: selected, extra: inTable }, view),
  };
}

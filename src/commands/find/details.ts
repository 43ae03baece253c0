import type { App } from '../../app/app.ts';
import { lookupAll } from '../../app/lookup-many.ts';
import type { Service } from '../../app/service.ts';
import type { Level } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import type { Presentation } from '../../output/presentation.ts';
import { errorFields } from '../../output/problem.ts';
import { flatten, pick } from '../../output/records.ts';
import { renderFind } from '../../output/render/find.ts';
import { mergeExact } from '../../util/exact-json.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { DISTANCE } from './refine.ts';

type Data = Readonly<JsonObject>;

/** A result with its details, or with the error if there are none. */
export type Detailed =
  | { readonly result: unknown; readonly details: Data }
  | { readonly result: unknown; readonly error: AppError };

/**
 * Looks up every result, in order. A failed lookup does not stop the others.
 * @param openNow omits restaurants that are closed now or have no readable opening hours
 */
export async function lookupResults(
  app: App,
  service: Service,
  results: readonly unknown[],
  level: Level,
  openNow: boolean,
): Promise<Detailed[]> {
  const ids = results.map((row) =>
    isObject(row) && typeof row.service_id === 'string' ? row.service_id : '',
  );
  const outcomes = await lookupAll(app, service, ids, level);
  const detailed = outcomes.map(({ output, error }, index): Detailed => {
    const result = results[index];
    return error === undefined ? { result, details: output } : { result, error };
  });
  const now = new Date(app.context.now());
  return openNow
    ? detailed.filter((each) => 'error' in each || isOpenAt(each.details, now) === true)
    : detailed;
}

/** Returns results with their details as JSON. @param columns of those that have details; default: all */
export function detailedJson(detailed: readonly Detailed[], columns?: readonly string[]): unknown[] {
  return detailed.map((each) => {
    if ('error' in each) return { result: each.result, error: errorFields(each.error) };
    if (columns === undefined) return each;
    return { result: pick(each.result, columns), details: pick(each.details, columns) };
  });
}

/** Maximum number of characters of a value that is shown in a table of results. */
const MAX_CELL = 24;
/** Maximum number of columns of details in a table. */
const MAX_COLUMNS = 3;

/** Presents results with their details: extra columns in tables, all of them in CSV and TSV. */
export function detailedPresentation(
  detailed: readonly Detailed[],
  columns: readonly string[],
): Presentation {
  const records = detailed.map((each) => {
    const result = isObject(each.result) ? each.result : {};
    return 'details' in each ? mergeExact(each.details, result) : result;
  });
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
    selectColumns: (selected) => detailedJson(detailed, selected),
    table: (view, selected) => renderFind(records, { columns: selected, extra: inTable }, view),
  };
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const DAY_MINUTES = 24 * 60;

/**
 * Returns whether a restaurant is open; undefined if its details have no readable opening hours.
 * @param details with `hours`: for each day a list of `{open, close}` or `"11:00-22:00"`; in the given `timezone`, else
 * in local time
 */
export function isOpenAt(details: Data, now: Date): boolean | undefined {
  const hours = details.hours ?? details.opening_hours;
  if (!isObject(hours)) return undefined;
  const { day, minute } = localTime(now, details.timezone ?? details.time_zone);
  const today = spansOf(hours[DAYS[day] ?? '']);
  const yesterday = spansOf(hours[DAYS[(day + 6) % 7] ?? '']);
  if (today === undefined || yesterday === undefined) return undefined;
  // Hours past midnight belong to the previous day.
  return (
    today.some(([open, close]) => minute >= open && minute < close) ||
    yesterday.some(([, close]) => minute + DAY_MINUTES < close)
  );
}

/** Returns the day of the week and the minute of the day in a time zone; in local time if it is invalid. */
function localTime(now: Date, timeZone: unknown): { day: number; minute: number } {
  const options = { weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  let formatter = new Intl.DateTimeFormat('en-US', options);
  try {
    if (typeof timeZone === 'string') formatter = new Intl.DateTimeFormat('en-US', { ...options, timeZone });
  } catch {
    // An invalid time zone.
  }
  const parts = Object.fromEntries(formatter.formatToParts(now).map(({ type, value }) => [type, value]));
  const day = DAYS.findIndex((name) => name === parts.weekday?.toLowerCase());
  return { day, minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

/** Returns the opening hours of a day, in minutes since midnight; undefined if any cannot be parsed. */
function spansOf(value: unknown): (readonly [open: number, close: number])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const spans: (readonly [number, number])[] = [];
  for (const span of value) {
    const text = isObject(span) ? `${span.open}-${span.close}` : String(span);
    const match = /^(\d{1,2}):(\d{2})\s*[-–]\s*(\d{1,2}):(\d{2})$/.exec(text);
    if (match === null) return undefined;
    const [hour = 0, minute = 0, lastHour = 0, lastMinute = 0] = match.slice(1).map(Number);
    const [open, close] = [hour * 60 + minute, lastHour * 60 + lastMinute];
    spans.push([open, close > open ? close : close + DAY_MINUTES]);
  }
  return spans;
}

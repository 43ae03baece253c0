import type { App } from '../../app/app.ts';
import type { Service } from '../../app/service.ts';
import { lookupAll } from '../../app/service.ts';
import type { Level } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import type { Presentation } from '../../output/presentation.ts';

type Data = Readonly<Record<string, unknown>>;
const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null;

/** A result with its details, or with the reason why there are none. */
export type Detailed =
  | { readonly result: unknown; readonly details: Data }
  | { readonly result: unknown; readonly error: AppError };

/**
 * Looks up every result, in order. A lookup that fails does not stop the others.
 * @param openNow leaves out what is closed now, or does not say
 */
export async function lookupResults(
  app: App,
  service: Service,
  results: readonly unknown[],
  level: Level,
  openNow: boolean,
): Promise<Detailed[]> {
  const ids = results.map((row) => (isData(row) && typeof row.service_id === 'string' ? row.service_id : ''));
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

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const DAY_MINUTES = 24 * 60;

/**
 * Returns whether a restaurant is open; undefined when its details have no opening hours that can be read.
 * @param details with `hours`: for each day a list of `{open, close}` or `"11:00-22:00"`; a `timezone` is used when it
 *   is given, otherwise the time of this machine
 */
export function isOpenAt(details: Data, now: Date): boolean | undefined {
  const hours = details.hours ?? details.opening_hours;
  if (!isData(hours)) return undefined;
  const { day, minute } = localTime(now, details.timezone ?? details.time_zone);
  const today = spansOf(hours[DAYS[day] ?? '']);
  const yesterday = spansOf(hours[DAYS[(day + 6) % 7] ?? '']);
  if (today === undefined || yesterday === undefined) return undefined;
  // What closes after midnight belongs to the day before.
  return (
    today.some(([open, close]) => minute >= open && minute < close) ||
    yesterday.some(([, close]) => minute + DAY_MINUTES < close)
  );
}

function localTime(now: Date, timeZone: unknown): { day: number; minute: number } {
  const options = { weekday: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const format = (zone?: string) => new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone });
  let formatter = format();
  try {
    if (typeof timeZone === 'string') formatter = format(timeZone);
  } catch {
    // Not a time zone: the time of this machine.
  }
  const parts = Object.fromEntries(formatter.formatToParts(now).map(({ type, value }) => [type, value]));
  const day = DAYS.findIndex((name) => name === parts.weekday?.toLowerCase());
  return { day, minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

/** Returns the spans of a day, in minutes since its midnight; undefined when one cannot be read. */
function spansOf(value: unknown): (readonly [open: number, close: number])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const spans: (readonly [number, number])[] = [];
  for (const span of value) {
    const text = isData(span) ? `${span.open}-${span.close}` : String(span);
    const [, hour, minute, lastHour, lastMinute] =
      /^(\d{1,2}):(\d{2})\s*[-–]\s*(\d{1,2}):(\d{2})$/.exec(text) ?? [];
    if (hour === undefined) return undefined;
    const open = Number(hour) * 60 + Number(minute);
    const close = Number(lastHour) * 60 + Number(lastMinute);
    spans.push([open, close > open ? close : close + DAY_MINUTES]);
  }
  return spans;
}

type Data = Readonly<Record<string, unknown>>;

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const DAY_MINUTES = 24 * 60;

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null;

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

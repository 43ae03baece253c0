export const formatNumber = (value: number): string => value.toLocaleString('en-US');

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** The units of long durations, largest first. A unit is used for two or more, so its name is plural. */
const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [365 * 86_400_000, 'years'],
  [86_400_000, 'days'],
  [3_600_000, 'hours'],
  [60_000, 'minutes'],
];

/** Formats a duration in milliseconds for a sentence: `500ms`, `1.5s`, `90s`, `2 hours`, `31,688 years`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const [unit, name] = UNITS.find(([each]) => ms >= 2 * each) ?? [];
  if (unit === undefined) return `${Math.round(ms / 100) / 10}s`;
  return `${formatNumber(Math.floor(ms / unit))} ${name}`;
}

const DAY_MS = 86_400_000;
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** Formats a time for a person, in the local time zone: `Mon 21:19`; further than six days away, `Nov 3, 2026, 21:19`. */
export function shortTime(ms: number, now: number): string {
  const isNear = Math.abs(ms - now) < 6 * DAY_MS;
  const day = isNear
    ? ({ weekday: 'short' } as const)
    : ({ month: 'short', day: 'numeric', year: 'numeric' } as const);
  const text = new Date(ms).toLocaleString('en-US', { ...day, ...CLOCK });
  return isNear ? text.replace(',', '') : text;
}

/** For the end of a wait, which the minute before it is not. */
export const nextMinute = (ms: number): number => Math.ceil(ms / 60_000) * 60_000;

/** ISO 8601, UTC, rounded up to a second: `2026-11-23T21:19:36Z`. */
export function isoSeconds(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

interface Reader {
  readonly context: { readonly stderr: { readonly isTTY: boolean }; now(): number };
  readonly terminal: { readonly wantsJson: boolean };
}

/** Formats the end of a wait for stderr: for a person at a terminal local, in whole minutes; otherwise ISO 8601. */
export function timeText({ context, terminal }: Reader, ms: number): string {
  const isForPerson = context.stderr.isTTY && !terminal.wantsJson;
  return isForPerson ? shortTime(nextMinute(ms), context.now()) : isoSeconds(ms);
}

/** The first characters of a text, without half of a surrogate pair. */
export const startOf = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

export function excerpt(text: string, max = 200): string {
  const line = text.slice(0, 20_000).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${startOf(line, max - 1)}…`;
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

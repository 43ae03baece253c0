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
  return `${Math.floor(ms / unit).toLocaleString('en-US')} ${name}`;
}

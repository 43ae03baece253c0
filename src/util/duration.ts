const UNITS: readonly (readonly [ms: number, one: string, many: string])[] = [
  [365 * 86_400_000, 'year', 'years'],
  [86_400_000, 'day', 'days'],
  [3_600_000, 'hour', 'hours'],
  [60_000, 'minute', 'minutes'],
];

/** Formats a duration in milliseconds for a sentence: `500ms`, `1.5s`, `90s`, `2 hours`, `31,688 years`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  for (const [unit, one, many] of UNITS) {
    if (ms < 2 * unit && unit !== 60_000) continue;
    if (ms < 2 * unit) break;
    const count = Math.floor(ms / unit);
    return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
  }
  return `${Math.round(ms / 100) / 10}s`;
}

/** Formats a number for people: `5,000`. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** Formats a number with its noun: `1 row`, `5,000 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

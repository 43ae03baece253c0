export const formatNumber = (value: number): string => value.toLocaleString('en-US');

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

import type { JsonObject } from '../../util/json.ts';

/** The label of a spinner while a tool reports its progress (MCP). */
export function progressLabel(label: string, { progress, total, message }: Readonly<JsonObject>): string {
  // The line is cut to the width of the terminal later.
  if (typeof message === 'string' && message.trim() !== '') return `${label}: ${message.slice(0, 500)}`;
  const percent = Math.floor((100 * Number(progress)) / Number(total));
  return percent >= 0 && percent <= 100 ? `${label} ${percent} %` : label;
}

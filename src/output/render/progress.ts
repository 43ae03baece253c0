/**
 * What is under way and how far it has come, for one line.
 * @param params of `notifications/progress` (MCP, progress): `progress`, and perhaps `total` and `message`
 */
export function progressLabel(label: string, params: Readonly<Record<string, unknown>>): string {
  const { progress, total, message } = params;
  const words = typeof message === 'string' ? message.trim().slice(0, MAX_MESSAGE_LENGTH) : '';
  const come = percentText(progress, total);
  const told = `${label}${come === '' ? '' : ` ${come}`}`;
  return words === '' ? told : `${told}: ${words}`;
}

/** Of a message, in characters; the line is cut to the terminal's width later. */
const MAX_MESSAGE_LENGTH = 500;

function percentText(progress: unknown, total: unknown): string {
  if (typeof progress !== 'number' || !Number.isFinite(progress)) return '';
  if (typeof total !== 'number' || !(total > 0) || !Number.isFinite(total)) return String(progress);
  return `${Math.min(100, Math.max(0, Math.floor((100 * progress) / total)))} %`;
}

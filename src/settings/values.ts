import { AppError, attempt, failure } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { didYouMean } from '../util/nearest.ts';
import { splitWords } from '../util/shell.ts';
import { parseUrl } from '../util/url.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Timers overflow past 2^31-1 ms. */
const MAX_MS = 24 * 86_400_000;

/** In milliseconds; a number without a unit is in seconds. @throws {Error} saying what is expected */
export function parseDuration(text: string): number {
  const ms = parseAge(text);
  if (ms > MAX_MS) throw new Error('expected at most 24d');
  return ms;
}

/** Parses the age of data, which may be longer than a timer. */
export function parseAge(text: string): number {
  const ms = durationOf(text);
  if (ms === undefined) throw new Error('expected a duration, such as 500ms, 30s or 2m');
  return ms;
}

function durationOf(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(text.trim());
  const [, digits = '', unit = 's'] = match ?? [];
  const factor = UNITS[unit];
  return match === null || factor === undefined ? undefined : Math.round(Number(digits) * factor);
}

/** The start of a period that ends now. Both are in milliseconds since the epoch. */
export type Since = (now: number) => number;

/** `24 hours` is `24h`. */
const WRITTEN_OUT = /(?<=^\d{1,9}) ?([hd])(?:ours?|ays?)$/i;
const DAYS = ['today', 'yesterday'];
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?$/;

/** Parses a duration, a day (from midnight, in the local time zone), or a time of ISO 8601. @throws {Error} */
export function parseSince(text: string): Since {
  const ago = durationOf(text.replace(WRITTEN_OUT, '$1'));
  if (ago !== undefined) return (now) => now - ago;
  const days = DAYS.indexOf(text.trim().toLowerCase());
  if (days !== -1) return (now) => midnight(now, days);
  const at = Date.parse(DATE.test(text) ? `${text}T00:00` : text);
  if (Number.isNaN(at) || !isInCalendar(text) || !(DATE.test(text) || TIME.test(text)))
    throw new Error('expected a duration or a date, such as 7d or 2026-11-01');
  return () => at;
}

/** Whether a text begins with a day that exists: `Date.parse` reads February 30 as March 2. */
function isInCalendar(text: string): boolean {
  const day = text.slice(0, 10);
  return attempt(() => new Date(day).toISOString().startsWith(day)) === true;
}

function midnight(now: number, daysAgo: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.setDate(day.getDate() - daysAgo);
}

export function parseTimeSpan(text: string): number {
  const ms = parseDuration(text);
  if (ms === 0) throw new Error('expected more than 0, such as 30s');
  return ms;
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`expected a whole number from ${min} to ${max}`);
    return value;
  };
}

export function oneOf<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const match = choices.find((choice) => choice === text);
    if (match !== undefined) return match;
    const meant = didYouMean(text, choices, 1);
    throw new Error(`expected one of ${choices.join(', ')}${meant === '' ? '' : `; ${meant}`}`);
  };
}

export function nonEmpty(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new Error('expected non-empty text');
  return trimmed;
}

export type CommandWords = readonly [program: string, ...args: string[]];

export function parseCommand(text: string): CommandWords {
  const [program = '', ...args] = splitWords(text) ?? [];
  if (program === '') throw new Error('expected a command, with its quotes closed');
  return [program, ...args];
}

export function parseProfileName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) {
    throw new Error('expected a short name of letters, digits, dots, hyphens and underscores');
  }
  return text;
}

export function parseStoreUrl(text: string): URL {
  const url = parseUrl(text);
  const isServer = /^rediss?:$/.test(url?.protocol ?? '') && url?.hostname !== '';
  const isSocket = url?.protocol === 'unix:' && url.pathname.length > 1;
  if (url === undefined || !(isServer || isSocket)) {
    throw new Error('expected redis://<host>:<port>, rediss://<host>:<port> or unix:///<path>');
  }
  return url;
}

export function parseKeyPrefix(text: string): string {
  if (!/^[\x21-\x7e]{1,64}$/.test(text)) throw new Error('expected 1 to 64 visible ASCII characters');
  return text;
}

export function parseValue<T>(
  parse: (text: string) => T,
  text: string,
  origin: () => { name: string; flag: boolean; hint?: Hint | undefined; isUrl?: boolean },
): T {
  try {
    return parse(text);
  } catch (cause) {
    const { name, flag, hint, isUrl = false } = origin();
    const isComplete = cause instanceof AppError;
    if (isComplete && flag) throw cause;
    const value = isComplete || isUrl ? '' : ` '${text}'`;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw failure(flag ? 'usage' : 'bad_config', `${name}${value}: ${problem}`, hint);
  }
}

import { attempt, failure } from '../errors.ts';
import type { Hint } from '../hint.ts';

export const DEFAULT_KEY_PREFIX = 'sk_service_';

/** Visible ASCII without quotes, brackets, and separators. Not negated: V8 would take a millisecond more with the flag `i`. */
const TOKEN = '[!#-&*+\\-./0-9:=?@A-Z^_a-z|~]';

const INVALID: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'the API key is empty'],
  [/^bearer(\s|$)/i, 'the API key starts with "Bearer"; enter the key alone'],
  [/^["'\u2018\u2019\u201c\u201d]/, 'the API key is in quotes; enter the key alone'],
  [/[^\x21-\x7e]/, 'the API key contains invalid characters: blanks, line breaks or non-ASCII'],
];

/** @throws {AppError} `bad_key`; its message never contains the key */
export function checkKey(raw: string, prefix: string, hint?: Hint): string {
  const key = raw.trim();
  const [, problem] = INVALID.find(([form]) => form.test(key)) ?? [];
  if (problem !== undefined) throw failure('bad_key', problem, hint);
  if (key.length > prefix.length && key.startsWith(prefix)) return key;
  const message =
    key === prefix
      ? 'the API key is incomplete: nothing follows the prefix'
      : `not an API key of the service: expected one that starts with ${prefix}`;
  throw failure('bad_key', message, hint);
}

/** Fewer characters could occur in data by chance, so they are not masked there. */
export const MIN_KEY_CHARS = 8;

export function keySuffix(key: string): string {
  return key.slice(-4);
}

/** Formats a key for display: `sk_service_…abcd`. Characters that would break JSON, CSV or a URL are left out. */
export function maskKey(key: string, prefix: string = DEFAULT_KEY_PREFIX): string {
  const start = key.startsWith(prefix) ? prefix : '';
  return `${start}…${isLongEnough(key, prefix) ? keySuffix(key).replace(/[^\w.~-]/g, '') : ''}`;
}

export const isLongEnough = (key: string, prefix: string): boolean =>
  key.length - (key.startsWith(prefix) ? prefix.length : 0) >= MIN_KEY_CHARS;

/** Lists what is secret in the value of a header: the value, and what follows a scheme such as `Token`. */
export function secretsIn(value: string): string[] {
  const [, credentials] = /^[a-z][a-z-]*[ \t]+(\S+)$/i.exec(value) ?? [];
  return [value, credentials ?? ''].filter((secret) => secret.length >= MIN_KEY_CHARS);
}

/**
 * Creates a function that masks a secret in text: plain, escaped for JSON (also JSON in JSON) or a URL, or in base64, in
 * capitals or not. Nothing else is changed, so it is safe for data. It takes linear time for secrets of any length.
 */
export function keyMasker(
  key: string | undefined,
  prefix: string = DEFAULT_KEY_PREFIX,
  mask = maskKey(key ?? '', prefix),
): (text: string) => string {
  if (key === undefined || !isLongEnough(key, prefix)) return (text) => text;
  // The escapes that are decoded below are of ASCII only.
  const needles = [...new Set([key, attempt(() => encodeURIComponent(key)) ?? key].map(lowerCase))];
  const unescaped = lowerCase(withoutEscapes(key).text);
  const base64 = base64Forms(key);
  // Most texts with a backslash do not escape a character of a key.
  const mayHide = /["\\/]/.test(key) ? /[\\%]/ : /\\u00|%/i;
  return (text) => {
    const plain = needles.reduce((rest, needle) => replaceAll(rest, needle, mask), text);
    const masked = base64.reduce((rest, form) => rest.replaceAll(form, () => mask), plain);
    return unescaped !== '' && mayHide.test(masked) ? replaceEscaped(masked, unescaped, mask) : masked;
  };
}

/** Lower case without a change of length: this letter alone becomes two. */
const lowerCase = (text: string): string => text.replaceAll('\u0130', 'i').toLowerCase();

function replaceAll(text: string, needle: string, mask: string): string {
  const parts: string[] = [];
  let rest = 0;
  for (const at of placesOf(needle, text)) {
    parts.push(text.slice(rest, at), mask);
    rest = at + needle.length;
  }
  return rest === 0 ? text : parts.join('') + text.slice(rest);
}

function* placesOf(needle: string, text: string): Generator<number> {
  const lower = lowerCase(text);
  for (let at = lower.indexOf(needle); at !== -1; at = lower.indexOf(needle, at + needle.length)) yield at;
}

/** A character that is escaped for JSON or a URL, perhaps several times, or the backslashes before one. */
const ESCAPE = /\\+(?:u00([2-7][\da-f]))?|%(?:25)*([2-7][\da-f])/gi;

interface Escape {
  readonly start: number;
  readonly end: number;
  readonly place: number;
  readonly length: number;
}

/** Returns text without escapes. Backslashes are left out, because it is not known how often they are escaped. */
function withoutEscapes(source: string): { text: string; escapes: readonly Escape[] } {
  const escapes: Escape[] = [];
  let text = '';
  let rest = 0;
  for (const { 0: match, 1: json, 2: url, index: start } of source.matchAll(ESCAPE)) {
    text += source.slice(rest, start);
    const code = json ?? url;
    const char = code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16)).replace('\\', '');
    rest = start + match.length;
    escapes.push({ start, end: rest, place: text.length, length: char.length });
    text += char;
  }
  return { text: text + source.slice(rest), escapes };
}

function replaceEscaped(source: string, needle: string, mask: string): string {
  const { text, escapes } = withoutEscapes(source);
  let passed = 0;
  /** Returns the start and the end of a character of the text in the source. Called with growing places. */
  function spanOf(place: number): readonly [number, number] {
    while ((escapes[passed]?.place ?? Number.POSITIVE_INFINITY) <= place) passed += 1;
    const last = escapes[passed - 1];
    if (last === undefined) return [place, place + 1];
    if (last.place === place && last.length > 0) return [last.start, last.end];
    const at = last.end + place - last.place - last.length;
    return [at, at + 1];
  }
  const parts: string[] = [];
  let rest = 0;
  for (const at of placesOf(needle, text)) {
    parts.push(source.slice(rest, spanOf(at)[0]), mask);
    [, rest] = spanOf(at + needle.length - 1);
  }
  return rest === 0 ? source : parts.join('') + source.slice(rest);
}

/** Masks tokens after `Bearer`, and what looks like a key of the service. For people only. */
export function redactor(prefix: string = DEFAULT_KEY_PREFIX): (text: string) => string {
  const start = escapeRegExp(prefix);
  const keyLike = new RegExp(`${start}${TOKEN}{8,}`, 'g');
  // Not `Bearer error="…"`, the parameters of a WWW-Authenticate header (RFC 6750, section 3), nor `Bearer $NAME`, which
  // only refers to one.
  const bearer = new RegExp(`\\b(Bearer)[ \\t]+(?!${start}…|[a-z_]+=|\\$)${TOKEN}+`, 'gi');
  return (text) => {
    // Compiled only if needed: V8 takes a millisecond for the two patterns.
    const shown = text.includes(prefix) ? text.replace(keyLike, (found) => maskKey(found, prefix)) : text;
    return BEARER.test(shown) ? shown.replace(bearer, '$1 …') : shown;
  };
}

const BEARER = /bearer/i;

/** Returns the parts of base64 text that depend on the key alone, wherever it starts. */
function base64Forms(key: string): string[] {
  const cores = [0, 1, 2].map((offset) => base64Core(key, offset)).filter((core) => core.length >= 8);
  return [...new Set(cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]))];
}

function base64Core(key: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

import { AppError } from '../errors.ts';

/** Start of the API keys of the documented service. */
export const DEFAULT_KEY_PREFIX = 'sk_service_';

/**
 * A character of a token inside text: visible ASCII without quotes, brackets and separators. The class is not negated,
 * because V8 takes a millisecond to compile a negated class with the flag `i`.
 */
const TOKEN = '[!#-&*+\\-./0-9:=?@A-Z^_a-z|~]';

/** Invalid forms of a key, each with the message of its error. */
const INVALID: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'the API key is empty'],
  [/^bearer(\s|$)/i, 'the API key starts with "Bearer"; enter the key alone'],
  [/^["'\u2018\u2019\u201c\u201d]/, 'the API key is in quotes; enter the key alone'],
  [/[^\x21-\x7e]/, 'the API key contains invalid characters: blanks, line breaks or non-ASCII'],
];

/**
 * Trims a key and checks its form: `prefix`, then visible ASCII.
 * @param hint what to do about an invalid key, with a command to run
 * @throws {AppError} `bad_key`; its message never contains the key
 */
export function checkKey(
  raw: string,
  prefix: string,
  hint = 'restaurant login prompts for the key and saves it',
): string {
  const key = raw.trim();
  const [, problem] = INVALID.find(([form]) => form.test(key)) ?? [];
  if (problem !== undefined) throw new AppError('bad_key', problem, { hint });
  if (key.length > prefix.length && key.startsWith(prefix)) return key;
  const message =
    key === prefix
      ? 'the API key is incomplete: nothing follows the prefix'
      : `not an API key of the service: expected one that starts with ${prefix}`;
  throw new AppError('bad_key', message, { hint });
}

/** Returns the last four characters of a key: the most that is ever shown. */
export function keySuffix(key: string): string {
  return key.slice(-4);
}

/** Formats a key for display: `sk_service_…abcd`. Characters that would break JSON, CSV or a URL are left out. */
export function maskKey(key: string, prefix: string = DEFAULT_KEY_PREFIX): string {
  return `${prefix}…${keySuffix(key).replace(/[^\w.~-]/g, '')}`;
}

/**
 * Creates a function that masks a key in text: plain, escaped for JSON (including JSON inside JSON) or URLs, or inside
 * base64. Nothing else is changed, so it is safe for data.
 */
export function keyMasker(
  key: string | undefined,
  prefix: string = DEFAULT_KEY_PREFIX,
): (text: string) => string {
  if (key === undefined || key === '') return (text) => text;
  const inJson = JSON.stringify(key).slice(1, -1);
  const forms = [JSON.stringify(inJson).slice(1, -1), inJson, key, ...base64Forms(key)];
  // Created on first use, because most text does not contain anything like a key.
  let pattern: RegExp | undefined;
  const mask = maskKey(key, prefix);
  // A service may return the key in upper case.
  const keyOrEscape = new RegExp(`${ESCAPED}|${escapeRegExp(key.slice(0, 8))}`, 'i');
  // A large body without the key is only searched, which is much faster.
  const mayContainKey = (text: string): boolean =>
    forms.some((form) => text.includes(form)) || keyOrEscape.test(text) || BACKSLASHED.test(key);
  return (text) => {
    if (!mayContainKey(text)) return text;
    pattern ??= new RegExp([...forms.map(escapeRegExp), anyEscape(key)].join('|'), 'gi');
    // A function, because a key may contain `$&`.
    return text.replace(pattern, () => mask);
  };
}

/**
 * Creates a function that masks secrets in text for people: the key in every form, tokens after `Bearer`, and everything
 * that looks like a key of the service.
 */
export function redactor(
  key: string | undefined,
  prefix: string = DEFAULT_KEY_PREFIX,
): (text: string) => string {
  const mask = keyMasker(key, prefix);
  const start = escapeRegExp(prefix);
  const keyLike = new RegExp(`${start}${TOKEN}{8,}`, 'g');
  // Not `Bearer error="…"`, the parameters of a WWW-Authenticate header (RFC 6750, section 3), nor `Bearer $NAME`, which
  // only refers to one.
  const bearer = new RegExp(`\\b(Bearer)[ \\t]+(?!${start}…|[a-z_]+=|\\$)${TOKEN}+`, 'gi');
  return (text) => {
    const masked = mask(text);
    // Compiled only if needed: V8 takes a millisecond for the two patterns.
    const shown = masked.includes(prefix)
      ? masked.replace(keyLike, (found) => maskKey(found, prefix))
      : masked;
    return BEARER.test(shown) ? shown.replace(bearer, '$1 …') : shown;
  };
}

const BEARER = /bearer/i;

/** Pattern of escaped visible ASCII in JSON or a URL. */
const ESCAPED = String.raw`\\u00[2-7]|%(?:25)*[2-7]`;
/** Characters that JSON may escape with a backslash. */
const BACKSLASHED = /["\\/]/;

/** Returns a pattern for the key in which each character may be escaped for JSON or URLs. */
function anyEscape(key: string): string {
  const characters = [...key.replace(/\\+/g, '\\')];
  return characters
    .map((character, place) => {
      const hex = character.charCodeAt(0).toString(16);
      const inUrl = `%(?:25)*${hex}`;
      // An atomic group, because backtracking into a run of backslashes would take quadratic time.
      if (character === '\\') {
        return `(?=(?<run${place}>(?:\\\\(?:u00${hex})?|${inUrl})+))\\k<run${place}>`;
      }
      const afterBackslash = characters[place - 1] === '\\';
      const plain =
        (BACKSLASHED.test(character) && place > 0 && !afterBackslash ? '\\\\*' : '') +
        escapeRegExp(character);
      const json = afterBackslash ? '(?<=\\\\)' : `${place === 0 ? '(?<!\\\\)' : ''}\\\\+`;
      return `(?:${plain}|${json}u00${hex}|${inUrl})`;
    })
    .join('');
}

/** Returns the parts of base64 text that depend on the key alone, wherever it starts. */
function base64Forms(key: string): string[] {
  const cores = [0, 1, 2].map((offset) => base64Core(key, offset)).filter((core) => core.length >= 8);
  return [...new Set(cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]))];
}

/** Returns the base64 digits that depend on the key alone when `offset` bytes (mod 3) precede it. */
function base64Core(key: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

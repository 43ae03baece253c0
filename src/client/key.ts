import { AppError } from '../errors.ts';

/** What an API key of the documented service begins with. */
export const DEFAULT_KEY_PREFIX = 'sk_service_';

/** Characters of a token as it stands in text, so that quotes and commas around it stay. */
const TOKEN = '[^\\s"\'`,;<>(){}\\[\\]\\\\\\u0000-\\u0020\\u007f-\\uffff]';

/**
 * Trims a key as a person gave it and checks that it can be one: `prefix`, then visible ASCII.
 * @param hint what to do about one that cannot, with a command to run
 * @throws {AppError} `bad_key`; its message never holds the key.
 */
export function checkKey(
  raw: string,
  prefix: string,
  hint = 'restaurant login asks for the key and saves it',
): string {
  const key = raw.trim();
  const refuse = (message: string) => new AppError('bad_key', message, { hint });
  if (key === '') throw refuse('the API key is empty');
  if (/^bearer(\s|$)/i.test(key)) {
    throw refuse('the API key is given with "Bearer" in front; give the key alone');
  }
  if (/^["'\u2018\u2019\u201c\u201d]/.test(key)) {
    throw refuse('the API key is given with quotes around it; give the key alone');
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw refuse('the API key contains characters that a key cannot have: blanks, line breaks or non-ASCII');
  }
  if (!key.startsWith(prefix)) throw refuse(`that is no API key of the service: one begins with ${prefix}`);
  if (key.length === prefix.length) throw refuse('the API key is nothing but its prefix');
  return key;
}

/** The last four characters of a key: the most that is ever shown of it. */
export function keySuffix(key: string): string {
  return key.slice(-4);
}

/** The key as it may be shown: `sk_service_…abcd`. What would break JSON, CSV or a URL is left out. */
export function maskKey(key: string, prefix: string = DEFAULT_KEY_PREFIX): string {
  return `${prefix}…${keySuffix(key).replace(/[^\w.~-]/g, '')}`;
}

/**
 * Replaces a key in text by its mask, however it is written: plain, in the escapes of JSON (also of JSON inside JSON),
 * URLs and HTML, or inside base64; nothing else. For data that must otherwise stay as it came.
 */
export function keyMasker(
  key: string | undefined,
  prefix: string = DEFAULT_KEY_PREFIX,
): (text: string) => string {
  if (key === undefined || key === '') return (text) => text;
  const inJson = JSON.stringify(key).slice(1, -1);
  const forms = [JSON.stringify(inJson).slice(1, -1), inJson, key, ...base64Forms(key)];
  const pattern = new RegExp([...forms.map(escapeRegExp), anyEscape(key)].join('|'), 'gi');
  const mask = maskKey(key, prefix);
  // A large body without the key is only searched, which is far quicker. A function, since a key may hold `$&`.
  const mayHold = (text: string): boolean =>
    forms.some((form) => text.includes(form)) || ESCAPED.test(text) || BACKSLASHED.test(key);
  return (text) => (mayHold(text) ? text.replace(pattern, () => mask) : text);
}

/**
 * Removes secrets from text meant for people: the key in every form, what follows `Bearer`, and
 * anything that looks like a key of the service.
 */
export function redactor(
  key: string | undefined,
  prefix: string = DEFAULT_KEY_PREFIX,
): (text: string) => string {
  const erase = keyMasker(key, prefix);
  const start = escapeRegExp(prefix);
  const keyLike = new RegExp(`${start}${TOKEN}{8,}`, 'g');
  // Not `Bearer error="…"`, the parameters of a WWW-Authenticate header (RFC 6750, section 3), nor `Bearer $NAME`, which only points to one.
  const bearer = new RegExp(`\\b(Bearer)[ \\t]+(?!${start}…|[a-z_]+=|\\$)${TOKEN}+`, 'gi');
  return (text) =>
    erase(text)
      .replace(keyLike, (found) => maskKey(found, prefix))
      .replace(bearer, '$1 …');
}

/** An escape that stands for visible ASCII, in JSON, a URL or HTML; or the prefix in whatever case. */
const ESCAPED = /\\u00[2-7]|%(?:25)*[2-7]|&(?:#|amp;|lt;|gt;|quot;|apos;)|sk_service_/i;
/** What JSON may escape with a backslash alone, and the backslash again inside of JSON. */
const BACKSLASHED = /["\\/]/;
const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

/** A pattern of the key with each character as it is, or escaped as JSON, URLs and HTML do. */
function anyEscape(key: string): string {
  const characters = [...key.replace(/\\+/g, '\\')];
  return characters
    .map((character, place) => {
      const code = character.charCodeAt(0);
      const hex = code.toString(16);
      const name = NAMED[character];
      const others = `%(?:25)*${hex}|&(?:#0*(?:${code}|x0*${hex})${name === undefined ? '' : `|${name}`});?`;
      // Taken as a whole and never tried in part, as the time would grow with the square of the run.
      if (character === '\\') {
        return `(?=(?<run${place}>(?:\\\\(?:u00${hex})?|${others})+))\\k<run${place}>`;
      }
      const behindRun = characters[place - 1] === '\\';
      const plain =
        (BACKSLASHED.test(character) && place > 0 && !behindRun ? '\\\\*' : '') + escapeRegExp(character);
      const json = behindRun ? '(?<=\\\\)' : `${place === 0 ? '(?<!\\\\)' : ''}\\\\+`;
      return `(?:${plain}|${json}u00${hex}|${others})`;
    })
    .join('');
}

/** What of the key shows in base64, wherever it begins. */
function base64Forms(key: string): string[] {
  const cores = [0, 1, 2].map((offset) => base64Core(key, offset)).filter((core) => core.length >= 8);
  return [...new Set(cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]))];
}

/** The base64 digits that depend on the key alone when `offset` bytes (mod 3) stand before it. */
function base64Core(key: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

import { hasRawNumbers, isContainer, MAX_DEPTH, stringifyExact } from './exact-json.ts';

/** A variation selector after a character that has variations: an emoji, a keycap, an ideograph, or a math sign. */
const USED_SELECTOR = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)|(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=\p{Sm})\ufe00`;

/** Source of a pattern for invisible variation selectors and joining marks, which can hide text. */
export const STRAY_MARK = String.raw`(?!${USED_SELECTOR})[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;

/**
 * DEL, C1, and all characters without a glyph (zero-width, bidi, tags, line separators). JSON.stringify escapes the
 * other control characters.
 */
const UNSAFE = String.raw`(?!\p{M})[\x7f-\x9f\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]|${STRAY_MARK}`;

/**
 * Returns a value as JSON (RFC 8259) without a final line break, indented by two spaces if `pretty`. Control and
 * invisible characters are escaped as `\uXXXX`. Numbers keep their digits.
 * @throws {AppError} `bad_response` if the value nests deeper than 200 levels.
 */
export function toJson(value: unknown, pretty: boolean): string {
  const json = stringifyExact(value, pretty ? 2 : undefined, MAX_DEPTH) ?? 'null';
  return escapeJson(json);
}

/** Escapes control and invisible characters in JSON text as `\uXXXX`. */
export function escapeJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  // Compiled only here, because it takes milliseconds and most text does not need it.
  return json.replace(new RegExp(UNSAFE, 'gu'), (character) => character.split('').map(escapeUnit).join(''));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Checks the depth of a value. @throws {AppError} `bad_response` if it nests deeper than 200 levels. */
export function checkDepth(value: unknown): void {
  hasRawNumbers(value, MAX_DEPTH);
}

/**
 * Changes every string in a JSON value, except keys. Unchanged parts are shared with the original, and copies keep the
 * texts of inexact numbers.
 */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part);
    if (!isContainer(part)) return part;
    let copy: Record<string, unknown> | undefined;
    for (const [key, inner] of Object.entries(part)) {
      const mapped = walk(inner);
      if (mapped === inner) continue;
      copy ??= (Array.isArray(part) ? Object.assign([], part) : { ...part }) as Record<string, unknown>;
      copy[key] = mapped;
    }
    return copy ?? part;
  };
  return walk(value) as T;
}

import { AppError } from '../errors.ts';
import { isContainer, stringifyExact } from './exact-json.ts';

const MAX_DEPTH = 200;

/** A variation selector behind a character that has variations: an emoji, a keycap, an ideograph, a math sign. */
const USED_SELECTOR = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)|(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=\p{Sm})\ufe00`;

/** Source of a pattern: variation selectors and joining marks that change nothing visible, and so can hide text. */
export const STRAY_MARK = String.raw`(?!${USED_SELECTOR})[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;

/** DEL, C1, and all that has no glyph of its own (zero-width, bidi, tags, line separators); JSON.stringify escapes the rest. */
const UNSAFE = String.raw`(?!\p{M})[\x7f-\x9f\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]|${STRAY_MARK}`;

/**
 * Returns a value as JSON (RFC 8259) without a final line break, indented by two spaces if `pretty`. Characters that a
 * terminal would act on or hide are escaped as `\uXXXX`; numbers keep their digits.
 * @throws {AppError} `bad_response` if the value nests deeper than 200 levels.
 */
export function toJson(value: unknown, pretty: boolean): string {
  checkDepth(value);
  const json = stringifyExact(value, pretty ? 2 : undefined) ?? 'null';
  return escapeJson(json);
}

/** Escapes the characters of JSON text that a terminal would act on or hide, as `\uXXXX`. */
export function escapeJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  // Compiled here because it takes milliseconds, which plain text does not need.
  return json.replace(new RegExp(UNSAFE, 'gu'), (character) => character.split('').map(escapeUnit).join(''));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Checks the depth of a value, level by level and without recursion.
 * @throws {AppError} `bad_response` if the value nests deeper than 200 levels.
 */
export function checkDepth(value: unknown): void {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= MAX_DEPTH)
      throw new AppError('bad_response', `the data nests deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
}

/**
 * Changes every string of a JSON value, keys apart. Parts without a change are shared with the original, and copies
 * keep how their numbers were written.
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

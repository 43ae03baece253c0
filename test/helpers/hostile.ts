import fc from 'fast-check';

import { palette, type View } from '../../src/output/style.ts';

/** A view without color. */
export function viewOf(width: number, unicode = true): View {
  return { width, palette: palette(0), unicode };
}

const ESCAPES = [
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b]52;c;cHduZWQ=\u0007',
  '\u001b[2J\u001b[6n',
  '\u001b]0;no end',
  '\u001bP1$r\u001b\\',
  '\u001b_x\u009c',
  '\u001b[6n\u001b[c',
];
const CONTROLS = [
  '\u009b31m',
  '\b\b\b',
  '\u0007'.repeat(9),
  '\v\f\0\u007f',
  'a\rb',
  'line\nbreak\ttab\r\nend',
];
const INVISIBLE = [
  '\u202eevil\u2066x\u2069',
  '\u061cmark',
  'zero\u200bwidth\ufeff\u00ad',
  '\u{e0041}\u{e0042}',
];
const BROKEN = ['e\u0301'.repeat(3) + '\u0301'.repeat(60), '\ud800', '\udc00x', '🍜‍🍣‍🍜', '🇫🇷🇫'];
const LETTERS = ['鮨さいとう', '한국식당', 'مطعم می‌خواهم', 'क्‍ष', '\u1100\u1161\u11a8\u1100\u1100', 'ｶﾞ'];
const EMOJI = ['👨‍👩‍👧', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👍🏽', '❤️'];
const FORMULAS = ['=1+1', ' =1', '\n=1', '＝1', '@SUM(A1)', '-1+2', '+33 4 72 10 20 30'];
const PLAIN = ['"a";b,c', '__proto__', 'x'.repeat(300), ' ', ''];
const TEXTS = [ESCAPES, CONTROLS, INVISIBLE, BROKEN, LETTERS, EMOJI, FORMULAS, PLAIN].flat();

/** Any code points, lone surrogates included: `fc.string({ unit: 'binary' })` maps all of them when it is made, for a second. */
const codePoints = fc
  .array(fc.nat({ max: 0x10ffff }), { maxLength: 12 })
  .map((codes) => String.fromCodePoint(...codes));

/** Text as it may arrive from outside: controls, bidi, emoji, wide letters, lone surrogates, and plain words. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...TEXTS), codePoints, fc.string({ maxLength: 12 })), { maxLength: 5 })
  .map((parts) => parts.join(''));

const objectOf = <T>(keys: readonly string[], values: fc.Arbitrary<T>, maxLength: number) =>
  fc
    .array(fc.tuple(fc.oneof(hostileText, fc.constantFrom('__proto__', ...keys)), values), { maxLength })
    .map((entries): Record<string, unknown> => Object.fromEntries(entries));

/** JSON of any shape, with hostile keys and texts. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1.5, Number.POSITIVE_INFINITY, 2 ** 53),
    hostileText,
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(['constructor', 'a', 'a.b', 'grade'], tie('value'), 4),
  ),
})).value;

const KEYS = ['name', 'grade', 'cuisine', 'price_level', 'summary', 'lat', 'coordinates'];
export const hostileRecord: fc.Arbitrary<Record<string, unknown>> = objectOf(KEYS, hostileJson, 8);

/** Characters that must never reach a terminal: C0 except LF, DEL, C1, bidi controls, line separators, lone surrogates. */
export const FORBIDDEN =
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u00ad\p{Surrogate}]/u;

/** A link as this program writes it, to an ASCII address. The first group is the visible text. */
export const OWN_LINK = /\u001b\]8;;https:\/\/[!-~]+\u001b\\(.+?)\u001b\]8;;\u001b\\/gu;

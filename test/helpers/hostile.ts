import fc from 'fast-check';
import type { View } from '../../src/output/presentation.ts';
import { palette } from '../../src/output/style.ts';

/** A view without color. */
export function viewOf(width: number, unicode = true): View {
  return { width, palette: palette(0), unicode };
}

const NASTY = [
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b]52;c;cHduZWQ=\u0007',
  '\u001b[2J\u001b[6n',
  '\u009b31m',
  '\b\b\b',
  'a\rb',
  'line\nbreak\ttab\r\nend',
  '\u202eevil\u2066x\u2069',
  '\u061cmark',
  'zero\u200bwidth\ufeff\u00ad',
  '\u{e0041}\u{e0042}',
  'e\u0301'.repeat(3) + '\u0301'.repeat(60),
  '\ud800',
  '\udc00x',
  '鮨さいとう',
  '한국식당',
  '👨‍👩‍👧',
  '🍜‍🍣‍🍜',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '🇫🇷🇫',
  '👍🏽',
  '❤️',
  'مطعم می‌خواهم',
  'क्‍ष',
  '\u1100\u1161\u11a8\u1100\u1100',
  'ｶﾞ',
  '=1+1',
  ' =1',
  '\n=1',
  '＝1',
  '@SUM(A1)',
  '-1+2',
  '+33 4 72 10 20 30',
  '\u001b]0;no end',
  '\u001bP1$r\u001b\\',
  '\u001b_x\u009c',
  '\u001b[6n\u001b[c',
  '\u0007'.repeat(9),
  '\v\f\0\u007f',
  '"a";b,c',
  '__proto__',
  'x'.repeat(300),
  ' ',
  '',
];

/** Text as it may arrive from outside: controls, bidi, emoji, wide letters, lone surrogates, and plain words. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...NASTY),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ maxLength: 12 }),
    ),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''));

/** JSON of any shape, with hostile keys and texts. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1.5, Number.POSITIVE_INFINITY, 2 ** 53),
    hostileText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(hostileText, fc.constantFrom('__proto__', 'constructor', 'a', 'a.b', 'grade')),
          tie('value'),
        ),
        {
          maxLength: 4,
        },
      )
      .map(Object.fromEntries),
  ),
})).value;

export const hostileRecord: fc.Arbitrary<Record<string, unknown>> = fc
  .array(
    fc.tuple(
      fc.oneof(
        hostileText,
        fc.constantFrom(
          '__proto__',
          'name',
          'grade',
          'cuisine',
          'price_level',
          'summary',
          'lat',
          'coordinates',
        ),
      ),
      hostileJson,
    ),
    { maxLength: 8 },
  )
  .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);

/** Characters that must never reach a terminal: C0 except LF, DEL, C1, bidi controls, line separators, lone surrogates. */
export const FORBIDDEN =
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u00ad\p{Surrogate}]/u;

/** A link as this program writes it, to an ASCII address. The first group is the visible text. */
export const OWN_LINK = /\u001b\]8;;https:\/\/[!-~]+\u001b\\(.+?)\u001b\]8;;\u001b\\/gu;

import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { toJson } from '../../../src/util/json.ts';
import { clean, cleanCell, cleanLine, pad, truncate, width, wrap } from '../../../src/util/text.ts';
import { FORBIDDEN, hostileText } from '../../helpers/hostile.ts';

describe('clean', () => {
  it.each([
    ['CSI', '\u001b[31mred', '^[[31mred'],
    ['OSC 8', '\u001b]8;;x\u0007', '^[]8;;x^G'],
    ['NUL', 'a\0b', 'a^@b'],
    ['BS, VT, FF and a lone CR', '\b\v\f\r', '^H^K^L^M'],
    ['DEL', 'a\u007f', 'a^?'],
    ['C1 as cat -v shows it', '\u009b31m\u0085', 'M-^[31mM-^E'],
    ['line breaks', 'a\nb\r\nc', 'a\nb\nc'],
    ['bidi controls', '\u202eabc\u2066d\u2069\u061c\u200f', 'abcd'],
    ['zero-width characters', 'a\u200bb\ufeffc\u00add\u2060e', 'abcde'],
    ['line separators', 'a\u2028b\u2029c', 'abc'],
    ['fillers that draw as blanks', 'a\u3164b\uffa0c', 'abc'],
    ['tags outside a flag', 'a\u{e0041}\u{e0042}', 'a'],
    ['tags behind a flag that no standard knows', '🏴\u{e0075}\u{e0073}\u{e007f}', '🏴'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['joiners between Latin letters', 'a\u200db\u200cc', 'abc'],
    ['joiners between emoji that make no picture', '🍜\u200d🍣', '🍜🍣'],
  ])('makes %s harmless', (_, text, cleaned) => {
    expect(clean(text)).toBe(cleaned);
  });

  it.each([
    ['families', '👨‍👩‍👧'],
    ['the rainbow flag', '🏳️‍🌈'],
    ['the flag of England', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['variation selectors', '❤️'],
    ['skin tones', '👍🏽'],
    ['Persian non-joiners', 'می‌خواهم'],
    ['Devanagari joiners', 'क्‍ष'],
    ['Sinhala joiners', 'ශ්‍රී'],
    ['accents that are marks of their own', 'Cafe\u0301'],
    ['other scripts', '鮨 한국 ไทย עברית'],
  ])('keeps %s', (_, text) => {
    expect(clean(text)).toBe(text);
  });

  it('keeps at most eight combining marks in a row', () => {
    expect(clean(`e${'\u0301'.repeat(200)}x`)).toBe(`e${'\u0301'.repeat(8)}x`);
  });

  it('removes all characters that a terminal interprets, and needs only one pass', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const cleaned = clean(text);
        expect(cleaned).not.toMatch(FORBIDDEN);
        expect(clean(cleaned)).toBe(cleaned);
        expect(cleanLine(text)).not.toContain('\n');
      }),
    );
  });
});

describe('text hidden in variation selectors', () => {
  const hidden = [...'ignore'].map(
    (letter) => `N${String.fromCodePoint(0xe0100 + letter.charCodeAt(0) - 16)}`,
  );

  it.each([
    [hidden.join(''), 'NNNNNN'],
    ['a\ufe0f\ufe01b\u034f\u17b4\u180b', 'ab'],
    ['1\ufe0f2', '12'],
    ['\u2764\ufe0f\ufe0f', '\u2764\ufe0f'],
  ])('is removed from %j, and escaped in JSON', (text, visible) => {
    expect(cleanLine(text)).toBe(visible);
    expect(toJson(text, false)).toMatch(/\\u/);
    expect(JSON.parse(toJson(text, false))).toBe(text);
  });

  it.each(['\u2764\ufe0f', '1\ufe0f\u20e3', '\u845b\u{e0100}', '\u2229\ufe00'])(
    'leaves %j, where it selects a glyph',
    (text) => {
      expect(cleanLine(text)).toBe(text);
      expect(toJson(text, false)).toBe(`"${text}"`);
    },
  );
});

it('cleanLine replaces line breaks and tabs by one space', () => {
  expect(cleanLine('a\tb\r\nc\n\nd\u2028e')).toBe('a b c d e');
});

it('cleanCell keeps tabs and CRLF, which a quoted cell may contain', () => {
  expect(cleanCell('a\tb\r\nc\nd\u001be\rf')).toBe('a\tb\r\nc\nd^[e^Mf');
});

describe('width', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['鮨さ', 4],
    ['👨‍👩‍👧', 2],
    ['e\u0301', 1],
    ['\u0e33', 1],
    ['ตำ', 2],
    ['ต้มยำ', 4],
    ['ນ້ຳ ຳ', 4],
    ['\u001b[31mred\u001b[39m', 3],
  ])('of %j is %i', (text, columns) => {
    expect(width(text)).toBe(columns);
  });

  it('equals that of string-width for any text without Thai and Lao letters', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'aéñж鮨さカー。Ａ서 ~…’', '\u00ad', '\u0301'),
    });
    fc.assert(
      fc.property(fc.oneof(letters, hostileText.map(clean)), (text) => {
        const other = text.replace(/[\u0e33\u0eb3]/g, '');
        expect(width(other)).toBe(stringWidth(other));
      }),
    );
  });

  it('equals that of string-width for a long text, in linear time', () => {
    const long = '鮨 é👨‍👩‍👧'.repeat(700);
    expect(width(long)).toBe(stringWidth(long));
  });
});

describe('truncate', () => {
  it.each([
    ['Chez Panisse', 12, 'Chez Panisse'],
    ['Chez Panisse', 11, 'Chez Panis…'],
    ['Chez Panisse', 6, 'Chez…'],
    ['鮨さいとう', 10, '鮨さいとう'],
    ['鮨さいとう', 8, '鮨さい…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('%j to %i columns is %j', (text, columns, cut) => {
    expect(truncate(text, columns)).toBe(cut);
  });

  it('ends with three dots, or as many as fit', () => {
    expect(truncate('Chez Panisse', 8, '...')).toBe('Chez...');
    // A text of parts that were cut off before.
    expect(truncate('A, califor…, NoPa', 12)).toBe('A, califor…');
    expect(truncate('Chez Panisse', 2, '...')).toBe('..');
  });

  it('stays within the width and reads no more of the text than needed', () => {
    fc.assert(
      fc.property(hostileText, fc.nat(60), (text, columns) => {
        expect(width(truncate(cleanLine(text), columns))).toBeLessThanOrEqual(columns);
      }),
    );
    expect(truncate('漢'.repeat(100_000), 9)).toBe('漢漢漢漢…');
  });
});

it('pad pads by display width', () => {
  expect(pad('鮨', 4)).toBe('鮨  ');
  expect(pad('long', 2)).toBe('long');
});

describe('wrap', () => {
  it('breaks at spaces, inside long words and inside text without spaces', () => {
    expect(wrap('a quiet place', 7)).toEqual(['a quiet', 'place']);
    expect(wrap('3f2b8c1e-7a4d', 8)).toEqual(['3f2b8c1e', '-7a4d']);
    expect(wrap('鮨さいとう六本木', 7)).toEqual(['鮨さい', 'とう六', '本木']);
  });

  it('keeps line breaks, blank lines and indents', () => {
    expect(wrap('one\n\n  - two three', 9)).toEqual(['one', '', '  - two', '  three']);
    expect(wrap('', 9)).toEqual(['']);
  });

  it('stays within the width', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 2, max: 80 }), (text, columns) => {
        for (const line of wrap(clean(text), columns)) expect(width(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it('keeps every letter of very long text', () => {
    const word = 'é'.repeat(7001);
    expect(wrap(word, 50).join('')).toBe(word);
  });
});

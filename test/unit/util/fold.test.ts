import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, isSameName } from '../../../src/util/fold.ts';

describe('foldName', () => {
  it.each([
    ['Café Flore', 'cafe flore'],
    ['THE Blue Door', 'blue door'],
    ["Joe's", 'Joes'],
    ['Joe’s', "JOE'S"],
    ['P.F. Chang’s', 'PF Changs'],
    ['Chez-Panisse', 'chez  panisse'],
    ['Weiß & Söhne', 'weiss sohne'],
    ['Smørrebrød', 'SMORREBROD'],
    ['Łódź', 'lodz'],
    ['ＮＯＰＡ', 'nopa'],
    ['İstanbul', 'istanbul'],
    ['¿Dónde?', 'donde'],
    ['Nopa (San Francisco)', 'nopa san francisco'],
    ['Ｔｈｅ Nopa', 'nopa'],
    ['Σωκράτης', 'ΣΩΚΡΑΤΗΣ'],
  ])('%s equals %s', (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });

  it.each([
    ['Nopa', 'Nopalito'],
    ['The', 'A'],
    ['パン', 'ハン'],
    ['กา', 'กี'],
    ['🍕', '🍣'],
    ['Blue Door', 'Bluedoor'],
    ['Then', 'n'],
  ])('%s does not equal %s', (one, other) => {
    expect(isSameName(one, other)).toBe(false);
  });

  it('keeps a name that is only "the"', () => {
    expect(foldName('The')).toBe('the');
    expect(foldName('The The')).toBe('the');
  });

  it('treats & as "and" or as nothing', () => {
    expect(isSameName('Salt & Straw', 'Salt and Straw')).toBe(true);
    expect(isSameName('Salt & Straw', 'Salt Straw')).toBe(true);
  });

  it('does not change a folded name, and folds case and accents', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(name, (text) => {
        const folded = foldName(text);
        expect(foldName(`${folded}`.replace(/^the /, ''))).toBe(folded.replace(/^the /, ''));
      }),
    );
    const latin = fc.stringMatching(/^[a-z][a-z ]{0,15}[a-z]$/);
    fc.assert(
      fc.property(latin, fc.constantFrom('\u0301', '\u0308', '!', '.', ''), (text, mark) => {
        const dressed = `The  ${[...text].map((letter) => letter.toUpperCase() + mark).join('')}`;
        const letters = mark === '!' ? [...text].join(' ') : text;
        expect(foldName(dressed)).toBe(foldName(`the ${letters}`));
      }),
    );
  });
});

import { editDistance } from './nearest.ts';

/** Letters that Unicode does not decompose into a base letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
};
const SPECIAL_LETTERS = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');
/** Accents, and the vowel points of Hebrew and Arabic. Marks that are essential in other scripts are kept. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]/g;
/** Characters inside words: apostrophes (`Joe's`), periods (`P.F.`), the soft hyphen, and other zero-width characters. */
const INSIDE_WORDS = /['’‘ʼ`´.\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** Letters of ASCII have neither accents nor other forms. */
const PLAIN = /^[\x20-\x7e]*$/;

export function foldLetters(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(ACCENTS, '')
    .replace(SPECIAL_LETTERS, (letter) => LETTERS[letter] ?? letter);
}

/** Removes case, accents, punctuation and a leading "the". A name of symbols keeps them, so that names stay different. */
export function foldName(name: string): string {
  const folded = foldLetters(name);
  const words = folded
    .replace(INSIDE_WORDS, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
  return words === '' ? folded.replace(/\s+/g, ' ').trim() : words.replace(/^the (?=.)/, '');
}

const AND = /[&＆]/;

/** Compares folded names; `&` equals "and". */
export const isSameName = (one: string, other: string): boolean => one === other || sameNameAs(one)(other);

/** The same for many names, of which each is compared with one. */
export function sameNameAs(one: string): (other: string) => boolean {
  const folded = foldName(one);
  return (other) =>
    one === other ||
    folded === foldName(other) ||
    (AND.test(one + other) && foldName(spellAnd(one)) === foldName(spellAnd(other)));
}

export function spellAnd(name: string): string {
  return name.replace(/[&＆]/g, ' and ');
}

const MIN_LENGTH = 2;
/** In shorter words, a typo makes another name. */
const MIN_TYPO = 5;
const MAX_LENGTH = 64;

export const isBeginning = (text: string, name: string): boolean => {
  const wanted = foldName(text);
  return wanted.length >= MIN_LENGTH && foldName(name).startsWith(wanted);
};

/** Whether every word of a text begins a word of a name. */
export function hasWords(text: string, name: string): boolean {
  const [wanted, whole] = [foldName(text), foldName(name).split(' ')];
  const isIn = (word: string): boolean => whole.some((each) => each.startsWith(word));
  return wanted.length > MIN_LENGTH && wanted.split(' ').every(isIn);
}

export function isNearName(text: string, name: string): boolean {
  if (isBeginning(text, name)) return true;
  const [wanted, whole] = [foldName(text), foldName(name)];
  if (wanted.length < MIN_TYPO || wanted.length > MAX_LENGTH) return false;
  const beginning = whole.split(' ').slice(0, wanted.split(' ').length).join(' ');
  return [whole, beginning].some((each) => each.length <= MAX_LENGTH && editDistance(wanted, each) <= 1);
}

import { isRestaurant } from '../../client/results.ts';
import type { Restaurant } from '../../client/types.ts';

/** How sure a row can be of the restaurant beside it. */
export type MatchKind = 'exact' | 'only' | 'best';

/** What a search says about a row. */
export type Match =
  | {
      readonly status: 'matched';
      readonly kind: 'exact' | 'only';
      readonly restaurant: Restaurant;
      readonly candidates: number;
    }
  | {
      readonly status: 'ambiguous';
      readonly kind: 'best';
      readonly restaurant: Restaurant;
      readonly candidates: number;
    }
  | { readonly status: 'not_found'; readonly candidates: 0 };

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
/** Accents, and the vowel points of Hebrew and Arabic. Marks that other scripts cannot do without stay. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]/g;
/** Signs inside words: `Joe's`, `P.F.`, and the soft hyphen and other characters without a width. */
const INSIDE_WORDS = /['’‘ʼ`´.\u00ad\u200b-\u200f\u2060\ufeff]/g;

/**
 * A name as names are compared: without case, accents, punctuation and a leading "the". A name of symbols alone is
 * kept as it is, so that two different ones stay different.
 */
export function foldName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(ACCENTS, '')
    .replace(SPECIAL_LETTERS, (letter) => LETTERS[letter] ?? letter);
  const words = plain
    .replace(INSIDE_WORDS, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
  return words === '' ? plain.replace(/\s+/g, ' ').trim() : words.replace(/^the (?=.)/, '');
}

/** Whether two names are the same but for case, accents, punctuation and a leading "the"; `&` may stand for "and". */
export function isSameName(one: string, other: string): boolean {
  if (one === other || foldName(one) === foldName(other)) return true;
  return AND.test(one + other) && foldName(spellAnd(one)) === foldName(spellAnd(other));
}

const AND = /[&＆]/;

function spellAnd(name: string): string {
  return name.replace(/[&＆]/g, ' and ');
}

/**
 * Judges what a search found for a name.
 * @param results `results` as the service gave them; what is no restaurant is passed over
 * @param total `total_matches`, which counts also what the service did not send
 */
export function matchName(
  query: { readonly name: string; readonly city: string },
  results: readonly unknown[],
  total?: number,
): Match {
  const found = distinct(results.filter(isRestaurant));
  const [first] = found;
  if (first === undefined) return { status: 'not_found', candidates: 0 };
  const candidates = Math.max(found.length, countOf(total, results.length));
  const same = found.filter(({ name }) => isSameName(name, query.name));
  const [only] = same;
  if (only !== undefined && same.length === 1)
    return { status: 'matched', kind: 'exact', restaurant: only, candidates };
  if (candidates === 1) return { status: 'matched', kind: 'only', restaurant: first, candidates };
  const near = same.find(({ city }) => city !== undefined && isSameName(city, query.city));
  return { status: 'ambiguous', kind: 'best', restaurant: near ?? only ?? first, candidates };
}

/** The service's count, where it says that there are more than it sent. */
function countOf(total: unknown, sent: number): number {
  return typeof total === 'number' && Number.isSafeInteger(total) && total > sent ? total : 0;
}

/** The same restaurant listed twice is one candidate. */
function distinct(restaurants: readonly Restaurant[]): Restaurant[] {
  const ids = new Set<string>();
  return restaurants.filter(({ service_id }) => !ids.has(service_id) && ids.add(service_id));
}

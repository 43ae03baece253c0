import { foldName, isSameName, spellAnd } from '../../util/fold.ts';

/** Longer names are not taken apart. */
export const MAX_NAME = 200;
const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const GENERIC = wordSet(
  'restaurant restaurants ristorante restaurante restoran restauracja ravintola gasthaus trattoria osteria',
);
/** Legal forms, folded: without periods, in lower case. */
const LEGAL_FORMS = wordSet(
  'gmbh mbh ggmbh ag kg kgaa ohg gbr ug ek eg inc incorporated ltd limited llc llp lp plc corp co pty pte ' +
    'sarl sas sasu eurl sa srl srls spa snc sl slu bv nv vof ab as aps oy kft doo sro',
);
const AND_WORDS = wordSet('& + and und et y e u');
const PARENTHESES = /[([{（【][^()[\]{}（）【】]*[)\]}）】]/g;
/** `Nopa - Downtown`, `Nopa | Soho`, `Nopa @ Ferry Building`, `Nopa, Berlin`. */
const BRANCH = /\s[-–—|·@]\s.*|,\s.*/s;

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Without parentheses, branch, legal form, and generic words. @returns undefined if nothing was removed, or is left */
export function simplifyName(name: string): string | undefined {
  if (name.length > MAX_NAME) return undefined;
  const words = wordsOf(name.replace(PARENTHESES, ' ').replace(BRANCH, ''));
  dropLegalForms(words);
  while (words.length > 1 && GENERIC.has(foldName(words[0] ?? ''))) words.shift();
  while (words.length > 1 && GENERIC.has(foldName(words.at(-1) ?? ''))) words.pop();
  const simple = words.join(' ');
  return foldName(simple) === '' || isSameName(simple, name) ? undefined : simple;
}

function dropLegalForms(words: string[]): void {
  const endsWith = (set: ReadonlySet<string>) => words.length > 1 && set.has(foldName(words.at(-1) ?? ''));
  while (endsWith(LEGAL_FORMS)) {
    words.pop();
    while (endsWith(AND_WORDS)) words.pop();
  }
}

/** Removes parentheses and words with digits: `Paris (75)`, `Paris 11e`, `10115 Berlin`. @returns undefined as above */
export function simplifyCity(city: string): string | undefined {
  if (city.length > MAX_NAME) return undefined;
  const simple = wordsOf(city.replace(PARENTHESES, ' '))
    .filter((word) => !/\p{N}/u.test(word))
    .join(' ')
    .replace(/(?<![\s,;/–-])[\s,;/–-]+$/, '');
  return foldName(simple) === '' || isSameName(simple, city) ? undefined : simple;
}

export const isSameSimplified = (one: string, other: string): boolean =>
  isSameName(simplifyName(one) ?? one, simplifyName(other) ?? other);

/** Letters that a name must have so that another name with one different letter is the same by its name alone. */
const MIN_LETTERS = 5;

/**
 * Returns whether one letter of two names is wrong, missing, doubled, or swapped with the next one. Digits must be equal:
 * `Bar 54` is not `Bar 55`. @param isShortAllowed also for names of few letters
 */
export function isOneLetterOff(one: string, other: string, isShortAllowed: boolean): boolean {
  const [left, right] = [lettersOf(one), lettersOf(other)];
  const shorter = Math.min(left.length, right.length);
  if (Math.abs(left.length - right.length) > 1 || (shorter < MIN_LETTERS && !isShortAllowed)) return false;
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [cut, otherCut] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  if ([...cut, ...otherCut].some((letter) => /\p{N}/u.test(letter))) return false;
  const isSwap = cut.length === 2 && cut[0] === otherCut[1] && cut[1] === otherCut[0];
  return isSwap || (cut.length <= 1 && otherCut.length <= 1);
}

const lettersOf = (name: string): string[] => [
  ...foldName(spellAnd(simplifyName(name) ?? name)).slice(0, MAX_NAME),
];

/** Returns the similarity of two names, from 0 to 1 with two decimals: the share of letter pairs they have in common. */
export function nameSimilarity(one: string, other: string): number {
  if (isSameName(one, other)) return 1;
  const pairs = pairsOf(one);
  const others = pairsOf(other);
  if (pairs.length + others.length === 0) return 0;
  const left = new Map<string, number>();
  for (const pair of pairs) left.set(pair, (left.get(pair) ?? 0) + 1);
  let common = 0;
  for (const pair of others) {
    const count = left.get(pair) ?? 0;
    if (count === 0) continue;
    left.set(pair, count - 1);
    common += 1;
  }
  // Different names are never fully similar.
  return Math.min(0.99, Math.round((200 * common) / (pairs.length + others.length)) / 100);
}

function pairsOf(name: string): string[] {
  const letters = [...` ${foldName(spellAnd(name)).slice(0, MAX_NAME)} `];
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}

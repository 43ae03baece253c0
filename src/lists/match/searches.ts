import type { FindQuery } from '../../client/types.ts';
import { foldName } from '../../util/fold.ts';
import { isOneLetterOff, MAX_NAME, simplifyCity, simplifyName } from './names.ts';

/**
 * The searches for a row, in the order in which they are sent, each one only if those before it found nothing: the name as
 * it is; and with --loose the simplified name, the name with its umlauts spelled in the other way, and its longest word.
 */
export function searchesFor({ name, city }: FindQuery): readonly FindQuery[] {
  const simple = simplifyName(name) ?? oneBlank(name);
  const names = [simple, swapUmlauts(simple), longestWord(simple)].filter((each) => each !== undefined);
  const further = names.map((each) => ({ name: each, city: simplifyCity(city) ?? oneBlank(city) }));
  const all = [{ name, city }, ...further];
  return all.filter(
    (query, index) => all.findIndex((each) => each.name === query.name && each.city === query.city) === index,
  );
}

const MAX_PARTS = 5;

/**
 * The searches for parts of a name, of which one word may be misspelled: two words at a time, or each one of two. Parts
 * that too many restaurants have are left out.
 */
export function partSearches({ name, city }: FindQuery): readonly FindQuery[] {
  if (city === '') return [];
  const words = oneBlank(simplifyName(name) ?? name).split(' ');
  const size = Math.min(2, words.length - 1);
  const isRare = (word: string): boolean => [...word].length >= MIN_WORD && !isCommon(word);
  const parts = words.map((_, at) => words.slice(at, at + size));
  return parts
    .filter((part) => part.length === size && part.some(isRare))
    .slice(0, MAX_PARTS)
    .map((part) => ({ name: part.join(' '), city: simplifyCity(city) ?? oneBlank(city) }));
}

const oneBlank = (text: string): string => text.trim().replace(/\s+/g, ' ');

const UMLAUTS: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  Ä: 'Ae',
  Ö: 'Oe',
  Ü: 'Ue',
  ß: 'ss',
};
const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(UMLAUTS).map(([letter, spelled]) => [spelled, letter]),
);
/** Two letters that can be an umlaut: not `que`, `aue` and `eue`, and not at the end, as in `Blue` and `Joe`. */
const SPELLED = /(?<![aeoquAEOQU])(?:[aou]e|[AOU]e)(?=\p{L})/gu;

/** `Müller` is `Mueller`, and `Loewen` is `Löwen`. @returns undefined if the name has none */
function swapUmlauts(name: string): string | undefined {
  if (name.length > MAX_NAME) return undefined;
  const spelled = name.replace(/[äöüÄÖÜß]/g, (letter) => UMLAUTS[letter] ?? letter);
  if (spelled !== name) return spelled;
  const swapped = name.replace(SPELLED, (letters) => LETTERS[letters] ?? letters);
  return swapped === name ? undefined : swapped;
}

const COMMON =
  'restaurant ristorante restaurante gasthaus gasthof wirtshaus brauhaus trattoria osteria pizzeria pizza taverna tavern ' +
  'taqueria cantina brasserie bistro cafe caffe coffee kaffee bakery lounge diner deli grill kitchen house table garden ' +
  'noodle noodles sushi ramen burger burgers steakhouse express market food bar pub the and und der die das zum zur';
const COMMON_WORDS = COMMON.split(' ');
const MIN_WORD = 3;

const isCommon = (word: string): boolean =>
  COMMON_WORDS.includes(foldName(word)) || COMMON_WORDS.some((each) => isOneLetterOff(word, each, false));

/** The longest word without a digit; common ones only if there is no other. @returns undefined if it is the whole name */
function longestWord(name: string): string | undefined {
  if (name.length > MAX_NAME) return undefined;
  const words = (name.match(/[\p{L}\p{N}\p{M}'’]+/gu) ?? []).filter(
    (word) => [...word].length >= MIN_WORD && !/\p{N}/u.test(word),
  );
  const rare = words.filter((word) => !isCommon(word));
  const longest = (rare.length > 0 ? rare : words).reduce(
    (best, word) => (word.length > best.length ? word : best),
    '',
  );
  return longest === '' || longest === name ? undefined : longest;
}

import { type Advice, again, type Command, restaurant, slot, type Word } from '../hint.ts';
import { foldName, isBeginning } from '../util/fold.ts';
import type { App } from './app.ts';
import { lastRestaurants, lastRows } from './last-results.ts';
import { type Seen, searchFirst, seenResults } from './seen-results.ts';

export interface NameAndCity {
  readonly name: string;
  readonly city: string;
  /** Whether the words say so. Otherwise the last of them may be a part of the name. */
  readonly isCertain: boolean;
}

/** Returns the city for a suggested search; undefined if a default city is set. */
export function cityForHint(app: App, seen: Seen = seenResults(app)): Word | undefined {
  if (app.settings.raw('city').value !== null) return undefined;
  return seen.cities[0] ?? slot('city');
}

/** How words name a city; a line break separates the words. A certain one runs. */
const PLACES: readonly (readonly [form: RegExp, isCertain: boolean])[] = [
  // `nopa city:SF`, `city=SF nopa`
  [/^(?<name>.+?)\ncity[:=](?<city>\S.*)$/is, true],
  [/^city[:=](?<city>\S[^\n]*)\n(?<name>.+)$/is, true],
  // `'Nopa --city SF'`
  [/^(?<name>.*\S)\s+(?:--city[= ]|-c )\s*(?<city>[^\s-][^-]*)$/s, false],
  // `nopa, san francisco, ca`; a comma inside quotes may belong to the name.
  [/^(?<name>[^,]*),\n(?<city>.*)$/s, true],
  // `'Pizza Express' London`, `nopa 'San Francisco'`: the quotes say which words belong together.
  [/^(?<name>[^\S\n]*\S+[^\S\n]+\S[^\n]*)\n(?<city>.+)$/s, false],
  [/^(?<name>.+)\n(?<city>[^\S\n]*\S+[^\S\n]+\S[^\n]*)$/s, false],
  // `'Nopa, SF'`, `'Nopa, 560 Divisadero St, San Francisco'`
  [/^(?<name>[^,]*),(?:\s+\d[^,]*,)?\s+(?<city>.*)$/s, true],
  // `ramen in Tokyo`
  [/^(?<name>.*\S)\s+(?:in|near)\s+(?!(?:me|here)$)(?<city>.+)$/is, false],
];

const place = (name: string, city: string, isCertain: boolean): NameAndCity | undefined => {
  const [ours, theirs] = [name, city].map((text) => text.replaceAll('\n', ' ').trim());
  return ours && theirs ? { name: ours.replace(/^name[:=](?=\S)/i, ''), city: theirs, isCertain } : undefined;
};

/** Splits words into a name and a city, if they name one: in a form that says so, or with a city seen earlier at the end. */
export function readPlace(words: readonly string[], seen: () => Seen): NameAndCity | undefined {
  for (const [form, isCertain] of PLACES) {
    const { name = '', city = '' } = form.exec(words.join('\n'))?.groups ?? {};
    const found = place(name, city, isCertain);
    if (found !== undefined) return found;
  }
  const parts = words.join(' ').split(/\s+/);
  const cities = new Set(parts.length === 1 ? [] : seen().cities.map(foldName));
  const at = parts.findIndex((_, index) => index > 0 && cities.has(foldName(parts.slice(index).join(' '))));
  return at === -1 ? undefined : place(parts.slice(0, at).join(' '), parts.slice(at).join(' '), false);
}

/** Returns the name in the words of a search, and their city, or one that was seen. */
export function placeForHint(app: App, words: readonly string[]): { name: string; city: Word | undefined } {
  const seen = seenResults(app);
  return readPlace(words, () => seen) ?? { name: words.join(' '), city: cityForHint(app, seen) };
}

export function citySearch(app: App, words: readonly string[]): Command {
  const { name, city } = placeForHint(app, words);
  return again(city === undefined ? {} : { '--city': city }, { operands: [name] });
}

/** The names in words for restaurants: `Per Se`, `Lilia vs Via Carota`, `Alinea, Smyth, Oriole`. */
export const namesIn = (words: readonly string[]): string[][] =>
  words
    .join('\n')
    .split(/,?\nvs\.?\n|,\n/i)
    .map((name) => name.split('\n'));

export function nameSearches(app: App, words: readonly string[]): Advice[] {
  const { canChoose, wantsJson } = app.terminal;
  return namesIn(words).map((each, index) => {
    const { name, city } = placeForHint(app, each);
    const options = city === undefined ? [] : ['--city', city];
    return {
      text: index === 0 ? 'to search for it' : 'or',
      command: restaurant(canChoose && !wantsJson ? 'pick' : 'find', name, ...options),
    };
  });
}

/** Suggests the search that words for restaurants need: for rows without a table, or names that are not known. */
export function searchBefore(app: App, words: readonly string[]): Advice[] | undefined {
  if (words.some((word) => /^#?\d[\d,#-]*$/.test(word)))
    return lastRows(app) === undefined ? searchFirst(app) : undefined;
  const isKnown = (word: string) =>
    /^(?:-|(?=.*\d)[\w-]{6,})$/.test(word) ||
    lastRestaurants(app).some(({ name }) => isBeginning(word, name));
  return words.length === 0 || words.some(isKnown) ? undefined : nameSearches(app, words);
}

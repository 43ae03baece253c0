import { type Advice, again, type Command, restaurant, slot, type Word } from '../hint.ts';
import { foldName } from '../util/fold.ts';
import type { App } from './app.ts';
import { type Seen, seenResults } from './seen-results.ts';

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

/** A city after a label, or a certain one, runs; a likely one is suggested. After a label, it may be a number. */
type Sureness = 'label' | 'certain' | 'likely';

/** How words name a city; a line break separates the words. */
const PLACES: readonly (readonly [form: RegExp, sureness: Sureness])[] = [
  // `nopa city:SF`, `city=SF nopa`
  [/^(?<name>.+?)\ncity[:=](?<city>\S.*)$/is, 'label'],
  [/^city[:=](?<city>\S[^\n]*)\n(?<name>.+)$/is, 'label'],
  // `'Nopa --city SF'`
  [/^(?<name>.*\S)\s+(?:--city[= ]|-c )\s*(?<city>[^\s-][^-]*)$/s, 'likely'],
  // `nopa, san francisco, ca`; a comma inside quotes may belong to the name.
  [/^(?<name>[^,]*),\n(?<city>.*)$/s, 'certain'],
  // `'Pizza Express' London`, `nopa 'San Francisco'`: the quotes say which words belong together.
  [/^(?<name>[^\S\n]*\S+[^\S\n]+\S[^\n]*)\n(?<city>.+)$/s, 'likely'],
  [/^(?<name>.+)\n(?<city>[^\S\n]*\S+[^\S\n]+\S[^\n]*)$/s, 'likely'],
  // `'Nopa, SF'`, `'Nopa, 560 Divisadero St, San Francisco'`
  [/^(?<name>[^,]*),(?:\s+\d[^,]*,)?\s+(?<city>.*)$/s, 'certain'],
  // `ramen in Tokyo`
  [/^(?<name>.*\S)\s+(?:in|near)\s+(?!(?:me|here)$)(?<city>.+)$/is, 'likely'],
];

/** `94110`, `1 or 2`, `for 40 people`; but not `75011 Paris` or `Paris 11` */
const NO_CITY = /^\d+$|(?<!\d)\d{1,3}\s/;

const place = (name: string, city: string, isCertain: boolean): NameAndCity | undefined => {
  const [ours = '', theirs = ''] = [name, city].map((text) => text.replaceAll('\n', ' ').trim());
  return ours === '' || theirs === ''
    ? undefined
    : { name: ours.replace(/^name[:=](?=\S)/i, ''), city: theirs.replace(/[?!]$/, ''), isCertain };
};

/** Splits words into a name and a city, if they name one: in a form that says so, or with a city seen earlier at the end. */
export function readPlace(words: readonly string[], seen: () => Seen): NameAndCity | undefined {
  for (const [form, sureness] of PLACES) {
    const { name = '', city = '' } = form.exec(words.join('\n'))?.groups ?? {};
    const isCity = sureness === 'label' || !NO_CITY.test(city);
    const found = isCity ? place(name, city, sureness !== 'likely') : undefined;
    if (found !== undefined) return found;
  }
  const parts = words.join(' ').split(/\s+/);
  const cities = new Set(parts.length === 1 ? [] : seen().cities.map(foldName));
  const at = parts.findIndex((_, index) => index > 0 && cities.has(foldName(parts.slice(index).join(' '))));
  return at === -1 ? undefined : place(parts.slice(0, at).join(' '), parts.slice(at).join(' '), false);
}

/** Whether words certainly name a city, or one that was seen. */
const isSure = ({ city, isCertain }: NameAndCity, { cities }: Seen): boolean =>
  isCertain || cities.some((each) => foldName(each) === foldName(city));

/** Returns the name and the city in the words of a search, if the city is sure. */
export function surePlace(words: readonly string[], seen: Seen): NameAndCity | undefined {
  const found = readPlace(words, () => seen);
  return found !== undefined && isSure(found, seen) ? found : undefined;
}

/** Returns the words before a city in a name: `ramen` in `ramen in Tokyo tonight`. @param isLast whether it must end the name */
export function nameBefore(name: string, city: string, isLast = false): string | undefined {
  const words = name.split(/\s+/);
  const { length } = city.split(/\s+/);
  const at = words.findIndex(
    (_, index) =>
      index > 0 &&
      (!isLast || index + length === words.length) &&
      foldName(words.slice(index, index + length).join(' ')) === foldName(city),
  );
  const before = words.slice(0, Math.max(at, 0));
  const own = before.slice(0, /^(?:in|near)$/i.test(before.at(-1) ?? '') ? -1 : undefined).join(' ');
  return own === '' ? undefined : own.replace(/,$/, '');
}

/** Whether a search without a city asks for it. */
export const asksForCity = ({ terminal }: App): boolean => terminal.canPrompt && !terminal.wantsJson;

/**
 * Returns the name in the words of a search, and their city, or one that was seen. If the search asks for a city, only a
 * sure one is named; a newcomer gets a search that runs.
 */
export function placeForHint(
  app: App,
  words: readonly string[],
  asks = asksForCity(app) && !app.settings.hasNoService,
): { name: string; city: Word | undefined } {
  const seen = seenResults(app);
  const name = words.join(' ');
  if (asks) return surePlace(words, seen) ?? { name, city: undefined };
  return readPlace(words, () => seen) ?? { name, city: cityForHint(app, seen) };
}

export function citySearch(app: App, words: readonly string[], asks?: false): Command {
  if (app.program.line.options.some(({ flag }) => flag === '--city')) return again();
  const { name, city } = placeForHint(app, words, asks);
  return again(city === undefined ? {} : { '--city': city }, { operands: [name] });
}

/** Whether words compare restaurants: `Lilia vs Via Carota`. */
export const isVersus = (words: readonly string[]): boolean => words.some((word) => /^vs\.?$/i.test(word));

/** The names in words for restaurants: `Per Se`, `Lilia vs Via Carota`, `Alinea, Smyth, Oriole`. */
export const namesIn = (words: readonly string[]): string[][] =>
  words
    .join('\n')
    .split(/,?\nvs\.?\n|,\n/i)
    .map((name) => name.split('\n'));

/** Suggests a search for each of the names in words, and for several the same command after them. */
export function nameSearches(app: App, words: readonly string[]): Advice[] {
  const { canChoose, wantsJson } = app.terminal;
  const names = namesIn(words);
  const searches = names.map((each, index) => {
    const { name, city } = placeForHint(app, each);
    const options = city === undefined ? [] : ['--city', city];
    return {
      text: index === 0 ? `to search for ${names.length === 1 ? 'it' : 'them'}` : 'and',
      command: restaurant(canChoose && !wantsJson ? 'pick' : 'find', name, ...options),
    };
  });
  return names.length === 1 ? searches : [...searches, { text: 'then', command: again() }];
}

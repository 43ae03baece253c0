import { again, type Command, slot, type Word } from '../hint.ts';
import { foldName } from '../util/fold.ts';
import type { App } from './app.ts';
import { type Seen, seenResults } from './seen-results.ts';

/** The words of a search without `--city`. */
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

/** Splits `Nopa, SF`, `nopa city:SF`, `ramen in Tokyo`, `'Pizza Express' London`, and `nopa sf`. */
export function readPlace(words: readonly string[], seen: () => Seen): NameAndCity | undefined {
  return markedPlace(words) ?? quotedPlace(words) ?? commaPlace(words) ?? guessedPlace(words.join(' '), seen);
}

const place = (name: string, city: string, isCertain: boolean): NameAndCity | undefined => {
  const [trimmed, trimmedCity] = [name.trim(), city.trim()];
  return trimmed === '' || trimmedCity === '' ? undefined : { name: trimmed, city: trimmedCity, isCertain };
};

/** `nopa city:SF`, `city=San Francisco nopa`, `name=Nopa city=SF` */
function markedPlace(words: readonly string[]): NameAndCity | undefined {
  const at = words.findIndex((word) => /^city[:=]\S/i.test(word));
  if (at === -1) return undefined;
  const city = words[at]?.replace(/^city[:=]/i, '') ?? '';
  const [before, after] = [words.slice(0, at), words.slice(at + 1)];
  return before.length === 0
    ? place(unmarked(after), city, true)
    : place(unmarked(before), [city, ...after].join(' '), true);
}

const unmarked = (words: readonly string[]): string => words.join(' ').replace(/^name[:=](?=\S)/i, '');

/** `'Pizza Express' London`: the quotes say which words belong together. */
function quotedPlace(words: readonly string[]): NameAndCity | undefined {
  const [first = '', ...others] = words;
  if (others.length === 0 || !words.some((word) => /\s/.test(word.trim()))) return undefined;
  const isName = /\s/.test(first.trim());
  const [name, city] = isName ? [[first], others] : [words.slice(0, -1), words.slice(-1)];
  return place(name.join(' '), city.join(' '), false);
}

/** `Nopa, SF`, `nopa, san francisco, ca` */
function commaPlace(words: readonly string[]): NameAndCity | undefined {
  const [, name = '', city = ''] = /^([^,]*),\s+(.*)$/s.exec(words.join(' ')) ?? [];
  return place(name, city, true);
}

function guessedPlace(text: string, seen: () => Seen): NameAndCity | undefined {
  const [, before = '', area = ''] = /^(.*\S)\s+(?:in|near)\s+(?!(?:me|here)$)(.+)$/is.exec(text) ?? [];
  if (area !== '') return place(before, area, false);
  const words = text.split(/\s+/);
  if (words.length === 1) return undefined;
  const cities = new Set(seen().cities.map(foldName));
  const at = words.findIndex((_, index) => index > 0 && cities.has(foldName(words.slice(index).join(' '))));
  return at === -1 ? undefined : place(words.slice(0, at).join(' '), words.slice(at).join(' '), false);
}

/** Returns the search of this run with a city: the one of its words, else one that was seen. */
export function citySearch(app: App, words: readonly string[]): Command {
  const seen = seenResults(app);
  const { name = words.join(' '), city = cityForHint(app, seen) } = readPlace(words, () => seen) ?? {};
  return again(city === undefined ? {} : { '--city': city }, { operands: [name] });
}

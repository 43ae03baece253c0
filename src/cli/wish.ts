import type { Seen } from '../app/seen.ts';
import type { Options, Word } from '../hint.ts';
import { foldName } from '../util/fold.ts';
import { isNearName } from '../util/near-name.ts';
import { isFilled } from '../util/object.ts';
import { ANY_NAME, CITY_START, FILLERS, FOOD, PRAISE } from './synonyms.ts';

/** The search that words ask for, as far as earlier results and common words tell. */
export interface Wish {
  /** Empty if the words describe restaurants without a name. */
  readonly name: string;
  readonly city?: string;
  readonly options: Options;
}

interface Area {
  readonly rest: string;
  readonly city?: string | undefined;
  readonly neighborhood?: string | undefined;
}

/** At the end. */
const NEARBY = /(?:(?:^|\s)(?:near(?:by| me| here)?|around (?:me|here)|close by|open now|tonight|today))+$/i;
const PLACE = /^(.*?)(?:^|\s)(?:in|near|around)\s+(.+)$/is;
const PRICE = /^(?:[$€£]+|\d+)$/;

const isOneOf = (list: string, word: string): boolean =>
  list.split(' ').includes(word.toLowerCase().replaceAll(' ', '-'));

/** @param hasCity whether a city was given, so that the words do not contain it */
export function readWish(words: readonly string[], hasCity: boolean, seen: Seen): Wish {
  const text = words.join(' ').replaceAll(',', ' ').replace(/\s+/g, ' ').trim().replace(NEARBY, '').trim();
  const { rest, city, neighborhood } = areaOf(text, hasCity, seen);
  const typed = rest.split(' ');
  const { cuisines, name } = cuisinesIn(typed.filter(saysSomething), seen);
  const options: Options = {
    ...(cuisines.length === 0 ? {} : { '--cuisine': cuisines }),
    ...(neighborhood === undefined ? {} : { '--neighborhood': neighborhood }),
    ...(typed.some((word) => isOneOf(PRAISE, word)) ? { '--sort': 'grade' } : {}),
  };
  // A name may contain a word that says nothing: Salt and Time.
  const whole = typed.slice(typed.findIndex(saysSomething), typed.findLastIndex(saysSomething) + 1).join(' ');
  const corrected = correctName(cuisines.length === 0 ? whole : name, seen);
  return { name: corrected, options, ...(city === undefined ? {} : { city }) };
}

const saysSomething = (word: string): boolean => !isOneOf(`${FILLERS} ${PRAISE}`, word) && !PRICE.test(word);

function areaOf(text: string, hasCity: boolean, seen: Seen): Area {
  const [, before = '', place] = PLACE.exec(text) ?? [];
  if (place !== undefined) return { rest: before, ...(knownArea(place, seen) ?? { city: place }) };
  const words = text.split(' ');
  const areas = words.map((_, index): Area | undefined => {
    const rest = words.slice(0, index).join(' ');
    return areaAtEnd(rest, words.slice(index), hasCity, seen);
  });
  return areas.find((area) => area !== undefined) ?? { rest: text };
}

function areaAtEnd(rest: string, words: readonly string[], hasCity: boolean, seen: Seen): Area | undefined {
  const text = words.join(' ');
  const { city, neighborhood } = knownArea(text, seen) ?? {};
  if (neighborhood !== undefined) return { rest, neighborhood, ...(hasCity ? {} : { city }) };
  if (city !== undefined && (!hasCity || rest === '')) return { rest, city };
  const isCity = !hasCity && words.length === 2 && CITY_START.test(words[0] ?? '');
  return isCity ? { rest, city: text } : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function knownArea(text: string, { restaurants, city: lastCity }: Seen): Omit<Area, 'rest'> | undefined {
  const wanted = foldName(text);
  if (wanted.length < 2) return undefined;
  const cities = [lastCity, ...restaurants.map(({ city }) => city)].filter(isFilled);
  const city = cities.find((each) => foldName(each) === wanted);
  if (city !== undefined) return { city };
  const inArea = restaurants.find((each) => {
    const neighborhood = foldName(textOf(each.neighborhood));
    return neighborhood === wanted || neighborhood.startsWith(`${wanted} `);
  });
  // A restaurant may be named after its neighborhood.
  if (inArea === undefined || restaurants.some(({ name }) => foldName(textOf(name)) === wanted))
    return undefined;
  return { city: textOf(inArea.city), neighborhood: textOf(inArea.neighborhood) };
}

function cuisinesIn(words: readonly string[], seen: Seen): { cuisines: string[]; name: string } {
  const tags = seen.restaurants.flatMap(({ cuisine_tags: tags }) => (Array.isArray(tags) ? tags : []));
  const known = [...new Set(tags.filter(isFilled).map(foldName))];
  const whole = cuisineOf(words.join(' '), known);
  if (whole.length > 0) return { cuisines: [...whole], name: '' };
  const each = words.map((word) => ({ word, cuisines: cuisineOf(word, known) }));
  return {
    cuisines: [...new Set(each.flatMap(({ cuisines }) => cuisines))],
    name: each.flatMap(({ word, cuisines }) => (cuisines.length > 0 ? [] : [word])).join(' '),
  };
}

/** Returns the cuisine that was seen, else those to try; empty if the words are no food. */
function cuisineOf(text: string, known: readonly string[]): readonly string[] {
  const wanted = foldName(text);
  if (wanted.length < 3) return [];
  const singular = wanted.replace(/(?<=\w{3})s$/, '');
  const listed = Object.keys(FOOD).filter(
    (cuisine) => cuisine === wanted || [wanted, singular].some((word) => isOneOf(FOOD[cuisine] ?? '', word)),
  );
  const isKnown = (cuisine: string): boolean => known.some((tag) => ` ${tag}`.includes(` ${cuisine}`));
  const found = [wanted, singular, ...listed].find(isKnown);
  if (found !== undefined) return [found];
  return listed.length === 0 ? [] : [...new Set([singular, ...listed])];
}

function correctName(name: string, { restaurants }: Seen): string {
  const names = [...new Set(restaurants.map((each) => textOf(each.name)))];
  const isPart = names.some((each) => foldName(each).includes(foldName(name)));
  const [near, ...others] = isPart ? [] : names.filter((each) => isNearName(name, each));
  return near === undefined || others.length > 0 ? name : near;
}

/** Returns the arguments of `find` for a wish. @param hasCity whether the city follows, or is not needed */
export function wishWords({ name, city, options }: Wish, fallbackCity: string | undefined): Word[] {
  const place = city ?? fallbackCity;
  const filters = Object.entries(options).flatMap(([flag, values]) =>
    [values].flat().flatMap((value) => (value === true ? [flag] : [flag, value])),
  );
  return [name || ANY_NAME, ...(place === undefined ? [] : ['--city', place]), ...filters];
}

import type { Seen } from '../app/last-results.ts';
import type { Options, Word } from '../hint.ts';
import { foldName, isNearName } from '../util/fold.ts';
import { isFilled } from '../util/json.ts';
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
  readonly near?: string;
}

/** At the end. */
const NEARBY = /(?:(?:^|\s)(?:near(?:by| me| here)?|around (?:me|here)|close by|open now|tonight|today))+$/i;
const PLACE = /^(.*?)(?:^|\s)(?:in|near|around)\s+(.+)$/is;
/** `37.77 -122.43` */
const POINT = /^(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)$/;
/** A state or country after the city. */
const STATE = /\s(?:[A-Z]{2}|USA)$/;
const PRICE = /^(?:[$€£]+|\d+)$/;

const isOneOf = (list: string, word: string): boolean =>
  list.split(' ').includes(word.toLowerCase().replaceAll(' ', '-'));

/** @param hasCity whether a city was given, so that the words do not contain it */
export function readWish(words: readonly string[], hasCity: boolean, seen: Seen): Wish {
  const text = words.join(' ').replaceAll(',', ' ').replace(/\s+/g, ' ').trim().replace(NEARBY, '').trim();
  const { rest, city, neighborhood, near } = areaOf(text, hasCity, seen);
  const typed = rest.split(' ');
  const { cuisines, name } = cuisinesIn(typed.filter(saysSomething), seen);
  const options: Options = {
    ...(cuisines.length === 0 ? {} : { '--cuisine': cuisines }),
    ...(neighborhood === undefined ? {} : { '--neighborhood': neighborhood }),
    ...(near === undefined ? {} : { '--near': near }),
    ...(typed.some((word) => isOneOf(PRAISE, word)) ? { '--sort': 'grade' } : {}),
  };
  // A name may contain a word that says nothing: Salt and Time.
  const whole = typed.slice(typed.findIndex(saysSomething), typed.findLastIndex(saysSomething) + 1).join(' ');
  const corrected = correctName(cuisines.length === 0 ? whole : name, seen);
  // In `ramen tokyo`, the other word is the city.
  if (!hasCity && city === undefined && cuisines.length > 0 && name !== '' && rest.endsWith(name)) {
    if (!isSeenName(name, seen)) return { name: '', options, city: name };
  }
  return { name: corrected, options, ...(city === undefined ? {} : { city }) };
}

const saysSomething = (word: string): boolean => !isOneOf(`${FILLERS} ${PRAISE}`, word) && !PRICE.test(word);

function areaOf(text: string, hasCity: boolean, seen: Seen): Area {
  const [, before = '', place] = PLACE.exec(text) ?? [];
  const [, lat, lng] = POINT.exec(place ?? '') ?? [];
  if (lat !== undefined) return { rest: before, near: `${lat},${lng}` };
  if (place !== undefined) return { rest: before, ...(knownArea(place, seen) ?? { city: place }) };
  const words = text.split(' ');
  const areas = words.map((_, index): Area | undefined => {
    const rest = words.slice(0, index).join(' ');
    return areaAtEnd(rest, words.slice(index), hasCity, seen);
  });
  const area = areas.find((each) => each !== undefined);
  if (area !== undefined || !STATE.test(text)) return area ?? { rest: text };
  const inState = areaOf(text.replace(STATE, ''), hasCity, seen);
  return inState.city === undefined ? { rest: text } : inState;
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

function cuisineOf(text: string, known: readonly string[]): readonly string[] {
  const wanted = foldName(text);
  if (wanted.length < 3) return [];
  const singular = wanted.replace(/(?<=\w{3})s$/, '');
  const listed = Object.keys(FOOD).filter(
    (cuisine) => cuisine === wanted || [wanted, singular].some((word) => isOneOf(FOOD[cuisine] ?? '', word)),
  );
  const isKnown = (cuisine: string): boolean =>
    known.some((tag) => [cuisine, `${cuisine}s`].some((each) => ` ${tag} `.includes(` ${each} `)));
  const found = [wanted, singular, ...listed].find(isKnown);
  if (found !== undefined) return [found];
  return listed.length === 0 ? [] : [...new Set([singular, ...listed])];
}

const isSeenName = (name: string, { restaurants }: Seen): boolean =>
  restaurants.some((each) => foldName(textOf(each.name)).includes(foldName(name)));

function correctName(name: string, seen: Seen): string {
  const names = [...new Set(seen.restaurants.map((each) => textOf(each.name)))];
  const [near, ...others] = isSeenName(name, seen) ? [] : names.filter((each) => isNearName(name, each));
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

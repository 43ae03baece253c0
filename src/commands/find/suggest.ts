import { needsDemo } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { citySearch, nameBefore, readPlace, surePlace } from '../../app/city.ts';
import { type Seen, sampleRows, seenResults } from '../../app/seen-results.ts';
import type { FindQuery } from '../../client/types.ts';
import { type AppError, failure, usage } from '../../errors.ts';
import { again, type CommandOptions, type Message, restaurant } from '../../hint.ts';
import { CITY_NAMES } from '../../sandbox/cities.ts';
import { foldName, isBeginning, isNearName } from '../../util/fold.ts';
import { isFilled } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';

/** A search that should return many restaurants: the service requires a name, and the search accepts a part of it. */
const ANY_NAME = 'a';

const LOGIN = { text: 'or log in', command: restaurant('login') };

export function noCityError(app: App, words: readonly string[]): AppError {
  const search = { command: citySearch(app, words, false) };
  return needsDemo(app)
    ? usage('find needs a city, and no service is configured', [search, LOGIN])
    : usage('find needs a city', search);
}

/** The error for a search that is complete, with the same search in the sample data, without a city that the name repeats. */
export function noServiceError({ name, city }: FindQuery): AppError {
  const operands = [nameBefore(name, city, true) ?? name];
  return failure('no_service', 'no service is configured', [
    { text: 'try it with sample data', command: again({ '--city': city }, { operands }) },
    LOGIN,
  ]);
}

/** Suggests a search when nothing was found: another reading of the words, or what earlier results contain. */
export async function nothingFound(app: App, query: FindQuery): Promise<Message> {
  const seen = await knownResults(app);
  const here = inCity(query.city, seen);
  // Of a service, other restaurants of the city may be unknown.
  const known = app.globals.demo === true ? here : seen.restaurants;
  // A reply to the question for a city is not in the command line.
  const isThere =
    query.city === app.settings.get('city') || app.program.line.options.some(({ flag }) => flag === '--city');
  // A reply may differ from the words, and the cities of the sample data are known.
  const isSure = !isThere || app.globals.demo === true;
  const other =
    otherPlace(query, seen, isSure) ??
    similarName(query, here) ??
    similarCity(query, seen) ??
    byCuisine(query, known);
  if (other === undefined) return 'try a shorter name, and check the city name';
  const { name, city, options } = { ...query, ...other };
  const place: CommandOptions = isThere && other.city === undefined ? {} : { '--city': city };
  const command = again({ ...place, ...options }, { operands: [name] });
  return { text: 'try', command };
}

type Other = Partial<FindQuery> & { readonly options?: CommandOptions };

/** With sample data, all of it is known. */
async function knownResults(app: App): Promise<Seen> {
  const seen = seenResults(app);
  if (app.globals.demo !== true) return seen;
  const sample = (await sampleRows(app)).map((each) => ({ ...each }));
  return { ...seen, restaurants: [...seen.restaurants, ...sample] };
}

/**
 * `find ramen in Tokyo tonight --city Tokyo`; `find ramen in Tokyo --city SF`; `find Francisco Nopa --city San`
 * @param isSure whether only a sure city counts
 */
function otherPlace({ name, city }: FindQuery, seen: Seen, isSure: boolean): Other | undefined {
  const own = nameBefore(name, city);
  if (own !== undefined) return { name: own };
  const place = isSure ? surePlace([name], seen) : readPlace([name], () => seen);
  if (place !== undefined) return { name: place.name, city: place.city };
  const words = name.split(' ');
  const cities = seen.cities.map(foldName);
  const length = words.findIndex((_, index) =>
    cities.includes(foldName([city, ...words.slice(0, index + 1)].join(' '))),
  );
  const [rest, more] = [words.slice(length + 1), words.slice(0, length + 1)];
  return length === -1 || rest.length === 0
    ? undefined
    : { name: rest.join(' '), city: [city, ...more].join(' ') };
}

/** The restaurants in a city, as far as its spellings are known. */
function inCity(city: string, { restaurants }: Seen): Seen['restaurants'] {
  const spellings = CITY_NAMES.find((names) => names.some((each) => foldName(each) === foldName(city)));
  const names = [city, ...(spellings ?? [])].map(foldName);
  return restaurants.filter((each) => isFilled(each.city) && names.includes(foldName(each.city)));
}

function similarName({ name }: FindQuery, restaurants: Seen['restaurants']): Other | undefined {
  const names = [...new Set(restaurants.flatMap((each) => (isFilled(each.name) ? [each.name] : [])))];
  // A search for the shortest one finds those that begin with it, too.
  const [near = '', ...others] = names
    .filter((each) => isNearName(name, each))
    .sort((one, other) => one.length - other.length);
  return near === '' || !others.every((each) => isBeginning(near, each)) || foldName(near) === foldName(name)
    ? undefined
    : { name: near };
}

function similarCity({ city }: FindQuery, { cities }: Seen): Other | undefined {
  if (cities.some((each) => foldName(each) === foldName(city))) return undefined;
  const [near] = nearest(city, cities, 1);
  return near === undefined ? undefined : { city: near };
}

function byCuisine({ name }: FindQuery, restaurants: Seen['restaurants']): Other | undefined {
  const wanted = foldName(name);
  const tags = restaurants.flatMap(({ cuisine_tags }) => (Array.isArray(cuisine_tags) ? cuisine_tags : []));
  const cuisine = tags
    .filter(isFilled)
    .find((tag) => [wanted, wanted.replace(/s$/, '')].includes(foldName(tag)));
  return cuisine === undefined ? undefined : { name: ANY_NAME, options: { '--cuisine': cuisine } };
}

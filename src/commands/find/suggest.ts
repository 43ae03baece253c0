import type { App } from '../../app/app.ts';
import { citySearch, readPlace } from '../../app/city.ts';
import { needsDemo } from '../../app/demo.ts';
import { type Seen, seenResults } from '../../app/seen-results.ts';
import type { FindQuery } from '../../client/types.ts';
import { type AppError, usage } from '../../errors.ts';
import { again, type Command, type Message, restaurant } from '../../hint.ts';
import { foldName, isNearName } from '../../util/fold.ts';
import { isFilled } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';

/** A search that should return many restaurants: the service requires a name, and the search accepts a part of it. */
const ANY_NAME = 'a';

const LOGIN = { text: 'or log in', command: restaurant('login') };

export function noCityError(app: App, words: readonly string[]): AppError {
  const search = { command: citySearch(app, words) };
  return needsDemo(app)
    ? usage('find needs a city, and no service is configured', [search, LOGIN])
    : usage('find needs a city', search);
}

/** Suggests a search when nothing was found: another reading of the words, or what earlier results contain. */
export async function nothingFound(app: App, query: FindQuery): Promise<Message> {
  const { name, city } = query;
  const seen = await knownResults(app);
  const command =
    otherPlace(query, seen) ?? similarName(name, seen) ?? similarCity(city, seen) ?? byCuisine(query, seen);
  return command === undefined ? 'try a shorter name, and check the city name' : { text: 'try', command };
}

/** With sample data, all of it is known. */
async function knownResults(app: App): Promise<Seen> {
  const seen = seenResults(app);
  if (app.globals.demo !== true) return seen;
  const { sampleRestaurants } = await import('../../sandbox/restaurants.ts');
  return { ...seen, restaurants: [...seen.restaurants, ...sampleRestaurants().map((each) => ({ ...each }))] };
}

/** `find ramen in Tokyo --city SF`; `find Cosme NYC --city NYC`; `find Francisco Nopa --city San` */
function otherPlace({ name, city }: FindQuery, seen: Seen): Command | undefined {
  const place = readPlace([name], () => ({ ...seen, cities: [...seen.cities, city] }));
  if (place !== undefined) return again({ '--city': place.city }, { operands: [place.name] });
  const words = name.split(' ');
  const cities = seen.cities.map(foldName);
  const length = words.findIndex((_, index) =>
    cities.includes(foldName([city, ...words.slice(0, index + 1)].join(' '))),
  );
  const [rest, more] = [words.slice(length + 1), words.slice(0, length + 1)];
  return length === -1 || rest.length === 0
    ? undefined
    : again({ '--city': [city, ...more].join(' ') }, { operands: [rest.join(' ')] });
}

function similarName(name: string, { restaurants }: Seen): Command | undefined {
  const names = [...new Set(restaurants.flatMap((each) => (isFilled(each.name) ? [each.name] : [])))];
  const [near, ...others] = names.filter((each) => isNearName(name, each));
  return near === undefined || others.length > 0 || foldName(near) === foldName(name)
    ? undefined
    : again({}, { operands: [near] });
}

function similarCity(city: string, { cities }: Seen): Command | undefined {
  if (cities.some((each) => foldName(each) === foldName(city))) return undefined;
  const [near] = nearest(city, cities, 1);
  return near === undefined ? undefined : again({ '--city': near });
}

function byCuisine({ name }: FindQuery, { restaurants }: Seen): Command | undefined {
  const wanted = foldName(name);
  const tags = restaurants.flatMap(({ cuisine_tags }) => (Array.isArray(cuisine_tags) ? cuisine_tags : []));
  const cuisine = tags
    .filter(isFilled)
    .find((tag) => [wanted, wanted.replace(/s$/, '')].includes(foldName(tag)));
  return cuisine === undefined ? undefined : again({ '--cuisine': cuisine }, { operands: [ANY_NAME] });
}

import { TOOLS } from '../client/tools.ts';
import { type Advice, again, type Command, restaurant } from '../hint.ts';
import { CITY_NAMES } from '../sandbox/cities.ts';
import { foldName } from '../util/fold.ts';
import { isFilled, isObject, type JsonObject } from '../util/json.ts';
import { hasSampleData } from './address.ts';
import type { App } from './app.ts';
import { lastSearch, serviceName } from './last-results.ts';
import { latestResponses } from './responses.ts';

export interface Seen {
  readonly restaurants: readonly JsonObject[];
  /** That of the last search as it was typed, those of the restaurants, and, without a service, those of the sample data. */
  readonly cities: readonly string[];
}

const MAX_RESPONSES = 50;

/** Returns the results of the last search and those in the cache. Sends nothing and never throws. */
export function seenResults(app: App): Seen {
  try {
    const last = lastSearch(app);
    const isHere = last?.endpoint === serviceName(app);
    const restaurants = [...(isHere ? last.rows : []), ...cachedResults(app)].filter(isObject);
    const cities = [isHere ? last.query.city : undefined, ...restaurants.map(({ city }) => city)];
    return { restaurants, cities: distinct([...cities.filter(isFilled), ...sampleCities(app)]) };
  } catch {
    return { restaurants: [], cities: sampleCities(app) };
  }
}

/** The first spelling of each name. */
const distinct = (names: readonly string[]): string[] =>
  [...new Map(names.toReversed().map((name) => [foldName(name), name])).values()].reverse();

const sampleCities = (app: App): readonly string[] => (hasSampleData(app) ? CITY_NAMES.flat() : []);

/** The restaurants of the sample data, without a service. */
export async function sampleRows(app: App) {
  if (!hasSampleData(app)) return [];
  const { sampleRestaurants } = await import('../sandbox/restaurants.ts');
  return sampleRestaurants();
}

const cachedResults = (app: App): unknown[] =>
  latestResponses(app, TOOLS.find.definition.name, MAX_RESPONSES).flatMap((value) =>
    isObject(value) && Array.isArray(value.results) ? value.results : [],
  );

/**
 * A search that works as printed: the last one; without one, the first of the README in the sample data. No search is sure
 * to work for a service that nobody has searched, so a person types one.
 */
export function exampleSearch(app: App): Command {
  const [[SAMPLE_CITY = ''] = []] = CITY_NAMES;
  const query =
    lastSearch(app)?.query ?? (hasSampleData(app) ? { name: 'Nopa', city: SAMPLE_CITY } : undefined);
  const { canChoose, wantsJson } = app.terminal;
  const unknown = canChoose && !wantsJson ? restaurant('pick') : restaurant('find', '--help');
  return query === undefined ? unknown : restaurant('find', query.name, '--city', query.city);
}

/** The advice for a command line with rows when nothing was searched. */
export const searchFirst = (app: App): Advice[] => [
  { text: 'search first', command: exampleSearch(app) },
  { text: 'then', command: again() },
];

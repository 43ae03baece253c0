import { foldName, spellAnd } from '../util/fold.ts';
import type { SandboxRestaurant } from './types.ts';

const NO_MATCH = 4;

const CITY_NAMES: readonly (readonly string[])[] = [
  ['San Francisco', 'SF', 'S.F.', 'San Fran', 'Frisco', 'San Francisco CA', 'San Francisco California'],
  ['New York', 'NY', 'NYC', 'New York City', 'Manhattan', 'New York NY'],
  ['Los Angeles', 'LA', 'L.A.', 'Los Angeles CA'],
  ['Mexico City', 'Ciudad de México', 'CDMX', 'México DF', 'México'],
  ['São Paulo', 'Sampa', 'SP', 'San Pablo'],
  ['London', 'Londres', 'Greater London', 'London UK'],
  ['Paris', 'Paname', 'Paris France'],
  ['Lyon', 'Lyons'],
  ['Berlin', 'Berlin DE'],
  ['Tokyo', '東京', '東京都', 'とうきょう', 'トウキョウ', 'Tōkyō', 'Tokio'],
  ['Seoul', '서울', '서울시', '서울특별시'],
  ['Hong Kong', '香港', 'HK', 'Hongkong'],
  ['Bangkok', 'กรุงเทพ', 'กรุงเทพฯ', 'กรุงเทพมหานคร', 'Krung Thep', 'BKK'],
  ['Mumbai', 'मुंबई', 'मुम्बई', 'Bombay'],
  ['Nairobi', 'Nairobi City', 'NBO'],
  ['Cairo', 'القاهرة', 'Al Qahirah', 'Le Caire'],
  ['Tel Aviv', 'תל אביב', 'תל אביב-יפו', 'Tel Aviv-Yafo', 'TLV'],
  ['Sydney', 'Sydney NSW', 'SYD'],
];

const ALIASES: ReadonlyMap<string, string> = new Map(
  CITY_NAMES.flatMap((names) => names.map((name) => [fold(name), fold(names[0] ?? name)] as const)),
);

export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(restaurants: readonly SandboxRestaurant[]) {
  const byId = new Map(restaurants.map((restaurant) => [restaurant.service_id, restaurant]));
  const byCity = new Map<string, SandboxRestaurant[]>();
  for (const restaurant of restaurants) {
    const key = cityKey(restaurant.city);
    const others = byCity.get(key) ?? [];
    others.push(restaurant);
    byCity.set(key, others);
  }
  const inCity = (city: string): readonly SandboxRestaurant[] => byCity.get(cityKey(city)) ?? [];
  return {
    /** Returns the matches, best first; equally good ones in the order of the data. */
    find(name: string, city: string): SandboxRestaurant[] {
      const query = fold(name);
      return inCity(city)
        .map((restaurant) => ({ restaurant, rank: rank(fold(restaurant.name), query) }))
        .filter((hit) => hit.rank < NO_MATCH)
        .sort((a, b) => a.rank - b.rank)
        .map(({ restaurant }) => restaurant);
    },
    get: (id: string): SandboxRestaurant | undefined => byId.get(id),
    inCity,
    cities: [...new Set(restaurants.map(({ city }) => city))].sort(),
  };
}

/** Ranks a match: 0 is the same name, 1 a prefix, 2 all words, 3 a part. Both texts are folded. */
function rank(name: string, query: string): number {
  if (query === '') return NO_MATCH;
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  const words = name.split(' ');
  if (query.split(' ').every((part) => words.includes(part))) return 2;
  return name.includes(query) ? 3 : NO_MATCH;
}

/** Folds a name for comparison: removes case, accents, punctuation, and a leading "the"; `&` becomes "and". */
export function fold(text: string): string {
  return foldName(spellAnd(text));
}

/** Returns a key that is the same for all spellings of a city. Text after a comma ("Paris, France") is ignored. */
export function cityKey(city: string): string {
  const folded = fold(city);
  const beforeComma = fold(city.split(/[,、，]/, 1)[0] ?? '');
  return ALIASES.get(folded) ?? ALIASES.get(beforeComma) ?? (beforeComma || folded);
}

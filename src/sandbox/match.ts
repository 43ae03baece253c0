import { cityKey, fold } from './fold.ts';
import type { SandboxRestaurant } from './types.ts';

/** The restaurants of a sandbox, ready to be searched. */
export interface Catalog {
  /** Best matches first; among equals the order of the data. Empty for an unknown city. */
  find(name: string, city: string): SandboxRestaurant[];
  get(id: string): SandboxRestaurant | undefined;
  /** All of a city, in the order of the data. */
  inCity(city: string): readonly SandboxRestaurant[];
}

interface Entry {
  readonly restaurant: SandboxRestaurant;
  readonly folded: string;
}

/** Indexes the data once, by id and by city. */
export function createCatalog(restaurants: readonly SandboxRestaurant[]): Catalog {
  const byId = new Map(restaurants.map((restaurant) => [restaurant.service_id, restaurant]));
  const byCity = new Map<string, Entry[]>();
  for (const restaurant of restaurants) {
    const key = cityKey(restaurant.city);
    const entries = byCity.get(key) ?? [];
    entries.push({ restaurant, folded: fold(restaurant.name) });
    byCity.set(key, entries);
  }
  const entriesOf = (city: string) => byCity.get(cityKey(city)) ?? [];
  return {
    find(name, city) {
      const query = fold(name);
      const ranked = entriesOf(city).map((entry) => ({ entry, rank: rank(entry, query, name) }));
      const hits = ranked.filter((hit) => hit.rank < NO_MATCH).sort((a, b) => a.rank - b.rank);
      return hits.map((hit) => hit.entry.restaurant);
    },
    get: (id) => byId.get(id),
    inCity: (city) => entriesOf(city).map((entry) => entry.restaurant),
  };
}

const NO_MATCH = 4;

/** 0 the same name, 1 a prefix, 2 all words, 3 somewhere inside. */
function rank({ restaurant, folded }: Entry, query: string, typed: string): number {
  // Names of symbols alone (emoji) fold to nothing: those are compared as typed.
  if (query === '') return restaurant.name.includes(typed.trim()) ? 3 : NO_MATCH;
  if (folded === query) return 0;
  if (folded.startsWith(query)) return 1;
  const words = folded.split(' ');
  if (query.split(' ').every((part) => words.includes(part))) return 2;
  return folded.includes(query) ? 3 : NO_MATCH;
}

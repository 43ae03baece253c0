import type { Restaurant } from '../client/types.ts';
import { isSameName } from '../util/fold.ts';
import { cleanLine } from '../util/text.ts';
import { likeliestFirst, type MatchQuery } from './match/match.ts';
import { isSameAddress, positionsOf } from './match/place.ts';
import { partSearches, searchesFor } from './match/searches.ts';
import type { Knowledge } from './resolve.ts';

/** The restaurants that all searches for a row have found, the likeliest first. */
export function candidatesOf(answers: Pick<Knowledge, 'find'>, query: MatchQuery): Restaurant[] {
  const { name, city } = query;
  if (name === '' || city === '') return [];
  const searches = [...searchesFor({ name, city }), ...partSearches({ name, city })];
  const found = searches.flatMap((search) => answers.find(search)?.results ?? []);
  return likeliestFirst(query, found);
}

/** Meters from the coordinates of a row to restaurants, as they are matched; undefined if either is unknown. */
export const metersTo = (restaurants: readonly Restaurant[], { place }: MatchQuery): (number | undefined)[] =>
  positionsOf(restaurants, place).map(({ meters }) =>
    meters === undefined ? undefined : Math.round(meters),
  );

/** The facts that differ from a row, or that it does not have: address, distance, and grade. */
export function candidateFacts(
  restaurant: Partial<Restaurant>,
  query: MatchQuery,
  meters: number | undefined,
): string[] {
  const { address, neighborhood, city, grade } = restaurant;
  const isSame = isSameAddress(query.place?.address, address) === true;
  const street = isSame ? 'same address' : textOf(address) || textOf(neighborhood);
  const otherCity = textOf(city);
  const isNamed = isSameName(otherCity, query.city) || street.includes(otherCity);
  const place = isNamed ? street : [street, otherCity].filter(Boolean).join(', ');
  const facts = [place, distanceText(meters), textOf(grade)];
  return facts.filter((text) => text !== '').map(cleanLine);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function distanceText(meters: number | undefined): string {
  if (meters === undefined) return '';
  return meters < 1000 ? `${meters} m` : `${(meters / 1000).toFixed(1)} km`;
}

import { isRestaurant } from '../../client/find-result.ts';
import type { LookupOutput, Restaurant } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { foldName, isSameName, spellAnd } from '../../util/fold.ts';

export const STATUSES = ['matched', 'likely', 'ambiguous', 'not_found', 'skipped', 'error'] as const;
export type Status = (typeof STATUSES)[number];

/** The data that is appended to a row, in any format. Undefined values are unknown. */
export interface RowResult {
  readonly status: Status;
  /**
   * How the restaurant was chosen: `exact`: the only one with the name; `only`: the only candidate; `loose`: found by
   * the simplified name; `best`: the most similar of several.
   */
  readonly match?: 'exact' | 'only' | 'loose' | 'best';
  readonly candidates?: number;
  /** Similarity of the names, from 0 to 1, with two decimals. */
  readonly similarity?: number;
  /** The restaurant, with the field names of the service. */
  readonly restaurant?: Partial<Restaurant>;
  readonly details?: LookupOutput;
  readonly error?: string;
  readonly cause?: AppError;
}

export interface Found {
  readonly results: readonly unknown[];
  readonly total: number;
}

interface Query {
  readonly name: string;
  readonly city: string;
}

export const NOT_FOUND: RowResult = { status: 'not_found', candidates: 0 };

/**
 * Matches the results of a search by name. Values that are not restaurants are ignored.
 * @throws {AppError} `bad_response` if none of the results is a restaurant
 */
export function matchName(query: Query, { results, total }: Found): RowResult {
  const ids = new Set<string>();
  // A restaurant that is listed twice counts as one candidate.
  const found = results.filter(isRestaurant).filter(({ service_id }) => ids.size < ids.add(service_id).size);
  const [first] = found;
  if (first === undefined) {
    if (results.length === 0) return NOT_FOUND;
    throw new AppError('bad_response', `none of ${results.length} results can be read`);
  }
  // The service may have found more than it sent.
  const candidates = Number.isSafeInteger(total) && total > results.length ? total : found.length;
  const same = found.filter(({ name }) => isSameName(name, query.name));
  const [exact] = same;
  const resultFor = (status: Status, match: RowResult['match'], restaurant: Restaurant): RowResult => ({
    status,
    match,
    restaurant,
    candidates,
    similarity: nameSimilarity(query.name, restaurant.name),
  });
  if (exact !== undefined && same.length === 1) return resultFor('matched', 'exact', exact);
  if (candidates === 1) return resultFor('likely', 'only', first);
  const inCity = same.find(({ city }) => city !== undefined && isSameName(city, query.city));
  // Of equally similar names the first, in the order of the service.
  const mostSimilar = () =>
    found.reduce((best, next) =>
      nameSimilarity(query.name, next.name) > nameSimilarity(query.name, best.name) ? next : best,
    );
  return resultFor('ambiguous', 'best', inCity ?? exact ?? mostSimilar());
}

export function matchLoosely(query: Query, simplified: string, found: Found): RowResult {
  const result = matchName({ name: simplified, city: query.city }, found);
  if (result.restaurant?.name === undefined) return result;
  const similarity = nameSimilarity(query.name, result.restaurant.name);
  return result.status === 'matched'
    ? { ...result, status: 'likely', match: 'loose', similarity }
    : { ...result, status: 'ambiguous', match: 'best', similarity };
}

const MAX_NAME = 200;
const GENERIC = new Set(
  'restaurant restaurants ristorante restaurante restoran restauracja ravintola gasthaus trattoria osteria'.split(
    ' ',
  ),
);
const PARENTHESES = /[([{（【][^()[\]{}（）【】]*[)\]}）】]/g;
/** `Nopa - Downtown`, `Nopa | Soho`, `Nopa @ Ferry Building`, `Nopa, Berlin`. */
const BRANCH = /\s[-–—|·@]\s.*$|,\s.*$/;

/**
 * Removes parentheses, the branch, and words such as "Restaurant" from a name. @returns undefined if nothing was
 * removed, or if nothing is left
 */
export function simplifyName(name: string): string | undefined {
  if (name.length > MAX_NAME) return undefined;
  const words = name.replace(PARENTHESES, ' ').replace(BRANCH, '').split(/\s+/).filter(Boolean);
  while (words.length > 1 && GENERIC.has(foldName(words[0] ?? ''))) words.shift();
  while (words.length > 1 && GENERIC.has(foldName(words.at(-1) ?? ''))) words.pop();
  const simple = words.join(' ');
  return foldName(simple) === '' || isSameName(simple, name) ? undefined : simple;
}

/** Returns the similarity of two names, from 0 to 1 with two decimals: the share of letter pairs they have in common. */
export function nameSimilarity(one: string, other: string): number {
  if (isSameName(one, other)) return 1;
  const pairs = pairsOf(one);
  const others = pairsOf(other);
  if (pairs.length + others.length === 0) return 0;
  const left = new Map<string, number>();
  for (const pair of pairs) left.set(pair, (left.get(pair) ?? 0) + 1);
  let common = 0;
  for (const pair of others) {
    const count = left.get(pair) ?? 0;
    if (count === 0) continue;
    left.set(pair, count - 1);
    common += 1;
  }
  // Different names are never fully similar.
  return Math.min(0.99, Math.round((200 * common) / (pairs.length + others.length)) / 100);
}

function pairsOf(name: string): string[] {
  const letters = [...` ${foldName(spellAnd(name)).slice(0, MAX_NAME)} `];
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}

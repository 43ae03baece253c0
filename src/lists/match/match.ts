import { isRestaurant } from '../../client/tools.ts';
import type { LookupOutput, Restaurant } from '../../client/types.ts';
import type { AppError } from '../../errors.ts';
import { isSameName, sameNameAs } from '../../util/fold.ts';
import type { JsonObject } from '../../util/json.ts';
import { isOneLetterOff, isSameSimplified, nameSimilarity, simplifyName } from './names.ts';
import { DOOR, FAR, HERE, type Place, type Position, positionsOf } from './place.ts';

export const STATUSES = [
  'matched',
  'likely',
  'ambiguous',
  'not_found',
  'skipped',
  'error',
  'pending',
] as const;
export type Status = (typeof STATUSES)[number];

/** The data that is appended to a row, in any format. Undefined values are unknown. */
export interface RowResult {
  readonly status: Status;
  /**
   * How the restaurant was chosen: `exact`: the only one with the name; `place`: by its location or address; `id`: by the
   * id in the list; `far`: the only one with the name, but far away; `only`: the only candidate; `loose`: by the
   * simplified name; `best`: the most similar of several; `confirmed`, `rejected`: by a person; `gone`: the
   * service no longer knows it.
   */
  readonly match?:
    | 'exact'
    | 'place'
    | 'id'
    | 'far'
    | 'only'
    | 'loose'
    | 'best'
    | 'confirmed'
    | 'rejected'
    | 'gone';
  readonly candidates?: number;
  /** Similarity of the names, from 0 to 1, with two decimals. */
  readonly similarity?: number;
  /** Distance from the row to the restaurant, in meters. */
  readonly distance_m?: number;
  /** The restaurant, with the field names of the service. */
  readonly restaurant?: Partial<Restaurant>;
  readonly details?: LookupOutput;
  readonly error?: string;
  /** Why the row was not answered in this run. It may have an older answer, and keep its status. */
  readonly failure?: AppError;
}

export interface Found {
  readonly results: readonly Restaurant[];
  readonly total: number;
}

export interface MatchQuery {
  readonly name: string;
  readonly city: string;
  readonly place?: Place | undefined;
}

export const NOT_FOUND: RowResult = { status: 'not_found', candidates: 0 };

interface MatchCandidate extends Position {
  readonly restaurant: Restaurant;
  readonly isSame: boolean;
}

interface CandidateChoice {
  readonly query: MatchQuery;
  readonly candidates: readonly MatchCandidate[];
  /** Whether there is only one, also among those that were not sent. */
  readonly isOnly: boolean;
  readonly hasOneSame: boolean;
  readonly isLoose: boolean;
}

interface Rule {
  readonly status: 'matched' | 'likely';
  readonly match: RowResult['match'];
  readonly fits: (candidate: MatchCandidate, choice: CandidateChoice) => boolean;
}

const MIN_SIMILARITY = 0.8;
/** The least similarity of a name with several wrong letters, at the place of the row. */
const MIN_LIKENESS = 0.5;

const isWithin = (limit: number, { meters }: MatchCandidate): boolean =>
  meters !== undefined && meters <= limit;
const isHere = (candidate: MatchCandidate): boolean =>
  candidate.meters === undefined ? candidate.sameAddress === true : isWithin(HERE, candidate);
const isFar = ({ meters, sameAddress }: MatchCandidate): boolean =>
  meters !== undefined && (meters > FAR || (meters > HERE && sameAddress === false));
const isSimilar = ({ restaurant, isSame }: MatchCandidate, { query }: CandidateChoice): boolean =>
  !isSame && nameSimilarity(query.name, restaurant.name) >= MIN_SIMILARITY;
const isLooselySame = (candidate: MatchCandidate, { isLoose, query }: CandidateChoice): boolean =>
  isLoose && !isFar(candidate) && isSameSimplified(query.name, candidate.restaurant.name);
/** Whether a candidate is at the door, or has the address of the row. */
const isAtPlace = (candidate: MatchCandidate): boolean =>
  isWithin(DOOR, candidate) || (candidate.sameAddress === true && !isFar(candidate));
/** Whether no other restaurant of the name is near, but not here: the coordinates of a row may be coarse. */
const isAlone = (candidate: MatchCandidate, { candidates }: CandidateChoice): boolean =>
  isAtPlace(candidate) || !candidates.some((each) => each.isSame && isWithin(FAR, each) && !isHere(each));
const hasNoPlace = ({ meters, sameAddress }: MatchCandidate): boolean =>
  meters === undefined && sameAddress === undefined;
const isTypo = (candidate: MatchCandidate, { isLoose, query }: CandidateChoice): boolean =>
  isLoose && isOneLetterOff(query.name, candidate.restaurant.name, isAtPlace(candidate));
const isLike = ({ restaurant }: MatchCandidate, { query }: CandidateChoice): boolean =>
  likeness(query.name, restaurant.name) >= MIN_LIKENESS;

const likeness = (one: string, other: string): number =>
  Math.max(
    nameSimilarity(one, other),
    Math.min(0.99, nameSimilarity(simplifyName(one) ?? one, simplifyName(other) ?? other)),
  );

/** The first rule that a candidate fits decides. If several fit it, the row is ambiguous unless the place selects one. */
const RULES: readonly Rule[] = [
  {
    status: 'matched',
    match: 'place',
    fits: (each, all) => each.isSame && isHere(each) && isAlone(each, all),
  },
  { status: 'likely', match: 'place', fits: (each, all) => isWithin(DOOR, each) && isSimilar(each, all) },
  { status: 'matched', match: 'exact', fits: (each, all) => all.hasOneSame && each.isSame && !isFar(each) },
  { status: 'likely', match: 'place', fits: (each) => each.isSame && !isFar(each) },
  { status: 'likely', match: 'far', fits: ({ isSame }) => isSame },
  {
    status: 'likely',
    match: 'place',
    fits: (each, all) => isHere(each) && each.sameAddress === true && isSimilar(each, all),
  },
  { status: 'likely', match: 'loose', fits: isLooselySame },
  { status: 'likely', match: 'loose', fits: (each, all) => isAtPlace(each) && isTypo(each, all) },
  { status: 'likely', match: 'loose', fits: (each, all) => hasNoPlace(each) && isTypo(each, all) },
  {
    status: 'likely',
    match: 'loose',
    fits: (each, all) => all.isLoose && isAtPlace(each) && isLike(each, all),
  },
  { status: 'likely', match: 'only', fits: (each, { isOnly }) => isOnly && !isFar(each) },
];

/** @param isLoose whether simplified names and names with one wrong letter count, too */
export const matchName = (query: MatchQuery, found: Found, isLoose = false): RowResult =>
  decide(query, found, isLoose, RULES);

const AGAIN = RULES.filter(({ match }) => match !== 'only');

/** For a further search, by another name: only the place can confirm, and only what is like the name counts. */
export function matchAgain(query: MatchQuery, found: Found): RowResult {
  const result = decide(query, found, true, AGAIN);
  const isLike = likeness(query.name, result.restaurant?.name ?? '') >= MIN_LIKENESS;
  if (result.status === 'ambiguous' && !isLike) return NOT_FOUND;
  return result.match === 'exact' ? { ...result, status: 'likely', match: 'loose' } : result;
}

function decide(
  query: MatchQuery,
  { results, total }: Found,
  isLoose: boolean,
  rules: readonly Rule[],
): RowResult {
  const candidates = candidatesOf(query, results);
  if (candidates.length === 0) return NOT_FOUND;
  // The service may have found more than it sent.
  const hasMore = Number.isSafeInteger(total) && total > results.length;
  const choice: CandidateChoice = {
    query,
    candidates,
    isOnly: candidates.length === 1 && !hasMore,
    hasOneSame: candidates.filter(({ isSame }) => isSame).length === 1,
    isLoose,
  };
  for (const { status, match, fits } of rules) {
    const fitting = candidates.filter((each) => fits(each, choice));
    const [one] = fitting;
    if (one === undefined) continue;
    if (fitting.length === 1) return resultOf(status, match, one, choice);
    return severalFit(fitting, status, choice);
  }
  return resultOf('ambiguous', 'best', ranked(candidates, query)[0] as MatchCandidate, choice);
}

/** Of several restaurants with one name, the address selects one, or the distance if it is clear. */
function severalFit(fitting: readonly MatchCandidate[], status: Status, choice: CandidateChoice): RowResult {
  const [byAddress, ...others] = fitting.filter(({ sameAddress }) => sameAddress === true);
  if (byAddress !== undefined && others.length === 0) return resultOf(status, 'place', byAddress, choice);
  const best = ranked(fitting, choice.query)[0] as MatchCandidate;
  const isClear = fitting.every((each) => each === best || (each.meters ?? 0) - (best.meters ?? 0) >= DOOR);
  return isClear && isWithin(DOOR, best)
    ? resultOf('likely', 'place', best, choice)
    : resultOf('ambiguous', 'best', best, choice);
}

/** Returns the restaurants in the results of a search, each once. */
export function restaurantsIn(results: readonly unknown[]): Restaurant[] {
  const ids = new Set<string>();
  return results.filter(isRestaurant).filter(({ service_id }) => ids.size < ids.add(service_id).size);
}

function candidatesOf({ name, place }: MatchQuery, results: readonly Restaurant[]): MatchCandidate[] {
  const restaurants = restaurantsIn(results);
  const positions = positionsOf(restaurants, place);
  const isSame = sameNameAs(name);
  return restaurants.map((restaurant, index) => ({
    ...positions[index],
    restaurant,
    isSame: isSame(restaurant.name),
  }));
}

/**
 * Ranks candidates: first a similar one at the place of the row, then the most similar; of equally similar ones the
 * nearest, then one in the city, then the first.
 */
function ranked(candidates: readonly MatchCandidate[], { name, city }: MatchQuery): MatchCandidate[] {
  const keyed = candidates.map((candidate) => {
    const { restaurant, meters = Number.MAX_SAFE_INTEGER } = candidate;
    const similarity = likeness(name, restaurant.name);
    const isNear = isAtPlace(candidate) && similarity >= MIN_LIKENESS;
    const isElsewhere = restaurant.city === undefined || !isSameName(restaurant.city, city);
    return { candidate, keys: [isNear ? 0 : 1, -similarity, meters, isElsewhere ? 1 : 0] };
  });
  const compare = (one: readonly number[], other: readonly number[]): number =>
    one.map((key, index) => key - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
  return keyed.sort((one, other) => compare(one.keys, other.keys)).map(({ candidate }) => candidate);
}

export const likeliestFirst = (query: MatchQuery, restaurants: readonly Restaurant[]): Restaurant[] =>
  ranked(candidatesOf(query, restaurants), query).map(({ restaurant }) => restaurant);

const resultOf = (
  status: Status,
  match: RowResult['match'],
  { restaurant, meters }: MatchCandidate,
  { query, candidates }: CandidateChoice,
): RowResult => ({
  status,
  match,
  restaurant,
  candidates: candidates.length,
  similarity: nameSimilarity(query.name, restaurant.name),
  ...distanceOf(meters),
});

const distanceOf = (meters: number | undefined): Pick<RowResult, 'distance_m'> =>
  meters === undefined ? {} : { distance_m: Math.round(meters) };

/** The result for a row with an id. It is only likely if the restaurant has another name than the row. */
export function matchId(query: MatchQuery & { readonly id: string }, known: JsonObject): RowResult {
  const restaurant = { ...known, service_id: query.id } as Partial<Restaurant>;
  const { name } = restaurant;
  const isKnown = typeof name === 'string' && name !== '' && query.name !== '';
  const [position] = positionsOf([restaurant], query.place);
  return {
    status: isKnown && !isSameName(name, query.name) ? 'likely' : 'matched',
    match: 'id',
    candidates: 1,
    ...(isKnown && { similarity: nameSimilarity(query.name, name) }),
    ...distanceOf(position?.meters),
    restaurant,
  };
}

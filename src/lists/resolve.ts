import type { FindQuery, Level, Restaurant } from '../client/types.ts';
import { isObject, type JsonObject, tryParseJson } from '../util/json.ts';
import { checkId } from '../util/restaurant.ts';
import type { AnswerAbout, Answers, FindAnswer, LookupAnswer } from './answers.ts';
import type { Decision } from './decisions.ts';
import {
  type MatchQuery,
  matchAgain,
  matchId,
  matchName,
  type RowResult,
  restaurantsIn,
} from './match/match.ts';
import { nameSimilarity } from './match/names.ts';
import { placeOfRow } from './match/place.ts';
import { searchesFor } from './match/searches.ts';
import { NUMBER_FIELDS } from './result.ts';
import type { EarlierResult } from './row.ts';
import type { RowKey } from './row-key.ts';

/** A row, as far as its verdict depends on it. */
export interface Question {
  readonly key: RowKey;
  /** The result in the list itself, if the list is the output of an earlier run. */
  readonly earlier?: EarlierResult | undefined;
  /** Which of the two is a formula whose value is not stored. */
  readonly formula?: 'name' | 'city' | undefined;
  readonly decision?: Pick<Decision, 'restaurant'> | undefined;
}

export interface ResolveOptions {
  readonly fields?: Level | undefined;
  readonly loose?: boolean | undefined;
  /** With --older: answers from before `start`, or from after `end`, are due. In milliseconds since the epoch. */
  readonly recent?: { readonly start: number; readonly end: number } | undefined;
}

export type Request =
  | { readonly kind: 'find'; readonly query: FindQuery }
  | { readonly kind: 'lookup'; readonly id: string; readonly level: Level };

export const REASONS = ['new', 'older', 'details', 'loose'] as const;
export type LackReason = (typeof REASONS)[number];

export interface Lack {
  readonly request: Request;
  readonly reason: LackReason;
  /** When it was asked last, in milliseconds since the epoch. */
  readonly askedAt?: number | undefined;
}

export interface Resolution {
  /** The result so far; `pending` if nothing is known. */
  readonly result: RowResult;
  /** The next request, if an answer is missing or due. */
  readonly lack?: Lack | undefined;
  /** When the newest answer was given that it rests on. */
  readonly at?: number;
}

export type Knowledge = Pick<Answers, 'find' | 'lookup' | 'about'>;

const PENDING: RowResult = { status: 'pending' };

export const requestKey = (request: Request): string =>
  request.kind === 'find'
    ? `find\0${request.query.name}\0${request.query.city}`
    : `lookup\0${request.id}\0${request.level}`;

/** Returns what the answers say about a row, and the one request that it still lacks. */
export function resolve(question: Question, answers: Knowledge, options: ResolveOptions): Resolution {
  const verdict = verdictOf(question, answers, options);
  const id = verdict.result.restaurant?.service_id;
  if (verdict.isFinal === true || id === undefined || id === '') return verdict;
  return withRestaurant(verdict, id, answers, options);
}

/** `at` is that of a search. */
interface Verdict extends Resolution {
  /** The search that it rests on; undefined if the restaurant is known by its id. */
  readonly search?: FindQuery;
  /** Whether nothing is asked about it. */
  readonly isFinal?: boolean;
}

function verdictOf(question: Question, answers: Knowledge, options: ResolveOptions): Verdict {
  const { key, earlier, formula, decision } = question;
  const query = matchQuery(key);
  if (decision?.restaurant !== undefined) return decidedVerdict(query, decision.restaurant, answers);
  const kept = earlier && keptResult(earlier);
  if (kept !== undefined) return { result: kept, isFinal: kept.match === 'rejected' };
  const id = idOf(question);
  if (id !== '') return idVerdict(query, id, answers, options);
  if (query.name !== '' && query.city !== '') return searchVerdict(query, answers, options);
  if (formula !== undefined) return skipped(`the ${formula} is a formula without a stored value`);
  if (query.name !== '') return skipped('the city is empty');
  return skipped(key.id === undefined && earlier === undefined ? 'the name is empty' : 'no id and no name');
}

const skipped = (error: string, restaurant?: Partial<Restaurant>): Verdict => ({
  result: { status: 'skipped', error, ...(restaurant && { restaurant }) },
  isFinal: true,
});

export function matchQuery(key: RowKey): MatchQuery {
  const { name = '', city = '' } = key;
  return { name, city, place: placeOfRow(key) };
}

/** A person's decision: this restaurant, or none of them. */
function decidedVerdict(query: MatchQuery, id: string | null, answers: Knowledge): Verdict {
  const isSearchable = query.name !== '' && query.city !== '';
  const answer = isSearchable ? answers.find({ name: query.name, city: query.city }) : undefined;
  const candidates = answer && { candidates: answer.results.length + othersOf(answer) };
  if (id === null)
    return { result: { status: 'not_found', match: 'rejected', ...candidates }, isFinal: true };
  const result = matchId({ ...query, id }, newestFields([...answers.about(id)]));
  return {
    result: { ...result, status: 'matched', match: 'confirmed', ...candidates },
    ...(answer && { at: answer.at }),
  };
}

/** Candidates that were received, but are not kept in the answer. */
const othersOf = ({ results, received }: FindAnswer): number => Math.max(0, received - results.length);

/** An id in an own column; or one that a person has typed into a row of an earlier result that had none. */
function idOf({ key, earlier }: Question): string {
  if (key.id !== undefined && key.id !== '') return key.id;
  const isGuess = earlier !== undefined && GUESSED.includes(earlier.status);
  return isGuess && key.name && key.city ? '' : textOf(earlier?.id);
}

const GUESSED: readonly unknown[] = ['likely', 'ambiguous'];

function idVerdict(query: MatchQuery, text: string, answers: Knowledge, options: ResolveOptions): Verdict {
  let id: string;
  try {
    id = checkId(text);
  } catch (error) {
    return skipped(error instanceof Error ? error.message : 'not an id', { service_id: text });
  }
  const known = [...answers.about(id)];
  if (known.every(({ level }) => level === 'search')) {
    const lack: Lack = { request: lookupRequest(id, options), reason: 'new' };
    return { result: { ...PENDING, restaurant: { service_id: id } }, lack, isFinal: true };
  }
  // A restaurant that was never there is not gone.
  if (known.every(({ record }) => record === null))
    return { result: { status: 'not_found', candidates: 0, restaurant: { service_id: id } } };
  return { result: matchId({ ...query, id }, newestFields(known)) };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

/** Returns the result that a row of an earlier result keeps: one that was matched, or rejected by a person. */
function keptResult(earlier: EarlierResult): RowResult | undefined {
  const { status, match, error: _, ...fields } = earlier;
  const isMatched = status === 'matched' && textOf(fields.id) !== '';
  if (!isMatched && !(status === 'not_found' && match === 'rejected')) return undefined;
  const { id, candidates, similarity, distance_m, details, cuisine_tags, ...restaurant } = fields;
  const parsed = typeof details === 'string' ? tryParseJson(details) : details;
  return {
    status,
    match: match as RowResult['match'],
    ...filledOnly({ candidates, similarity, distance_m }),
    restaurant: {
      ...filledOnly(restaurant),
      ...(textOf(id) !== '' && { service_id: textOf(id) }),
      ...filledOnly({ cuisine_tags: listOf(cuisine_tags) }),
    },
    ...(isObject(parsed) && { details: parsed }),
  } as RowResult;
}

function filledOnly(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isNumber = (value: unknown) => typeof value === 'string' && String(Number(value)) === value;
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([key, value]) => [key, NUMBER_FIELDS.includes(key) && isNumber(value) ? Number(value) : value]),
  );
}

const listOf = (tags: unknown): unknown =>
  typeof tags === 'string' && tags !== '' ? tags.split('; ') : tags;

/** The first search, and with --loose further ones until something is found. */
function searchVerdict(query: MatchQuery, answers: Knowledge, options: ResolveOptions): Verdict {
  const { name, city } = query;
  const searches = options.loose ? searchesFor({ name, city }) : [{ name, city }];
  let verdict: Verdict = { result: PENDING };
  let due: Lack | undefined;
  for (const [index, search] of searches.entries()) {
    const request: Request = { kind: 'find', query: search };
    const answer = answers.find(search);
    if (answer === undefined)
      return { ...verdict, lack: due ?? { request, reason: index === 0 ? 'new' : 'loose' } };
    if (isDue(answer.at, options)) due ??= { request, reason: 'older', askedAt: answer.at };
    verdict = { result: matchAnswer(query, answer, index, options), at: answer.at, search };
    if (verdict.result.status !== 'not_found') break;
  }
  return due === undefined || verdict.result.status === 'matched' ? verdict : { ...verdict, lack: due };
}

/** @param index which of the searches it answers */
function matchAnswer(
  query: MatchQuery,
  answer: FindAnswer,
  index: number,
  { loose = false }: ResolveOptions,
): RowResult {
  const others = othersOf(answer);
  const found = { results: answer.results, total: answer.total - others };
  const result = index === 0 ? matchName(query, found, loose) : matchAgain(query, found);
  return result.candidates ? { ...result, candidates: result.candidates + others } : result;
}

const MAX_OTHERS = 20;

/** The results of a search that an answer keeps: all with the name, and the most similar others, in the order received. */
export function keptResults(
  { name }: FindQuery,
  results: readonly unknown[],
): { readonly kept: readonly Restaurant[]; readonly received: number } {
  const restaurants = restaurantsIn(results);
  const received = restaurants.length;
  if (received <= MAX_OTHERS) return { kept: restaurants, received };
  const ranked = restaurants
    .map((restaurant) => ({ restaurant, similarity: nameSimilarity(name, restaurant.name) }))
    .sort((one, other) => other.similarity - one.similarity);
  const others = ranked.filter(({ similarity }) => similarity < 1).slice(0, MAX_OTHERS);
  const wanted = new Set([...ranked.filter(({ similarity }) => similarity === 1), ...others]);
  const ids = new Set([...wanted].map(({ restaurant }) => restaurant.service_id));
  return { kept: restaurants.filter(({ service_id }) => ids.has(service_id)), received };
}

const isDue = (at: number | undefined, { recent }: ResolveOptions): boolean =>
  recent !== undefined && (at === undefined || at < recent.start || at > recent.end);

/** Adds what is known about the restaurant of a row, and what is to be looked up. */
function withRestaurant(
  verdict: Verdict,
  id: string,
  answers: Knowledge,
  options: ResolveOptions,
): Resolution {
  const { result, search, lack } = verdict;
  const known = [...answers.about(id)];
  const [newest] = known;
  const found: RowResult = { ...result, restaurant: withFields(result.restaurant, newestFields(known), id) };
  if (newest?.record === null && result.status !== 'ambiguous') {
    const request: Request = search ? { kind: 'find', query: search } : lookupRequest(id, options);
    const due: Lack = { request, reason: 'older', askedAt: newest.at };
    return {
      result: result.match === undefined ? found : { ...found, status: 'not_found', match: 'gone' },
      lack: isDue(newest.at, options) ? due : undefined,
      at: newest.at,
    };
  }
  const answer = options.fields && answers.lookup(id, options.fields);
  const details = answer?.output ? { details: detailsOf(known) } : {};
  return {
    result: { ...found, ...details },
    lack: lack ?? lookupLack(verdict, id, known, answer, options),
    at: Math.max(verdict.at ?? 0, newest?.at ?? 0),
  };
}

const lookupRequest = (id: string, { fields = 'basic' }: ResolveOptions): Request => ({
  kind: 'lookup',
  id,
  level: fields,
});

function lookupLack(
  { result: { status, match, restaurant }, search, at }: Verdict,
  id: string,
  known: readonly AnswerAbout[],
  details: LookupAnswer | undefined,
  options: ResolveOptions,
): Lack | undefined {
  if (status !== 'matched' && status !== 'likely') return undefined;
  const request = lookupRequest(id, options);
  const wantsDetails = options.fields !== undefined;
  // A person may name a restaurant of which nothing is known.
  const isUnknown = match === 'confirmed' && known.length === 0 && restaurant?.name === undefined;
  if (wantsDetails ? details === undefined : isUnknown) return { request, reason: 'details' };
  const lookedUp = details ?? known.find(({ level }) => level !== 'search');
  const isById = status === 'matched' || search === undefined;
  if (!isById && !wantsDetails) return undefined;
  const askedAt = lookedUp?.at ?? at;
  return isDue(askedAt, options) ? { request, reason: 'older', askedAt } : undefined;
}

/** Each field of a restaurant, from the newest answer that has it. */
export function newestFields(known: readonly AnswerAbout[]): JsonObject {
  const fields = new Map<string, unknown>();
  for (const { record } of known)
    for (const [name, value] of Object.entries(record ?? {})) if (!fields.has(name)) fields.set(name, value);
  return Object.fromEntries(fields);
}

/** The fields that lookups have returned, each from the newest answer that has it. */
function detailsOf(known: readonly AnswerAbout[]): JsonObject {
  const all = newestFields(known);
  const names = Object.keys(newestFields(known.filter(({ level }) => level !== 'search')));
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

function withFields(base: Partial<Restaurant> = {}, fields: JsonObject, id: string): Partial<Restaurant> {
  const { lat, lng } = base as JsonObject;
  const point = fields.coordinates === undefined ? filledOnly({ lat, lng }) : {};
  const others = Object.entries(base).filter(([name]) => name !== 'lat' && name !== 'lng');
  // Node.js 20 keeps a large object made of several spreads until a full garbage collection.
  return Object.fromEntries([
    ...others,
    ...Object.entries(point),
    ...Object.entries(fields),
    ['service_id', id],
  ]);
}

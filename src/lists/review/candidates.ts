import type { FindQuery, Restaurant } from '../../client/types.ts';
import { isSameName } from '../../util/fold.ts';
import { kilometers, pointOf } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import type { Decision } from '../decisions.ts';
import { likeliestFirst, type MatchQuery, type RowResult } from '../match/match.ts';
import { nameSimilarity } from '../match/names.ts';
import { isSameAddress } from '../match/place.ts';
import { fieldsOf, matchQuery } from '../resolve.ts';
import type { InputRow } from '../row.ts';
import { type RowKey, rowKeyText } from '../row-key.ts';
import { candidatesOf } from '../views/page.ts';
import type { Review, ReviewFlags } from './open.ts';

export interface Candidate {
  readonly restaurant: Restaurant;
  /** Of the names, from 0 to 1. */
  readonly similarity: number;
  /** Distance from the coordinates of the row; undefined if there are none. */
  readonly meters: number | undefined;
  /** Whether it was decided before the row was corrected, or had other columns. */
  readonly isEarlier: boolean;
}

/** Rows of one content, which one decision settles. */
export interface DoubtfulRows {
  readonly key: RowKey;
  readonly query: MatchQuery;
  /** Indexes of the rows in the list. */
  readonly indexes: readonly number[];
  readonly result: RowResult;
}

/** The rows that need a decision; those that are in the list most often come first. */
export function doubtfulRows(review: Review, { notFound }: Pick<ReviewFlags, 'notFound'>): DoubtfulRows[] {
  const groups = new Map<string, DoubtfulRows & { indexes: number[] }>();
  for (const [index, row] of review.state.rows.entries()) {
    const question = review.state.plan.question(row);
    const text = rowKeyText(question.key);
    const group = groups.get(text);
    if (group !== undefined) {
      group.indexes.push(index);
      continue;
    }
    const { result } = review.state.resolveRow(question);
    if (!isDoubtful(result, notFound === true)) continue;
    if (review.decisions.of(question.key)?.never === true) continue;
    groups.set(text, { key: question.key, query: matchQuery(question.key), indexes: [index], result });
  }
  return [...groups.values()].sort((one, other) => other.indexes.length - one.indexes.length);
}

const isDoubtful = ({ status, match }: RowResult, withMissing: boolean): boolean =>
  status === 'likely' ||
  status === 'ambiguous' ||
  (withMissing && status === 'not_found' && match !== 'rejected');

/** The line or row of a spreadsheet that a person sees. */
export const lineOf = (row: InputRow): number => (row.kind === 'cells' ? (row.row ?? row.line) : row.line);

/** The indexes of rows by their content. */
export function rowsByContent({ state }: Review): ReadonlyMap<string, readonly number[]> {
  const contents = new Map<string, number[]>();
  for (const [index, row] of state.rows.entries()) {
    const text = rowKeyText(state.plan.question(row).key);
    const indexes = contents.get(text);
    if (indexes === undefined) contents.set(text, [index]);
    else indexes.push(index);
  }
  return contents;
}

/** The rows with a content, whatever their status. */
export function rowsWith(review: Review, key: RowKey, contents = rowsByContent(review)): DoubtfulRows {
  const { state } = review;
  const indexes = contents.get(rowKeyText(key)) ?? [];
  const first = state.rows[indexes[0] ?? -1];
  const result: RowResult =
    first === undefined ? { status: 'pending' } : state.resolveRow(state.plan.question(first)).result;
  return { key, query: matchQuery(key), indexes, result };
}

/** The restaurant that a row has now, if it is only a guess. */
export const currentId = ({ result }: DoubtfulRows): string | undefined => result.restaurant?.service_id;

/** The restaurant that an earlier decision named comes first, then the likeliest. @param words other words for the search */
export function candidatesFor(review: Review, row: DoubtfulRows, words?: FindQuery): Candidate[] {
  const { answers } = review;
  const { query } = row;
  const found =
    words === undefined
      ? candidatesOf(answers, query)
      : likeliestFirst(query, answers.find(words)?.results ?? []);
  const earlier = words === undefined ? earlierIds(review, row) : [];
  const current = currentId(row);
  const ids = [
    ...earlier,
    ...found.map(({ service_id }) => service_id),
    ...(current && words === undefined ? [current] : []),
  ];
  return [...new Set(ids)].map((id) => {
    const received = found.find(({ service_id }) => service_id === id);
    const restaurant = received ?? restaurantOf(review, id);
    return {
      restaurant,
      similarity: nameSimilarity(query.name, restaurant.name),
      meters: metersFrom(query, restaurant),
      isEarlier: earlier.includes(id),
    };
  });
}

const restaurantOf = ({ answers }: Review, id: string): Restaurant => ({
  name: id,
  ...fieldsOf([...answers.about(id)]),
  service_id: id,
});

const MIN_SIMILARITY = 0.5;

function earlierIds({ decisions }: Review, { key, query }: DoubtfulRows): string[] {
  const isClose = ({ decide }: Decision): boolean =>
    isSameName(decide.city ?? '', query.city) &&
    nameSimilarity(query.name, decide.name ?? '') >= MIN_SIMILARITY;
  const closest = decisions
    .stray()
    .filter(isClose)
    .sort(
      (a, b) =>
        nameSimilarity(query.name, b.decide.name ?? '') - nameSimilarity(query.name, a.decide.name ?? ''),
    );
  return [...decisions.similar(key), ...closest].flatMap(({ restaurant }) => restaurant ?? []);
}

function metersFrom({ place }: MatchQuery, { coordinates }: Restaurant): number | undefined {
  const to = pointOf(coordinates);
  return place?.point && to ? Math.round(kilometers(place.point, to) * 1000) : undefined;
}

/** The facts that differ from the row, or that it does not have. */
export function candidateFacts(
  { restaurant, meters, isEarlier }: Candidate,
  { place, city }: MatchQuery,
): string[] {
  const { address, neighborhood, grade } = restaurant;
  const isSame = isSameAddress(place?.address, address) === true;
  const otherCity = textOf(restaurant.city);
  const street = isSame ? 'same address' : textOf(address) || textOf(neighborhood);
  const isNamed = otherCity === '' || isSameName(otherCity, city) || street.includes(otherCity);
  return [
    isNamed ? street : [street, otherCity].filter(Boolean).join(', '),
    distanceText(meters),
    textOf(grade),
    isEarlier ? 'decided before the row was corrected' : '',
  ]
    .filter((text) => text !== '')
    .map(cleanLine);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function distanceText(meters: number | undefined): string {
  if (meters === undefined) return '';
  return meters < 1000 ? `${meters} m` : `${(meters / 1000).toFixed(1)} km`;
}

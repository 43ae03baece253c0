import type { FindQuery, Restaurant } from '../../client/types.ts';
import { isSameName } from '../../util/fold.ts';
import type { Answers } from '../answers.ts';
import { candidatesOf, metersTo } from '../candidates.ts';
import type { Decision } from '../decisions.ts';
import type { ListState } from '../list-state.ts';
import { likeliestFirst, type RowResult } from '../match/match.ts';
import { nameSimilarity } from '../match/names.ts';
import { matchQuery, newestFields } from '../resolve.ts';
import type { InputRow } from '../row.ts';
import { type RowKey, rowKeyText } from '../row-key.ts';
import type { OutputView } from '../views/outputs.ts';

/** A list with its answers, and the files that follow the decisions about it. */
export interface Review {
  /** As typed. */
  readonly name: string;
  readonly answers: Answers;
  readonly state: ListState;
  readonly contents: ReadonlyMap<string, EqualRows>;
  readonly views: readonly OutputView[];
  /** Whether there are views in other folders, which are not written. */
  readonly hasOthers: boolean;
}

/** Rows of one content, which one decision settles. */
export interface EqualRows {
  readonly key: RowKey;
  readonly first: InputRow;
  readonly indexes: number[];
}

export function equalRows({ rows, plan }: ListState): ReadonlyMap<string, EqualRows> {
  const contents = new Map<string, EqualRows>();
  for (const [index, first] of rows.entries()) {
    const { key } = plan.question(first);
    const text = rowKeyText(key);
    const before = contents.get(text);
    if (before === undefined) contents.set(text, { key, first, indexes: [index] });
    else before.indexes.push(index);
  }
  return contents;
}

/** The rows that need a decision; those that are in the list most often come first. */
export function doubtfulRows(review: Review, withMissing: boolean): EqualRows[] {
  const { state, contents } = review;
  const doubtful = [...contents.values()].filter((rows) =>
    state.isDoubtful(rows, resultNow(review, rows), withMissing),
  );
  return doubtful.sort((one, other) => other.indexes.length - one.indexes.length);
}

export const resultNow = ({ state }: Review, { first }: EqualRows): RowResult => state.resultOf(first);

export const currentId = (review: Review, rows: EqualRows): string | undefined =>
  resultNow(review, rows).restaurant?.service_id;

/** The line or row of a spreadsheet that a person sees. */
export const lineOf = (row: InputRow): number => (row.kind === 'cells' ? (row.row ?? row.line) : row.line);

export interface Candidate {
  readonly restaurant: Restaurant;
  /** Of the names, from 0 to 1. */
  readonly similarity: number;
  /** Distance from the coordinates of the row; undefined if there are none. */
  readonly meters: number | undefined;
  /** Whether it was decided before the row was corrected, or had other columns. */
  readonly isEarlier: boolean;
}

/** The restaurant that an earlier decision named comes first, then the likeliest. @param searches other ones */
export function candidatesFor(review: Review, rows: EqualRows, searches?: readonly FindQuery[]): Candidate[] {
  const { answers } = review;
  const query = matchQuery(rows.key);
  const results = searches?.flatMap((each) => answers.find(each)?.results ?? []);
  const searched = results && likeliestFirst(query, results);
  const found = searched ?? candidatesOf(answers, query);
  const earlier = searched === undefined ? earlierIds(review, rows) : [];
  const current = searched === undefined ? (currentId(review, rows) ?? []) : [];
  const ids = [earlier, found.map(({ service_id }) => service_id), current].flat();
  const restaurants = [...new Set(ids)].map((id): Restaurant => {
    const about = () => ({ name: id, ...newestFields([...answers.about(id)]), service_id: id });
    return found.find(({ service_id }) => service_id === id) ?? about();
  });
  const meters = metersTo(restaurants, query);
  return restaurants.map((restaurant, index) => ({
    restaurant,
    similarity: nameSimilarity(query.name, restaurant.name),
    meters: meters[index],
    isEarlier: earlier.includes(restaurant.service_id),
  }));
}

const MIN_SIMILARITY = 0.5;

/** The restaurants of decisions with other members, and of those about rows that are no longer in the list. */
function earlierIds({ state: { decisions } }: Review, { key }: EqualRows): string[] {
  const likeness = ({ decide }: Decision): number => nameSimilarity(key.name ?? '', decide.name ?? '');
  const closest = decisions
    .stray()
    .filter(({ decide }) => isSameName(decide.city ?? '', key.city ?? ''))
    .map((decision) => ({ decision, similarity: likeness(decision) }))
    .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
    .sort((one, other) => other.similarity - one.similarity)
    .map(({ decision }) => decision);
  return [...decisions.similar(key), ...closest].flatMap(({ restaurant }) => restaurant ?? []);
}

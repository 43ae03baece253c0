import type { FindQuery, Restaurant } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { pointOf } from '../../output/geo.ts';
import { plural } from '../../util/format.ts';
import { kilometers, type Point } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import type { FinishedList, ListRow, Values } from '../finished/finished-list.ts';
import { restaurantsIn } from '../match/match.ts';
import { nameSimilarity, simplifyName } from '../match/names.ts';
import type { RestaurantService } from '../match/query.ts';

export interface ReviewRow {
  readonly row: ListRow;
  readonly status: string;
  readonly name: string;
  readonly city: string;
  readonly current: Restaurant | undefined;
  readonly point: Point | undefined;
}

export interface Candidate {
  readonly restaurant: Restaurant;
  readonly similarity: number;
  /** Distance from the coordinates of the row; undefined if there are none. */
  readonly meters: number | undefined;
}

export type SearchService = Pick<RestaurantService, 'find'>;

export function reviewRow(list: FinishedList, row: ListRow): ReviewRow {
  const query = list.columns.query(list.ownRow(row));
  const { name = list.columns.id } = list.columns;
  return {
    row,
    status: list.text(row.values, 'status'),
    name: String(list.ownValue(row, name) ?? '').trim(),
    city: query.kind === 'none' ? '' : query.city,
    current: restaurantOf((field) => list.text(row.values, field)),
    point: query.kind === 'none' ? undefined : query.place?.point,
  };
}

function restaurantOf(text: (field: string) => string): Restaurant | undefined {
  if (text('id') === '') return undefined;
  const number = (field: string): unknown => (text(field) === '' ? undefined : Number(text(field)));
  const coordinates = pointOf({ lat: number('lat'), lng: number('lng') });
  const fields = ['address', 'city', 'neighborhood', 'grade'].flatMap((field) =>
    text(field) === '' ? [] : [[field, text(field)] as const],
  );
  return {
    service_id: text('id'),
    name: text('name'),
    ...Object.fromEntries(fields),
    ...(coordinates === undefined ? {} : { coordinates }),
  };
}

/** The facts that help to decide about a candidate: its address, its distance, and its grade. */
export function candidateFacts({ restaurant, meters }: Candidate): string[] {
  const { address = '', neighborhood = '', city = '', grade } = restaurant;
  const street = address || neighborhood;
  const place = street.includes(city) ? street : [street, city].filter(Boolean).join(', ');
  return [place, distanceText(meters), grade ?? ''].filter((text) => text !== '').map(cleanLine);
}

function distanceText(meters: number | undefined): string {
  if (meters === undefined) return '';
  return meters < 1000 ? `${meters} m` : `${(meters / 1000).toFixed(1)} km`;
}

export async function findCandidates(
  service: SearchService,
  row: Pick<ReviewRow, 'name' | 'city' | 'current' | 'point'>,
  words: FindQuery = row,
): Promise<readonly Candidate[]> {
  const found = words.name === '' || words.city === '' ? [] : await search(service, words);
  const { current } = row;
  const inFile = found.find(({ service_id }) => service_id === current?.service_id) ?? current;
  const others = found.filter(({ service_id }) => service_id !== inFile?.service_id);
  return [inFile ?? [], others].flat().map((restaurant) => ({
    restaurant,
    similarity: nameSimilarity(row.name, restaurant.name),
    meters: metersBetween(row.point, pointOf(restaurant.coordinates)),
  }));
}

async function search(service: SearchService, { name, city }: FindQuery): Promise<Restaurant[]> {
  const simple = simplifyName(name);
  const found = await searchOnce(service, { name, city });
  return found.length > 0 || simple === undefined ? found : searchOnce(service, { name: simple, city });
}

async function searchOnce(service: SearchService, words: FindQuery): Promise<Restaurant[]> {
  try {
    return restaurantsIn((await service.find(words)).results);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return [];
    throw error;
  }
}

function metersBetween(one: Point | undefined, other: Point | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.round(kilometers(one, other) * 1000);
}

/** The restaurant in the file is right; another one is; none of them is. */
export type Decision =
  | { readonly kind: 'yes' }
  | { readonly kind: 'other'; readonly restaurant: Restaurant }
  | { readonly kind: 'none' };

export function valuesOf(list: FinishedList, row: ReviewRow, decision: Decision): Values {
  const counted = list.value(row.row.values, 'candidates');
  const kept = counted === undefined ? {} : { candidates: counted };
  if (decision.kind === 'yes') return { status: 'matched', match: 'confirmed' };
  if (decision.kind === 'none')
    return { ...list.valuesOf({ status: 'not_found' }), ...kept, match: 'rejected' };
  const { restaurant } = decision;
  const similarity = nameSimilarity(row.name, restaurant.name);
  return {
    ...list.valuesOf({ status: 'matched', restaurant, similarity }),
    ...kept,
    match: 'confirmed',
  };
}

export function tallyOf(decisions: readonly Decision[]) {
  const count = (kind: Decision['kind']) => decisions.filter((each) => each.kind === kind).length;
  return {
    rows: decisions.length,
    confirmed: count('yes'),
    other: count('other'),
    rejected: count('none'),
  };
}

export function tallyText(file: string, decisions: readonly Decision[]): string {
  const { rows, confirmed, other, rejected } = tallyOf(decisions);
  return `${plural(rows, 'row')} decided in ${cleanLine(file)}: ${confirmed} confirmed, ${other} with another restaurant, ${rejected} rejected`;
}

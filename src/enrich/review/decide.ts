import type { Restaurant } from '../../client/types.ts';
import { plural } from '../../util/format.ts';
import { cleanLine } from '../../util/text.ts';
import type { FinishedList, Values } from '../finished/finished-list.ts';
import { nameSimilarity } from '../match/names.ts';
import type { ReviewRow } from './candidates.ts';

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

export interface Tally {
  readonly confirmed: number;
  readonly other: number;
  readonly rejected: number;
}

export const TALLIED = { yes: 'confirmed', other: 'other', none: 'rejected' } as const;

export function tallyText(file: string, { confirmed, other, rejected }: Tally): string {
  const count = confirmed + other + rejected;
  return `${plural(count, 'row')} decided in ${cleanLine(file)}: ${confirmed} confirmed, ${other} with another restaurant, ${rejected} rejected`;
}

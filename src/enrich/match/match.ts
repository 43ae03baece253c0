import { isRestaurant } from '../../client/results.ts';
import type { Restaurant } from '../../client/types.ts';
import { isSameName } from '../../util/fold.ts';

/** How sure a row can be of the restaurant beside it. */
export type MatchKind = 'exact' | 'only' | 'best';

/** What a search says about a row. */
export type Match =
  | {
      readonly status: 'matched';
      readonly kind: 'exact' | 'only';
      readonly restaurant: Restaurant;
      readonly candidates: number;
    }
  | {
      readonly status: 'ambiguous';
      readonly kind: 'best';
      readonly restaurant: Restaurant;
      readonly candidates: number;
    }
  | { readonly status: 'not_found'; readonly candidates: 0 };

/**
 * Judges what a search found for a name.
 * @param results `results` as the service gave them; what is no restaurant is passed over
 * @param total `total_matches`, which counts also what the service did not send
 */
export function matchName(
  query: { readonly name: string; readonly city: string },
  results: readonly unknown[],
  total?: number,
): Match {
  const found = distinct(results.filter(isRestaurant));
  const [first] = found;
  if (first === undefined) return { status: 'not_found', candidates: 0 };
  const candidates = Math.max(found.length, countOf(total, results.length));
  const same = found.filter(({ name }) => isSameName(name, query.name));
  const [only] = same;
  if (only !== undefined && same.length === 1)
    return { status: 'matched', kind: 'exact', restaurant: only, candidates };
  if (candidates === 1) return { status: 'matched', kind: 'only', restaurant: first, candidates };
  const near = same.find(({ city }) => city !== undefined && isSameName(city, query.city));
  return { status: 'ambiguous', kind: 'best', restaurant: near ?? only ?? first, candidates };
}

/** The service's count, where it says that there are more than it sent. */
function countOf(total: unknown, sent: number): number {
  return typeof total === 'number' && Number.isSafeInteger(total) && total > sent ? total : 0;
}

/** The same restaurant listed twice is one candidate. */
function distinct(restaurants: readonly Restaurant[]): Restaurant[] {
  const ids = new Set<string>();
  return restaurants.filter(({ service_id }) => !ids.has(service_id) && ids.add(service_id));
}

import type { LookupItem } from '../render/card.ts';
import { cleanLine } from '../text.ts';
import type { PageDocument } from './document.ts';
import { lookupRows, searchRows } from './rows.ts';

/** What a search was. */
export interface SearchInfo {
  readonly name: string;
  readonly city: string;
  /** What the service says of how many there are. */
  readonly total: number;
  /** When it was answered, in milliseconds since the epoch. */
  readonly at: number;
}

const plural = (count: number, one: string, more: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : more}`;

/** A search as a page. */
export function findPage(
  restaurants: readonly unknown[],
  { name, city, total, at }: SearchInfo,
  columns?: readonly string[],
): PageDocument {
  const shown = restaurants.length;
  const all = Math.max(total, shown);
  const count =
    all > shown
      ? `${shown.toLocaleString('en-US')} of ${plural(all, 'match', 'matches')}`
      : plural(shown, 'match', 'matches');
  return {
    kind: 'Restaurant search',
    heading: cleanLine(`${name} in ${city}`),
    notes: [count],
    at,
    ...searchRows(restaurants, columns),
  };
}

/** Lookups as a page: that of one restaurant, or a list. */
export function lookupPage(
  items: readonly LookupItem[],
  at: number,
  columns?: readonly string[],
): PageDocument {
  const listed = lookupRows(items, columns);
  const failed = items.filter((item) => 'failure' in item).length;
  const [only] = listed.rows;
  const one = items.length === 1 ? only?.c[0] : undefined;
  return {
    kind: 'Restaurant details',
    heading:
      one === undefined || one === null ? plural(items.length, 'restaurant', 'restaurants') : String(one),
    notes: failed === 0 ? [] : [`${plural(failed, 'lookup', 'lookups')} failed`],
    at,
    ...listed,
  };
}

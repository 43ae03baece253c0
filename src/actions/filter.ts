import { foldLetters } from '../util/fold.ts';

/** What `find` keeps of an answer. The service has no such arguments. */
export interface FindFilters {
  cuisine?: string;
  neighborhood?: string;
  grade?: string;
  /** Most rows to keep. */
  limit?: number;
}

/** Text for comparison: without case, accents, special letters and surrounding blanks. */
export const fold = (text: string): string => foldLetters(text).trim();

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string').map(fold);

function passes(row: unknown, filters: FindFilters): boolean {
  if (typeof row !== 'object' || row === null)
    return filters.cuisine === undefined && filters.neighborhood === undefined && filters.grade === undefined;
  const { cuisine_tags, neighborhood, grade } = row as Record<string, unknown>;
  const holds = (value: unknown, part: string | undefined) =>
    part === undefined || texts(value).some((text) => text.includes(fold(part)));
  const equals = (value: unknown, whole: string | undefined) =>
    whole === undefined || texts(value).includes(fold(whole));
  return (
    holds(cuisine_tags, filters.cuisine) &&
    holds(neighborhood, filters.neighborhood) &&
    equals(grade, filters.grade)
  );
}

/**
 * Keeps the rows that pass, in their order, at most `limit` of them. Cuisine and neighborhood match on a part, the
 * grade as a whole; case and accents do not count.
 */
export function filterRestaurants<T>(rows: readonly T[], filters: FindFilters): T[] {
  const kept = rows.filter((row) => passes(row, filters));
  return filters.limit === undefined ? kept : kept.slice(0, filters.limit);
}

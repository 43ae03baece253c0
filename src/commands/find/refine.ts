import type { CliCommand } from '../../cli/command.ts';
import type { FindOutput } from '../../client/types.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { nonEmpty } from '../../settings/values.ts';
import { foldLetters } from '../../util/fold.ts';
import { isObject } from '../../util/json.ts';
import { didYouMean } from '../../util/nearest.ts';
import { gradeRank, kilometers, type Point } from '../../util/restaurant.ts';
import { posixWord } from '../../util/shell.ts';

const SORT_KEYS = ['grade', 'name', 'distance'] as const;
type SortKey = (typeof SORT_KEYS)[number];

export interface Refinement {
  /** Any of these is part of a cuisine tag. */
  readonly cuisine?: readonly string[];
  /** Any of these is part of the neighborhood. */
  readonly neighborhood?: readonly string[];
  readonly grade?: readonly string[];
  readonly minGrade?: string;
  readonly sort?: SortKey;
  /** Adds the distance from here to each result, and sorts by it unless `sort` names another key. */
  readonly near?: Point;
  readonly limit?: number | undefined;
}

/** The options that {@link resultOptions} adds. */
export const RESULT_FLAGS: readonly string[] = [
  ...['--cuisine', '--neighborhood', '--grade', '--min-grade'],
  ...['--sort', '--near', '--limit'],
];

/** Adds the options that filter, sort, and limit results, where a {@link Refinement} has them. */
export const resultOptions = (command: CliCommand): CliCommand =>
  command
    .listOption('--cuisine <text>', 'Filter by cuisine (repeatable)', nonEmpty)
    .listOption('--neighborhood <text>', 'Filter by neighborhood (repeatable)', nonEmpty)
    .listOption('--grade <grade>', 'Filter by grade (repeatable)', nonEmpty)
    .valueOption('--min-grade <grade>', 'Filter by minimum grade', { read: parseMinGrade, example: 'B' })
    .valueOption('--sort <key>', 'Sort the results', { choices: SORT_KEYS })
    .valueOption('--near <lat,lng>', 'Add the distance from this location and sort by it', {
      read: parsePoint,
      example: '37.77,-122.43',
    })
    .valueOption('-n, --limit <n>', 'Maximum number of results, 1 to 1000', {
      range: [1, 1000],
      example: '10',
    });

/** @throws {AppError} `usage` for an order that needs a location */
export function checkResultOptions({ sort, near }: Refinement): void {
  if (sort !== 'distance' || near !== undefined) return;
  throw usage('--sort distance needs a location', { command: again({ '--near': '37.77,-122.43' }) });
}

/** Describes the filters for a title: `mexican`, `grade A or better`. */
export function describeFilters({ cuisine, neighborhood, grade, minGrade, near }: Refinement): string[] {
  const anyOf = (values: readonly string[] = [], before = ''): string[] =>
    values.length === 0 ? [] : [before + values.join(' or ')];
  return [
    ...anyOf(cuisine),
    ...anyOf(neighborhood),
    ...anyOf(grade, 'grade '),
    ...(minGrade === undefined ? [] : [`grade ${minGrade} or better`]),
    ...(near === undefined ? [] : [`near ${near.lat},${near.lng}`]),
  ];
}

/** The key of the distance in a result, in kilometers. */
export const DISTANCE = 'distance_km';

const fold = (text: string): string => foldLetters(text).trim();
const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');

interface Filter {
  readonly option: string;
  readonly key: string;
  readonly wanted: readonly string[];
  readonly matches: (text: string, wanted: string) => boolean;
}

function filtersOf({ cuisine = [], neighborhood = [], grade = [], minGrade }: Refinement): Filter[] {
  const contains = (text: string, part: string): boolean => text.includes(part);
  const isGoodEnough = (text: string, lowest: string): boolean =>
    (gradeRank(text) ?? Number.POSITIVE_INFINITY) <= (gradeRank(lowest) ?? 0);
  const filters: Filter[] = [
    { option: '--cuisine', key: 'cuisine_tags', wanted: cuisine, matches: contains },
    { option: '--neighborhood', key: 'neighborhood', wanted: neighborhood, matches: contains },
    { option: '--grade', key: 'grade', wanted: grade, matches: (text, whole) => text === whole },
    { option: '--min-grade', key: 'grade', wanted: [minGrade ?? []].flat(), matches: isGoodEnough },
  ];
  return filters.filter(({ wanted }) => wanted.length > 0);
}

const accepts = (row: unknown, { key, wanted, matches }: Filter): boolean =>
  isObject(row) && textsOf(row[key]).some((text) => wanted.some((value) => matches(fold(text), fold(value))));

/** Adds the number of rows to an output, if a refinement can leave out results, and of what it saw, if that is not all. */
export function withCounts(
  listed: object,
  output: FindOutput,
  shown: number,
  refinement: Refinement,
): object {
  const isSelective = refinement.limit !== undefined || filtersOf(refinement).length > 0;
  const isPartial = partialText(output, refinement) !== undefined;
  if (!isSelective && !isPartial) return listed;
  return { ...listed, ...(isPartial && { received: output.results.length }), shown };
}

/** Says that filters or an order were applied to only some of the matches, if that is so. */
export function partialText({ results, total_matches: total }: FindOutput, refinement: Refinement) {
  const { sort, near } = refinement;
  const isSelective = sort !== undefined || near !== undefined || filtersOf(refinement).length > 0;
  return results.length < total && isSelective
    ? `the service returned ${results.length} of ${total} matches; filters and order saw only these`
    : undefined;
}

export function refine(rows: readonly unknown[], refinement: Refinement): unknown[] {
  const { near, limit, sort = near === undefined ? undefined : 'distance' } = refinement;
  const filters = filtersOf(refinement);
  const passed = rows.filter((row) => filters.every((filter) => accepts(row, filter)));
  const placed = near === undefined ? passed : passed.map((row) => withDistance(row, near));
  const sorted = sort === undefined ? placed : sortBy(placed, sort);
  return limit === undefined ? sorted : sorted.slice(0, limit);
}

function sortBy(rows: readonly unknown[], key: SortKey): unknown[] {
  const sortValue = (row: unknown): number | string | undefined => {
    if (!isObject(row)) return undefined;
    if (key === 'name') return typeof row.name === 'string' ? fold(row.name) : undefined;
    if (key === 'grade') return gradeRank(row.grade);
    return typeof row[DISTANCE] === 'number' ? row[DISTANCE] : undefined;
  };
  const entries = rows.map((row) => ({ row, value: sortValue(row) }));
  entries.sort(({ value: one }, { value: other }) => {
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined);
    return Number(one > other) - Number(one < other);
  });
  return entries.map(({ row }) => row);
}

function withDistance(row: unknown, from: Point): unknown {
  if (!isObject(row)) return row;
  const { lat, lng } = isObject(row.coordinates) ? row.coordinates : {};
  if (typeof lat !== 'number' || typeof lng !== 'number') return row;
  return { ...row, [DISTANCE]: Math.round(kilometers(from, { lat, lng }) * 1000) / 1000 };
}

const MAX_LISTED = 8;

export function explainEmpty(rows: readonly unknown[], refinement: Refinement): string {
  const filters = filtersOf(refinement);
  const strict = filters.find((filter) => !rows.some((row) => accepts(row, filter)));
  const options = (strict === undefined ? filters : [strict]).flatMap(({ option, wanted }) =>
    wanted.map((value) => `${option} ${posixWord(value)}`),
  );
  const found = `${rows.length} found, none with`;
  if (strict === undefined) return `${found} ${options.join(' and ')} together`;
  const counts = new Map<string, number>();
  for (const value of rows.filter(isObject).flatMap((row) => textsOf(row[strict.key]))) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const listed = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([value, count]) => `${value} ${count}`);
  if (listed.length > MAX_LISTED) listed.splice(MAX_LISTED, listed.length, '…');
  const available = listed.length === 0 ? '' : `; available: ${listed.join(', ')}`;
  const meant = didYouMean(strict.wanted[0] ?? '', [...counts.keys()], 1);
  return `${found} ${options.join(' or ')}${available}${meant === '' ? '' : `; ${meant}`}`;
}

/** Parses `<lat>,<lng>` in degrees. @throws {Error} saying what is expected */
export function parsePoint(text: string): Point {
  const [, lat = Number.NaN, lng = Number.NaN] =
    /^\s*([-+]?\d+(?:\.\d+)?)\s*,\s*([-+]?\d+(?:\.\d+)?)\s*$/.exec(text)?.map(Number) ?? [];
  if (Math.abs(lat) <= 90 && Math.abs(lng) <= 180) return { lat, lng };
  throw new Error('expected latitude and longitude in degrees, such as 37.77,-122.43');
}

/** Checks the grade of `--min-grade`. @throws {Error} saying what is expected */
export function parseMinGrade(text: string): string {
  if (gradeRank(text) !== undefined) return text.trim();
  throw new Error('expected a letter grade, such as A-, B or B+');
}

import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { object, RESTAURANT, text } from '../cli/schemas.ts';
import type { FindResult } from '../client/results.ts';
import { AppError } from '../errors.ts';
import { nonEmpty, wholeNumber } from '../settings/values.ts';
import { foldLetters } from '../util/fold.ts';
import { SUMMARY_COLUMNS } from '../util/summary-columns.ts';

interface FindOptions extends FindFilters {
  city?: string;
}

/** What `find` keeps of the results. The service has no such arguments. */
export interface FindFilters {
  cuisine?: string;
  neighborhood?: string;
  grade?: string;
  /** Maximum number of rows. */
  limit?: number;
}

/** Schema of what `find --json` prints. */
const FIND_OUTPUT = object(
  { status: text, results: { type: 'array', items: RESTAURANT }, total_matches: { type: 'integer' } },
  ['results'],
);

/** Adds `find` to the program. */
export function registerFind(program: CliCommand, app: App, action = runFind): void {
  program
    .command('find')
    .summary('search restaurants by name and city')
    .description('Search restaurants by name and city.')
    .argument('<name>', 'name of the restaurant, or a part of it')
    .addOption(
      valueOption('--city <city>', 'city to search in; needed unless one is set', { read: nonEmpty }),
    )
    .addOption(valueOption('--cuisine <text>', 'keep those with this cuisine', { read: nonEmpty }))
    .addOption(valueOption('--neighborhood <text>', 'keep those of this neighborhood', { read: nonEmpty }))
    .addOption(valueOption('--grade <grade>', 'keep those with this grade', { read: nonEmpty }))
    .addOption(
      valueOption('-n, --limit <n>', 'show at most n, 1 to 1000', {
        read: wholeNumber(1, 1000),
        integer: true,
      }),
    )
    .usesOptions('service', 'request', 'cache', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(FIND_OUTPUT)
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant find "Tide" --city London --grade A --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Filters and --limit act here, on what the service found. The rows are numbered: ' +
        'restaurant lookup 2 shows the second one.',
    )
    .action((name: string, options: FindOptions) => action(app, name, options));
}

interface Query {
  readonly name: string;
  readonly city: string;
}

async function runFind(app: App, name: string, options: FindOptions): Promise<void> {
  const { findCall, runServiceCommand } = await import('../app/request.ts');
  await runServiceCommand(app, {
    columns: SUMMARY_COLUMNS,
    plan: (): Query => ({
      name: requireName(name),
      city: options.city ?? app.settings.get('city') ?? missingCity(name),
    }),
    preview: (query) => [findCall(query)],
    send: (service, query) =>
      app.withSpinner(`searching ${query.name} in ${query.city}`, () => service.find(query)),
    write: async ({ answer, cachedAt }, query) => {
      const { results, unreadable } = answer;
      const kept = filterRestaurants(results, options);
      const { saveResults } = await import('../app/last-results.ts');
      saveResults(app, kept);
      await writeRows(app, answer, kept, { ...query, at: cachedAt ?? app.context.now() });
      await printFooter(app, answer, kept.length, { ...options, ...query }, cachedAt);
      if (unreadable === 0) return;
      throw new AppError('partial', `${unreadable} of ${results.length} results cannot be read`, {
        hint: 'restaurant find … --json shows them as received',
      });
    },
  });
}

function requireName(name: string): string {
  if (name.trim() !== '') return name;
  throw new AppError('usage', 'the name is empty', { hint: 'restaurant find "Nopa" --city "San Francisco"' });
}

function missingCity(name: string): never {
  throw new AppError('usage', 'find needs a city', {
    hint: `restaurant find ${JSON.stringify(name)} --city "San Francisco", or for all searches: restaurant config set city "San Francisco"`,
  });
}

/** Folds text for comparison: without case, accents, special letters and surrounding blanks. */
export const fold = (text: string): string => foldLetters(text).trim();

const foldedTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string').map(fold);

function passes(row: unknown, filters: FindFilters): boolean {
  if (typeof row !== 'object' || row === null)
    return filters.cuisine === undefined && filters.neighborhood === undefined && filters.grade === undefined;
  const { cuisine_tags, neighborhood, grade } = row as Record<string, unknown>;
  const holds = (value: unknown, part: string | undefined) =>
    part === undefined || foldedTexts(value).some((text) => text.includes(fold(part)));
  const equals = (value: unknown, whole: string | undefined) =>
    whole === undefined || foldedTexts(value).includes(fold(whole));
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

async function writeRows(
  app: App,
  answer: FindResult,
  kept: readonly unknown[],
  search: Query & { at: number },
): Promise<void> {
  const { writeResult } = await import('../app/output.ts');
  const isFiltered = kept.length !== answer.results.length;
  const json = isFiltered ? { ...answer.output, results: kept } : answer.output;
  await writeResult(app, {
    json,
    present: async () => ({
      ...(await import('../output/render/find.ts')).findPresentation(json, kept),
      page: async (columns) => {
        const { findPage } = await import('../output/html/rows.ts');
        return findPage(kept, { ...search, total: answer.output.total_matches }, columns);
      },
    }),
  });
}

const filtersOf = (query: FindFilters): string[] =>
  (['cuisine', 'neighborhood', 'grade'] as const).flatMap((name) =>
    query[name] === undefined ? [] : [`--${name} ${JSON.stringify(query[name])}`],
  );

async function printFooter(
  app: App,
  answer: FindResult,
  shown: number,
  query: FindFilters & Query,
  cachedAt: number | undefined,
): Promise<void> {
  const total = answer.output.total_matches;
  if (shown === 0) {
    const most = answer.results.length;
    const none =
      most === 0
        ? `nothing found for ${query.name} in ${query.city}`
        : `${most} found, none passes ${filtersOf(query).join(' ')}`;
    return app.note(none);
  }
  const { writesToTerminal } = await import('../app/output.ts');
  if (!writesToTerminal(app)) return;
  const count = total > shown ? `${shown} of ${total} matches` : shown === 1 ? '1 match' : `${shown} matches`;
  const age = cachedAt === undefined ? '' : ' · from the cache (--max-age 0 refreshes)';
  // The fullest of these that fits on one line.
  const next = `${count} · restaurant lookup 1${app.globals.demo === true ? ' --demo' : ''}`;
  const choices = [`${next} for details${age}`, `${next} for details`, next, count];
  await app.note(choices.find((choice) => choice.length < app.context.stderr.columns) ?? count);
}

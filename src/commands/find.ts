import { type FindFilters, filterRestaurants } from '../actions/filter.ts';
import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { FIND_OUTPUT } from '../cli/schemas.ts';
import type { FindResult } from '../client/results.ts';
import { AppError } from '../errors.ts';
import { nonEmpty, wholeNumber } from '../settings/values.ts';

interface FindOptions extends FindFilters {
  city?: string;
}

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

async function runFind(app: App, name: string, options: FindOptions): Promise<void> {
  const query = { name: wanted(name), city: options.city ?? app.settings.get('city') ?? noCity(name) };
  const { checkOutput } = await import('../app/output.ts');
  checkOutput(app);
  const { findCall, printPreview } = await import('../app/request.ts');
  if (await printPreview(app, [findCall(query)])) return;
  const { openService } = await import('../app/service.ts');
  const service = await openService(app);
  const { answer, cachedAt } = await app.withSpinner(`searching ${query.name} in ${query.city}`, () =>
    service.find(query),
  );
  const { results, unreadable } = answer;
  const kept = filterRestaurants(results, options);
  const { saveResults } = await import('../app/last-results.ts');
  saveResults(app, kept);
  await show(app, answer, kept, { ...query, at: cachedAt ?? app.context.now() });
  await footer(app, answer, kept.length, { ...options, ...query }, cachedAt);
  if (unreadable > 0) {
    throw new AppError('partial', `${unreadable} of ${results.length} results cannot be read`, {
      hint: 'restaurant find … --json shows them as they came',
    });
  }
}

function wanted(name: string): string {
  if (name.trim() !== '') return name;
  throw new AppError('usage', 'the name is empty', { hint: 'restaurant find "Nopa" --city "San Francisco"' });
}

function noCity(name: string): never {
  throw new AppError('usage', 'find needs a city', {
    hint: `restaurant find ${JSON.stringify(name)} --city "San Francisco", or for all searches: restaurant config set city "San Francisco"`,
  });
}

async function show(
  app: App,
  answer: FindResult,
  kept: readonly unknown[],
  asked: { name: string; city: string; at: number },
): Promise<void> {
  const { writeResult } = await import('../app/output.ts');
  const cut = kept.length !== answer.results.length;
  const json = cut ? { ...answer.output, results: kept } : answer.output;
  await writeResult(app, {
    json,
    present: async () => ({
      ...(await import('../output/render/find.ts')).findPresentation(json, kept),
      page: async (columns) => {
        const { findPage } = await import('../output/html/rows.ts');
        return findPage(kept, { ...asked, total: answer.output.total_matches }, columns);
      },
    }),
  });
}

const filtersOf = (query: FindFilters): string[] =>
  (['cuisine', 'neighborhood', 'grade'] as const).flatMap((name) =>
    query[name] === undefined ? [] : [`--${name} ${JSON.stringify(query[name])}`],
  );

async function footer(
  app: App,
  answer: FindResult,
  shown: number,
  query: FindFilters & { name: string; city: string },
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
  const age = cachedAt === undefined ? '' : ' · from the cache (--max-age 0 asks again)';
  // The fullest of these that a line holds.
  const next = `${count} · restaurant lookup 1${app.globals.demo === true ? ' --demo' : ''}`;
  const forms = [`${next} for details${age}`, `${next} for details`, next, count];
  await app.note(forms.find((form) => form.length < app.context.stderr.columns) ?? count);
}

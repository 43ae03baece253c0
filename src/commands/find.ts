import type { App } from '../app/app.ts';
import { saveResults } from '../app/last-results.ts';
import { outputFormat, writeResult, writesToTerminal } from '../app/output.ts';
import { runServiceCommand } from '../app/request.ts';
import { requireEndpoint } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, ERROR, integer, list, object, RESTAURANT, text } from '../cli/schemas.ts';
import type { FindResult } from '../client/find-result.ts';
import { type FindQuery, findCall, LEVELS, type Level } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { nonEmpty } from '../settings/values.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { shellWord } from '../util/shell.ts';
import type { Detailed } from './find/details.ts';
import {
  DISTANCE,
  explainEmpty,
  parseMinGrade,
  parsePoint,
  type Refinement,
  refine,
  SORT_KEYS,
} from './find/refine.ts';

const FIND_OUTPUT = anyOf(object({ 'status?': text, results: list(RESTAURANT), 'total_matches?': integer }), {
  ...list(
    anyOf(object({ result: RESTAURANT, details: anyObject }), object({ result: RESTAURANT, error: ERROR })),
  ),
  description: 'with --fields: the results with their details',
});

/** Maximum number of lookups with `--fields` and without `--limit`. */
const DEFAULT_LOOKUPS = 10;

interface FindOptions extends Refinement {
  city?: string;
  /** Level of detail to look up for each result. */
  fields?: Level;
}

export function registerFind(command: CliCommand, app: App): void {
  command
    .about('Search restaurants by name and city')
    .argument('<name...>', 'Name of the restaurant, or part of it')
    .valueOption('-c, --city <city>', 'City to search in; required unless one is set', { read: nonEmpty })
    .listOption('--cuisine <text>', 'Only restaurants of this cuisine; repeatable', nonEmpty)
    .listOption('--neighborhood <text>', 'Only restaurants in this neighborhood; repeatable', nonEmpty)
    .listOption('--grade <grade>', 'Only restaurants with this grade; repeatable', nonEmpty)
    .valueOption('--min-grade <grade>', 'Only restaurants with this grade or better', { read: parseMinGrade })
    .valueOption('--sort <key>', 'Sort the results', { choices: SORT_KEYS })
    .valueOption('--near <lat,lng>', 'Add the distance from this place and sort by it', { read: parsePoint })
    .valueOption('-n, --limit <n>', 'Maximum number of results, 1 to 1000', { range: [1, 1000] })
    .valueOption(
      '--fields <level>',
      'Also look up each result: one request each, at most 10 without --limit',
      {
        choices: LEVELS.filter((level) => level !== 'basic'),
      },
    )
    .usesOptions('service', 'request', 'cache', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(FIND_OUTPUT)
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant find Tide -c London --min-grade B --sort grade --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Filters, --sort, and --limit apply to what the service returned. With --city, a name of several words needs ' +
        'no quotes. The rows are numbered: restaurant lookup 2 shows the details of row 2.',
    )
    .action((words: string[], options: FindOptions) => runFind(app, words, options));
}

async function runFind(app: App, words: readonly string[], options: FindOptions): Promise<void> {
  const { fields, near, sort } = options;
  const limit = options.limit ?? (fields === undefined ? undefined : DEFAULT_LOOKUPS);
  const extra = near === undefined ? [] : [DISTANCE];
  const columns = [...SUMMARY_COLUMNS, ...extra];
  await runServiceCommand(app, {
    // The details can have any field.
    columns: fields === undefined ? columns : [],
    service: { paced: fields !== undefined },
    plan: () => readQuery(app, words, options),
    preview: (query) => [findCall(query)],
    send: async (service, query) => {
      const found = await app.withSpinner(`searching ${query.name} in ${query.city}`, () =>
        service.find(query),
      );
      const kept = refine(found.answer.results, { ...options, limit });
      if (fields === undefined) return { ...found, kept, detailed: undefined };
      const { lookupResults } = await import('./find/details.ts');
      const detailed = await lookupResults(app, service, kept, fields);
      return { ...found, kept, detailed };
    },
    write: async (found, query) => {
      const { answer, cachedAt, kept, detailed } = found;
      saveResults(app, query, kept, writesToTerminal(app) && outputFormat(app) === 'table');
      if (detailed !== undefined) {
        const { detailedJson, detailedPresentation } = await import('./find/details.ts');
        await writeResult(app, detailedJson(detailed), async () => detailedPresentation(detailed, columns));
      } else {
        const isReceived = kept.length === answer.results.length && near === undefined && sort === undefined;
        const json = isReceived ? answer.output : { ...answer.output, results: kept };
        const search = { ...query, at: cachedAt ?? app.context.now(), total: answer.output.total_matches };
        await writeResult(app, json, async () => {
          const { findPresentation } = await import('../output/render/find.ts');
          return findPresentation(json, kept, search, extra);
        });
      }
      const note = footer(app, found, query, options);
      if (note !== undefined) await app.note(note);
      reportFailures(answer, detailed);
    },
  });
}

/** Reads and checks the query. @throws {AppError} `no_service`, `usage` */
async function readQuery(
  app: App,
  words: readonly string[],
  { city, sort, near }: FindOptions,
): Promise<FindQuery> {
  const usage = (message: string, hint: string): AppError => new AppError('usage', message, { hint });
  if (sort === 'distance' && near === undefined) {
    throw usage('--sort distance needs a place to measure from', 'restaurant … --near 37.77,-122.43');
  }
  if (app.globals.demo !== true) requireEndpoint(app);
  const name = words.join(' ');
  if (name.trim() === '') throw usage('the name is empty', 'restaurant find "Nopa" --city "San Francisco"');
  if ([...words, city ?? ''].some((value) => app.redact(value) !== value)) {
    throw usage('an argument looks like an API key; nothing was sent', 'save a key with: restaurant login');
  }
  if (city !== undefined) return { name, city };
  const saved = app.settings.get('city');
  if (words.length > 1) {
    // The last word may be the city, or a part of the name.
    const [first, last] = [words.slice(0, -1).join(' '), words.at(-1) ?? ''];
    throw usage(
      `find takes one name unless --city is given, got ${words.map(shellWord).join(' ')}`,
      saved === undefined
        ? `restaurant find ${shellWord(first)} --city ${shellWord(last)}`
        : `restaurant find ${shellWord(name)}, or restaurant find ${shellWord(first)} --city ${shellWord(last)}`,
    );
  }
  const known = saved ?? (await promptForCity(app));
  if (known !== undefined) return { name, city: known };
  // A damaged config file may contain the city.
  app.config();
  throw usage(
    'find needs a city',
    'restaurant … --city "San Francisco", or for all searches: restaurant config set city "San Francisco"',
  );
}

/** Prompts for the city, and offers to save it; undefined if no prompt is possible. */
async function promptForCity(app: App): Promise<string | undefined> {
  if (!app.canPrompt || app.wantsJson) return undefined;
  const { prompt } = app.context;
  const city = (await prompt.text('City', 'San Francisco')).trim();
  if (city === '') return undefined;
  const reply = await prompt.text(`Save ${city} as the default city?`, 'y/N');
  if (/^y(es)?$/i.test(reply.trim())) {
    await app.updateConfig((file) => {
      file.settings = { ...file.settings, city };
    });
    await app.note('saved; restaurant config unset city removes it');
  }
  return city;
}

interface Found {
  readonly answer: FindResult;
  readonly kept: readonly unknown[];
  readonly cachedAt?: number | undefined;
}

/** Returns the note below the results; undefined if none is needed. */
function footer(
  app: App,
  { answer, kept, cachedAt }: Found,
  { name, city }: FindQuery,
  options: FindOptions,
): string | undefined {
  const { results, output } = answer;
  if (results.length === 0) {
    return `nothing found for ${name} in ${city}: try a shorter name, and check how the city is spelled`;
  }
  if (kept.length === 0) return explainEmpty(results, options);
  // Row numbers refer to a table on the terminal.
  if (!writesToTerminal(app) || outputFormat(app) !== 'table') return undefined;
  const [shown, total] = [kept.length, output.total_matches];
  const parts = [
    total > shown ? `${shown} of ${total} matches` : shown === 1 ? '1 match' : `${shown} matches`,
    `restaurant lookup 1${app.globals.demo === true ? ' --demo' : ''} for details`,
    ...(cachedAt === undefined ? [] : ['from the cache (--max-age 0 refreshes)']),
  ];
  // As many as fit on one line.
  while (parts.length > 1 && parts.join(' · ').length >= app.context.stderr.columns) parts.pop();
  return parts.join(' · ');
}

/** @throws {AppError} `partial` when a result or its details are missing */
function reportFailures({ results, unreadable }: FindResult, detailed: readonly Detailed[] = []): void {
  const failed = detailed.flatMap((each) => ('error' in each ? [each.error] : []));
  const [first] = failed;
  if (first !== undefined) {
    throw new AppError('partial', `${failed.length} of ${detailed.length} lookups failed: ${first.message}`, {
      hint: first.hint,
      retryable: failed.some(({ retryable }) => retryable),
    });
  }
  if (unreadable === 0) return;
  throw new AppError('partial', `${unreadable} of ${results.length} results cannot be read`, {
    hint: 'restaurant … --json prints them as received',
  });
}

import type { App } from '../app/app.ts';
import { saveResults } from '../app/last-results.ts';
import { writeResult } from '../app/output.ts';
import { writesToTerminal } from '../app/output-file.ts';
import { outputFormat } from '../app/output-format.ts';
import { runServiceCommand } from '../app/request.ts';
import type { Received } from '../app/service.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, ERROR, integer, list, object, RESTAURANT, text } from '../cli/schemas.ts';
import { type FindResult, LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { FindQuery, Level } from '../client/types.ts';
import { failure } from '../errors.ts';
import { again, type Message, restaurant } from '../hint.ts';
import { nonEmpty } from '../settings/values.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import type { Detailed } from './find/details.ts';
import { readQuery } from './find/query.ts';
import {
  DISTANCE,
  explainEmpty,
  parseMinGrade,
  parsePoint,
  type Refinement,
  refine,
  SORT_KEYS,
  withCount,
} from './find/refine.ts';

const FIND_OUTPUT = anyOf(
  object({ 'status?': text, results: list(RESTAURANT), 'total_matches?': integer, 'shown?': integer }),
  {
    ...list(
      anyOf(object({ result: RESTAURANT, details: anyObject }), object({ result: RESTAURANT, error: ERROR })),
    ),
    description: 'with --fields: the results with their details',
  },
);

/** Maximum number of lookups with `--fields` and without `--limit`. */
const DEFAULT_LOOKUPS = 10;

interface FindOptions extends Refinement {
  city?: string;
  fields?: Level;
}

export function registerFind(command: CliCommand, app: App): void {
  command
    .about('Search restaurants by name and city')
    .argument('<name...>', 'Name of the restaurant, or part of it')
    .valueOption('-c, --city <city>', 'City to search in (default: your saved city)', { read: nonEmpty })
    .listOption('--cuisine <text>', 'Filter by cuisine (repeatable)', nonEmpty)
    .listOption('--neighborhood <text>', 'Filter by neighborhood (repeatable)', nonEmpty)
    .listOption('--grade <grade>', 'Filter by grade (repeatable)', nonEmpty)
    .valueOption('--min-grade <grade>', 'Filter by minimum grade', {
      read: parseMinGrade,
      example: 'B',
    })
    .valueOption('--sort <key>', 'Sort the results', { choices: SORT_KEYS })
    .valueOption('--near <lat,lng>', 'Add the distance from this location and sort by it', {
      read: parsePoint,
      example: '37.77,-122.43',
    })
    .valueOption('-n, --limit <n>', 'Maximum number of results, 1 to 1000', {
      range: [1, 1000],
      example: '10',
    })
    .valueOption('--fields <level>', 'Include details for every result (one request per result, up to 10)', {
      choices: LEVELS.filter((level) => level !== 'basic'),
    })
    .usesOptions('service', 'request', 'cache', 'offline', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(FIND_OUTPUT)
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant find Tide -c London --min-grade B --sort grade --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Filters, --sort, and --limit apply to the results that the service returns. With --city, a name of several ' +
        'words needs no quotes. Rows are numbered: restaurant lookup 2 shows the details of row 2.',
    )
    .action((words: string[], options: FindOptions) => runFind(app, words, options));
}

async function runFind(app: App, words: readonly string[], options: FindOptions): Promise<void> {
  const { fields, near } = options;
  const limit = options.limit ?? (fields === undefined ? undefined : DEFAULT_LOOKUPS);
  const extra = near === undefined ? [] : [DISTANCE];
  const columns = [...SUMMARY_COLUMNS, ...extra];
  await runServiceCommand(app, {
    // The details can have any field.
    columns: fields === undefined ? columns : [],
    output: fields === undefined ? 'restaurants' : 'details',
    service: { paced: fields !== undefined },
    plan: () => readQuery(app, words, options),
    preview: (query) => [plannedCall(TOOLS.find, query)],
    send: async (service, query) => {
      const response = await app.notes.withSpinner(`searching ${query.name} in ${query.city}`, () =>
        service.call(TOOLS.find, query),
      );
      const rows = refine(response.value.results, { ...options, limit });
      if (fields === undefined) return { ...response, rows, detailed: undefined };
      const { lookupResults } = await import('./find/details.ts');
      const detailed = await lookupResults(app, service, rows, fields);
      return { ...response, rows, detailed };
    },
    write: async (response, query) => {
      const { value: answer, rows, detailed } = response;
      saveResults(app, query, rows, writesToTerminal(app) && outputFormat(app) === 'table');
      if (detailed !== undefined) {
        const { detailedJson, detailedPresentation } = await import('./find/details.ts');
        await writeResult(app, detailedJson(detailed), async () => detailedPresentation(detailed, columns));
      } else {
        await writeSummaries(app, response, query, options);
      }
      const note = await footer(app, response, query, options);
      if (note !== undefined) await app.notes.note(note);
      await reportFailures(answer, detailed);
    },
  });
}

interface Results extends Received<FindResult> {
  readonly rows: readonly unknown[];
}

async function writeSummaries(
  app: App,
  { value: answer, rows, text: received, cachedAt }: Results,
  query: FindQuery,
  options: FindOptions,
): Promise<void> {
  const { near, sort } = options;
  const isReceived = rows.length === answer.results.length && near === undefined && sort === undefined;
  const json = isReceived ? answer.output : { ...answer.output, results: rows };
  const printed = app.globals.jq === undefined ? withCount(json, rows, options) : json;
  const search = { ...query, at: cachedAt ?? app.context.now(), total: answer.output.total_matches };
  const present = async () => {
    const { findPresentation } = await import('../output/render/find.ts');
    return findPresentation(json, rows, search, near === undefined ? [] : [DISTANCE]);
  };
  await writeResult(app, printed, present, printed === answer.output ? received : undefined);
}

async function footer(
  app: App,
  { value, rows, cachedAt }: Results,
  query: FindQuery,
  refinement: Refinement,
): Promise<Message | undefined> {
  if (!app.terminal.isInteractive) return undefined;
  const { results, output } = value;
  if (results.length === 0) return (await import('./find/suggest.ts')).nothingFound(app, query);
  if (rows.length === 0) return explainEmpty(results, refinement);
  // Row numbers refer to a table on the terminal.
  if (!writesToTerminal(app) || outputFormat(app) !== 'table') return undefined;
  const { hintOf } = await import('../app/hints.ts');
  const [count, total] = [rows.length, output.total_matches];
  const matches = count === 1 ? '1 match' : `${count} matches`;
  const parts = [
    total > count ? `${count} of ${total} matches` : matches,
    `${hintOf(app, { command: restaurant('lookup', '1') })} for details`,
    ...(cachedAt === undefined || app.globals.offline ? [] : ['from the cache (--max-age 0 refreshes)']),
  ];
  // As many as fit on one line.
  while (parts.length > 1 && parts.join(' · ').length >= app.context.stderr.columns) parts.pop();
  return parts.join(' · ');
}

/** @throws {AppError} `partial` when a result or its details are missing */
async function reportFailures(
  { results, unreadable }: FindResult,
  detailed?: readonly Detailed[],
): Promise<void> {
  if (detailed !== undefined) (await import('./find/details.ts')).assertDetails(detailed);
  if (unreadable === 0) return;
  throw failure('partial', `${unreadable} of ${results.length} results cannot be read`, {
    text: 'to print them as received',
    command: again({ '--json': true }),
  });
}

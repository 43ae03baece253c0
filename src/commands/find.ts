import type { App } from '../app/app.ts';
import { keepResults } from '../app/last-results.ts';
import { checkOutput, showsNumbers, writeResult } from '../app/output.ts';
import { previewOrOpen } from '../app/request.ts';
import type { CliCommand } from '../cli/command.ts';
import { LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { Level } from '../client/types.ts';
import { nonEmpty } from '../settings/values.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { FIND_OUTPUT, reportSearch, summaries } from './find/listing.ts';
import { readQuery } from './find/query.ts';
import { checkResultOptions, DISTANCE, type Refinement, refine, resultOptions } from './find/refine.ts';

/** Maximum number of lookups with `--fields` and without `--limit`. */
const DEFAULT_LOOKUPS = 10;

interface FindOptions extends Refinement {
  city?: string;
  fields?: Level;
}

export function registerFind(command: CliCommand, app: App): void {
  command.suggest = async () => ({
    command: (await import('../app/city.ts')).citySearch(app, command.args),
  });
  const described = command
    .about('Search restaurants by name and city')
    .argument('<name...>', 'Name of the restaurant, or part of it')
    .valueOption('-c, --city <city>', 'City to search in (default: your saved city)', { read: nonEmpty });
  resultOptions(described)
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
  const columns = near === undefined ? SUMMARY_COLUMNS : [...SUMMARY_COLUMNS, DISTANCE];
  // The details can have any field.
  if (fields === undefined) await checkOutput(app, 'restaurants', columns);
  else await checkOutput(app, 'details');
  checkResultOptions(options);
  const query = await readQuery(app, words, options.city);
  const patience = fields === undefined ? undefined : 'max-wait';
  const service = await previewOrOpen(app, () => [plannedCall(TOOLS.find, query)], { patience });
  if (service === undefined) return;
  const label = `searching ${query.name} in ${query.city}`;
  const response = await app.notes.withSpinner(label, service.call(TOOLS.find, query));
  const rows = refine(response.value.results, { ...options, limit });
  const listing =
    fields === undefined
      ? summaries(app, response, rows, query, options)
      : await (await import('./find/details.ts')).withDetails(
          app,
          service,
          response.value,
          rows,
          fields,
          columns,
        );
  keepResults(app, query, rows, showsNumbers(app));
  await writeResult(app, listing.json, listing.present, listing.received);
  await reportSearch(app, response, rows, query, options);
  listing.assertComplete();
}

import { requireEndpoint } from '../app/address.ts';
import { refuseKey } from '../app/api-key.ts';
import type { App } from '../app/app.ts';
import type { Place } from '../app/city.ts';
import { needsDemo } from '../app/demo.ts';
import { saveResults } from '../app/last-results.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import { showsNumbers } from '../app/output-format.ts';
import { isPreview, requestService } from '../app/request.ts';
import type { CliCommand } from '../cli/command.ts';
import { LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { FindQuery, Level } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import { nonEmpty } from '../settings/values.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import { FIND_OUTPUT, reportSearch, summaries } from './find/listing.ts';
import { checkResultOptions, DISTANCE, type Refinement, refine, resultOptions } from './find/refine.ts';

/** Maximum number of lookups with `--fields` and without `--limit`. */
const DEFAULT_LOOKUPS = 10;

interface FindOptions extends Refinement {
  city?: string;
  fields?: Level;
}

export function registerFind(command: CliCommand, app: App): void {
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
  const paced = fields !== undefined;
  const service = await requestService(app, () => [plannedCall(TOOLS.find, query)], { paced, bounded: true });
  if (service === undefined) return;
  const spinner = await app.notes.spin(`searching ${query.name} in ${query.city}`);
  const response = await service.call(TOOLS.find, query).finally(() => spinner.end());
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
  saveResults(app, query, rows, showsNumbers(app));
  await writeResult(app, listing.json, listing.present, listing.received);
  await reportSearch(app, response, rows, query, options);
  listing.assertComplete();
}

/** Reads and checks the query. @throws {AppError} `no_service`, `usage` */
async function readQuery(app: App, words: readonly string[], city: string | undefined): Promise<FindQuery> {
  const name = words.join(' ');
  if (name.trim() === '') {
    throw usage('the name is empty', { command: restaurant('find', '--help') });
  }
  refuseKey(app, 'an argument', [...words, city ?? '']);
  // A name that follows the command needs no check.
  if (app.program?.words.join('\n').includes(['find', ...words].join('\n')) === false)
    (await import('../cli/stray-words.ts')).checkAdjacent(app.program, words);
  const query = city === undefined ? await completed(app, words) : { name, city };
  if (app.globals.demo !== true) requireEndpoint(app);
  return query;
}

/** Returns the query with the city of its words, the default city, or that of a reply. @throws {AppError} `usage` */
async function completed(app: App, words: readonly string[]): Promise<FindQuery> {
  const name = words.join(' ');
  const certain = words.some((word) => /[,:=]/.test(word)) ? await placeIn(app, words) : undefined;
  if (certain?.isCertain) {
    const command = again({ '--city': certain.city }, { operands: [certain.name] });
    await app.notes.note({ text: 'taken as', command });
    return certain;
  }
  const saved = app.settings.get('city');
  // A preview cannot show a URL of the embedded sandbox.
  if (saved === undefined && isPreview(app) && app.globals.demo !== true) requireEndpoint(app);
  if (saved !== undefined) return { name, city: saved };
  // A damaged config file may contain the city.
  app.config.file();
  if (app.terminal.canPrompt && !app.terminal.wantsJson && !needsDemo(app)) {
    const place = await placeIn(app, words);
    const reply = await promptForCity(app, place?.city);
    if (reply !== '') return { name: reply === place?.city ? place.name : name, city: reply };
  }
  throw (await import('./find/suggest.ts')).noCityError(app, words);
}

async function placeIn(app: App, words: readonly string[]): Promise<Place | undefined> {
  const { readPlace } = await import('../app/city.ts');
  const { seenResults } = await import('../app/last-results.ts');
  return readPlace(words, () => seenResults(app));
}

/** @param likely the city that the words probably contain, which an empty reply accepts */
async function promptForCity(app: App, likely: string | undefined): Promise<string> {
  const { prompt } = app.context;
  const question =
    likely === undefined ? prompt.text('City', 'San Francisco') : prompt.text(`City [${likely}]`);
  const city = (await question).trim() || likely;
  if (city === undefined) return '';
  const reply = await prompt.text(`Save ${city} as the default city?`, 'y/N');
  if (/^y(es)?$/i.test(reply.trim())) {
    await app.config.update((file) => {
      file.settings = { ...file.settings, city };
    });
    await app.notes.note('saved; restaurant config unset city removes it');
  }
  return city;
}

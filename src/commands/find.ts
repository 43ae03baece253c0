import type { App } from '../app/app.ts';
import type { CliCommand, JsonSchema } from '../cli/command.ts';
import { listOption, valueOption } from '../cli/option.ts';
import { ERROR, list, object, RESTAURANT, text } from '../cli/schemas.ts';
import type { FindResult } from '../client/results.ts';
import { LEVELS, type Level } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { nonEmpty, oneOf, wholeNumber } from '../settings/values.ts';
import { shellWord } from '../util/shell.ts';
import { SUMMARY_COLUMNS } from '../util/summary-columns.ts';
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

/** Schema of what `find --json` prints. */
const FIND_OUTPUT: JsonSchema = {
  anyOf: [
    object({ status: text, results: list(RESTAURANT), total_matches: { type: 'integer' } }, ['results']),
    {
      description: 'with --fields: the results with their details',
      ...list({
        anyOf: [
          object({ result: RESTAURANT, details: { type: 'object' } }),
          object({ result: RESTAURANT, error: ERROR }),
        ],
      }),
    },
  ],
};

/** Levels of detail that `--fields` adds to each result. */
const DETAIL_LEVELS = LEVELS.filter((level) => level !== 'basic');
/** Maximum number of lookups of `--fields` when there is no `--limit`. */
const DEFAULT_LOOKUPS = 10;

interface FindOptions extends Refinement {
  city?: string;
  fields?: Level;
  openNow?: true;
}

/** Adds `find` to the program. */
export function registerFind(program: CliCommand, app: App, action = runFind): void {
  program
    .command('find')
    .summary('Search restaurants by name and city')
    .description('Search restaurants by name and city.')
    .argument('<name...>', 'Name of the restaurant, or part of it')
    .addOption(
      valueOption('-c, --city <city>', 'City to search in; required unless one is set', { read: nonEmpty }),
    )
    .addOption(listOption('--cuisine <text>', 'Only restaurants of this cuisine; repeatable', nonEmpty))
    .addOption(
      listOption('--neighborhood <text>', 'Only restaurants in this neighborhood; repeatable', nonEmpty),
    )
    .addOption(listOption('--grade <grade>', 'Only restaurants with this grade; repeatable', nonEmpty))
    .addOption(
      valueOption('--min-grade <grade>', 'Only restaurants with this grade or better', {
        read: parseMinGrade,
      }),
    )
    .addOption(
      valueOption('--sort <key>', 'Sort the results', { read: oneOf(SORT_KEYS), choices: SORT_KEYS }),
    )
    .addOption(
      valueOption('--near <lat,lng>', 'Add the distance from this place and sort by it', {
        read: parsePoint,
      }),
    )
    .addOption(
      valueOption('-n, --limit <n>', 'Maximum number of results, 1 to 1000', {
        read: wholeNumber(1, 1000),
        integer: true,
      }),
    )
    .addOption(
      valueOption('--fields <level>', 'Also look up every result (one request each; at most 10 by default)', {
        read: oneOf(DETAIL_LEVELS),
        choices: DETAIL_LEVELS,
      }),
    )
    .option('--open-now', 'Only restaurants that are open now; with --fields')
    .usesOptions('service', 'request', 'cache', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(FIND_OUTPUT)
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant find Tide -c London --min-grade B --sort grade --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Filters, --sort and --limit apply to what the service returned. Several words need no quotes when --city ' +
        'is given. The rows are numbered: restaurant lookup 2 shows the second one.',
    )
    .action((words: string[], options: FindOptions) => action(app, words, options));
}

interface Query {
  readonly name: string;
  readonly city: string;
}

async function runFind(app: App, words: readonly string[], options: FindOptions): Promise<void> {
  const { findCall, runServiceCommand } = await import('../app/request.ts');
  const { fields, near } = options;
  const extra = near === undefined ? [] : [DISTANCE];
  const columns = [...SUMMARY_COLUMNS, ...extra];
  await runServiceCommand(app, {
    // The details may have any field.
    columns: fields === undefined ? columns : [],
    service: { paced: fields !== undefined },
    plan: () => readQuery(app, words, options),
    preview: (query) => [findCall(query)],
    send: async (service, query) => {
      const found = await app.withSpinner(`searching ${query.name} in ${query.city}`, () =>
        service.find(query),
      );
      const limit = options.limit ?? (fields === undefined ? undefined : DEFAULT_LOOKUPS);
      const kept = refine(found.answer.results, { ...options, ...(limit === undefined ? {} : { limit }) });
      if (fields === undefined) return { ...found, kept, detailed: undefined };
      const { lookupResults } = await import('./find/details.ts');
      const detailed = await lookupResults(app, service, kept, fields);
      if (options.openNow !== true) return { ...found, kept, detailed };
      const { isOpenAt } = await import('./find/open-now.ts');
      const now = new Date(app.context.now());
      const open = detailed.filter((each) => 'error' in each || isOpenAt(each.details, now) === true);
      return { ...found, kept: open.map(({ result }) => result), detailed: open };
    },
    write: async ({ answer, cachedAt, kept, detailed }, query) => {
      const { outputFormat, writesToTerminal } = await import('../app/output.ts');
      const { saveResults } = await import('../app/last-results.ts');
      const isShown = writesToTerminal(app) && outputFormat(app) === 'table';
      saveResults(app, query, kept, isShown);
      if (detailed === undefined) {
        await writeRows(app, answer, kept, { ...query, at: cachedAt ?? app.context.now() }, options, extra);
      } else {
        const { writeResult } = await import('../app/output.ts');
        const { detailedPresentation } = await import('./find/details.ts');
        await writeResult(app, await detailedPresentation(detailed, columns));
      }
      await printFooter(app, answer, kept, query, options, cachedAt);
      assertComplete(answer, detailed);
    },
  });
}

/** Checks what is searched for. @throws {AppError} `no_service`, `usage` */
async function readQuery(
  app: App,
  words: readonly string[],
  { city, fields, openNow }: FindOptions,
): Promise<Query> {
  if (openNow === true && fields === undefined) {
    throw new AppError('usage', '--open-now needs the opening hours of each result', {
      hint: app.commandLine('--fields', 'standard'),
    });
  }
  if (app.globals.demo !== true) {
    const { requireEndpoint } = await import('../app/target.ts');
    requireEndpoint(app);
  }
  const name = words.join(' ');
  if (name.trim() === '') {
    throw new AppError('usage', 'the name is empty', {
      hint: 'restaurant find "Nopa" --city "San Francisco"',
    });
  }
  for (const value of [...words, city ?? '']) {
    if (app.redact(value) === value) continue;
    throw new AppError('usage', 'one of the words looks like an API key; nothing was sent', {
      hint: 'save a key with: restaurant login',
    });
  }
  if (city !== undefined) return { name, city };
  const saved = app.settings.get('city');
  if (words.length > 1) throw severalWords(app, words, saved);
  return { name, city: saved ?? (await promptForCity(app)) ?? missingCity(app) };
}

/** The error for words that may be a name, or a name and a city. */
function severalWords(app: App, words: readonly string[], saved: string | undefined): AppError {
  const given = app.commandLine().replace(/^restaurant find /, '');
  const last = words.at(-1) ?? '';
  const name = words.slice(0, -1).join(' ');
  const options = app.globals.demo === true ? ' --demo' : '';
  const hint =
    saved === undefined
      ? `restaurant find ${shellWord(name)} --city ${shellWord(last)}${options}`
      : `restaurant find ${shellWord(words.join(' '))}${options}, or with the city: restaurant find ${shellWord(name)} --city ${shellWord(last)}${options}`;
  return new AppError('usage', `find takes one name unless --city is given, got ${given}`, { hint });
}

function missingCity(app: App): never {
  throw new AppError('usage', 'find needs a city', {
    hint: `${app.commandLine('--city', '"San Francisco"')}, or for all searches: restaurant config set city "San Francisco"`,
  });
}

/** Asks for the city at a terminal, and offers to save it. Undefined where nobody can answer. */
async function promptForCity(app: App): Promise<string | undefined> {
  if (!app.canPrompt || app.wantsJson) return undefined;
  const city = (await app.context.prompt.text('City', 'San Francisco')).trim();
  if (city === '') return undefined;
  const reply = await app.context.prompt.text(
    `Search in ${city} from now on, when no --city is given?`,
    'y/N',
  );
  if (/^y(es)?$/i.test(reply.trim())) {
    await app.updateConfig((file) => {
      file.settings = { ...file.settings, city };
    });
    await app.note('saved; restaurant config unset city forgets it');
  }
  return city;
}

async function writeRows(
  app: App,
  answer: FindResult,
  kept: readonly unknown[],
  search: Query & { at: number },
  { near, sort }: FindOptions,
  extra: readonly string[],
): Promise<void> {
  const { writeResult } = await import('../app/output.ts');
  const isChanged = kept.length !== answer.results.length || near !== undefined || sort !== undefined;
  const json = isChanged ? { ...answer.output, results: kept } : answer.output;
  await writeResult(app, {
    json,
    present: async () => ({
      ...(await import('../output/render/find.ts')).findPresentation(json, kept, extra),
      page: async (columns) => {
        const { findPage } = await import('../output/html/rows.ts');
        return findPage(kept, { ...search, total: answer.output.total_matches }, columns);
      },
    }),
  });
}

async function printFooter(
  app: App,
  answer: FindResult,
  kept: readonly unknown[],
  query: Query,
  options: FindOptions,
  cachedAt: number | undefined,
): Promise<void> {
  const { results } = answer;
  if (results.length === 0) {
    return app.note(
      `nothing found for ${query.name} in ${query.city}: try a shorter name, and check how the city is spelled`,
    );
  }
  if (kept.length === 0) {
    return app.note(
      options.openNow === true
        ? 'none of the results that were looked up is open now'
        : explainEmpty(results, options),
    );
  }
  const { writesToTerminal } = await import('../app/output.ts');
  if (!writesToTerminal(app)) return;
  const shown = kept.length;
  const total = answer.output.total_matches;
  const count = total > shown ? `${shown} of ${total} matches` : shown === 1 ? '1 match' : `${shown} matches`;
  const age = cachedAt === undefined ? '' : ' · from the cache (--max-age 0 refreshes)';
  // The fullest of these that fits on one line.
  const next = `${count} · restaurant lookup 1${app.globals.demo === true ? ' --demo' : ''}`;
  const choices = [`${next} for details${age}`, `${next} for details`, next, count];
  await app.note(choices.find((choice) => choice.length < app.context.stderr.columns) ?? count);
}

/** @throws {AppError} `partial` when a result or its details are missing */
function assertComplete({ results, unreadable }: FindResult, detailed: readonly Detailed[] = []): void {
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
    hint: 'restaurant find … --json shows them as received',
  });
}

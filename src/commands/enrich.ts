import type { App } from '../app/app.ts';
import type { CliCommand, JsonSchema } from '../cli/command.ts';
import { listOption, valueOption } from '../cli/option.ts';
import { object } from '../cli/schemas.ts';
import { LEVELS } from '../client/types.ts';
import { LIST_FORMATS } from '../enrich/read/row.ts';
import type { EnrichFlags } from '../enrich/run/options.ts';
import { nonEmpty, oneOf, wholeNumber } from '../settings/values.ts';

const PROGRESS = ['json'] as const;

const count: JsonSchema = { type: 'integer', minimum: 0 };
const countOrNull: JsonSchema = { type: ['integer', 'null'], minimum: 0 };
const textOrNull: JsonSchema = { type: ['string', 'null'] };

const SUMMARY = {
  rows: { ...countOrNull, description: 'rows of the list; null where the end was not seen' },
  done: count,
  earlier: { ...count, description: 'of those, rows of an earlier run' },
  matched: count,
  ambiguous: count,
  not_found: count,
  errors: count,
  unusable: { ...count, description: 'rows without a name, a city or an id' },
  requests: count,
  finished: { type: 'boolean' },
  output: { ...textOrNull, description: 'the output file; null for stdout' },
  report: { ...textOrNull, description: 'the page that was made of it' },
  next: { ...textOrNull, description: 'the command that goes on' },
};

const ESTIMATE = object({
  rows: count,
  done: count,
  unusable_rows: count,
  unusable_lines: { type: 'array', items: count, description: 'where the first ten of them stand' },
  distinct_queries: count,
  cached: count,
  requests: count,
  requests_at_most: { ...count, description: 'with lookups of all that may be found' },
  per_minute: count,
  per_day: count,
  left_today: countOrNull,
  minutes: { type: ['number', 'null'] },
  days: { type: ['number', 'null'] },
});

/** What `enrich --json` prints where the rows go into a file; with `--dry-run` the estimate. */
const ENRICH_OUTPUT: JsonSchema = {
  anyOf: [
    { ...object(SUMMARY), description: 'the summary of a run' },
    { ...ESTIMATE, description: 'with --dry-run: what the run would take' },
  ],
};

const event = (name: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ event: { const: name }, ...properties });

/** A line on stderr of `enrich --progress json`; a failure is a last line in the form of errors. */
const ENRICH_EVENTS: JsonSchema = {
  anyOf: [
    event('start', { rows: countOrNull }),
    event('progress', {
      rows: countOrNull,
      done: count,
      matched: count,
      ambiguous: count,
      not_found: count,
      errors: count,
      requests: count,
      left_today: countOrNull,
      seconds_left: countOrNull,
    }),
    event('waiting', { until: { type: 'string', format: 'date-time' }, why: { type: 'string' } }),
    event('warning', { message: { type: 'string' } }),
    event('summary', SUMMARY),
  ],
};

/** Adds `enrich` to the program. */
export function registerEnrich(program: CliCommand, app: App, action = runEnrich): void {
  program
    .command('enrich')
    .summary('a long list in, the same list with restaurant data out')
    .description('Add restaurant data to every row of a CSV, TSV or NDJSON list.')
    .argument('<file>', 'the list, or - for stdin')
    .addOption(
      valueOption('--city <city>', 'city of all rows, for a list without a column', { read: nonEmpty }),
    )
    .option('--name-column <column>', 'column with the name (default: name, restaurant or title)')
    .option('--city-column <column>', 'column with the city (default: city or town)')
    .option('--id-column <column>', 'column with ids, looked up directly (default: service_id)')
    .addOption(
      valueOption('--fields <level>', 'look up each matched row too, at this level of detail', {
        read: oneOf(LEVELS),
        choices: LEVELS,
      }),
    )
    .addOption(listOption('--add <column=path>', 'a column with a value out of the details; repeatable'))
    .addOption(valueOption('--prefix <text>', 'what the new columns begin with', { default: 'restaurant_' }))
    .option('--resume', 'go on with the output file of a run that was stopped')
    .option('--retry-errors', 'with --resume: ask failed rows again')
    .addOption(
      valueOption('--concurrency <n>', 'rows under way at a time, 1 to 64', {
        read: wholeNumber(1, 64),
        default: 4,
        integer: true,
      }),
    )
    .addOption(
      valueOption('--per-minute <n>', 'requests a minute; 0 = no limit', {
        read: wholeNumber(0, 1_000_000),
        defaultText: '100',
        integer: true,
      }),
    )
    .addOption(
      valueOption('--per-day <n>', 'requests a day; 0 = no limit', {
        read: wholeNumber(0, 1_000_000_000),
        defaultText: '2000',
        integer: true,
      }),
    )
    .option('--wait', "when the day's budget is spent, sleep until there is room")
    .addOption(
      valueOption('--input-format <format>', 'form of the list', {
        read: oneOf(LIST_FORMATS),
        choices: LIST_FORMATS,
        defaultText: 'by extension',
      }),
    )
    .option('--encoding <label>', 'encoding of the list: windows-1252, utf-16le, shift_jis (default: utf-8)')
    .option('--delimiter <char>', 'comma, semicolon or tab (default: as the header line shows)')
    .option('--report <file>', 'also make a page with a map of the finished list: out.html')
    .addOption(
      valueOption('--progress <form>', 'progress as JSON lines on stderr', {
        read: oneOf(PROGRESS),
        choices: PROGRESS,
      }),
    )
    .usesOptions('service', 'request', 'cache', 'dry-run', 'json', 'format', 'file', 'page')
    .overrideOption('--dry-run', {
      description: 'count rows, queries, requests and days; send nothing, write nothing',
    })
    .overrideOption('--json', { description: 'print the summary as JSON; the rows go to -o' })
    .overrideOption('--format', {
      description: 'form of the rows; json: the summary alone',
      choices: [...LIST_FORMATS, 'json'],
      defaultText: 'by the extension of -o, else as the list',
    })
    .outputSchema(ENRICH_OUTPUT)
    .progressSchema(ENRICH_EVENTS)
    .examples(
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --demo',
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --fields standard --add phone=phone --demo',
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --dry-run',
    )
    .notes(
      'restaurant enrich places.csv -o out.csv writes the rows of places.csv, in their order,\n' +
        'with restaurant_status (matched, ambiguous, not_found, error) and what was found behind\n' +
        'them. The output is the checkpoint: after a stop of any kind, --resume goes on with it\n' +
        'and asks nothing twice. --dry-run says what a list would cost, and sends nothing.\n' +
        '--report out.html makes a page with a map when the list is done; of one that is done\n' +
        'already with --resume. --open shows it in the browser.\n' +
        'Exit 0 when no row is an error, 8 when some are, 5 when the budget is spent.',
    )
    .action((file: string, flags: EnrichFlags, command: CliCommand) =>
      action(app, file, flags, [command, program]),
    );
}

async function runEnrich(
  app: App,
  file: string,
  flags: EnrichFlags,
  given: readonly CliCommand[],
): Promise<void> {
  const { runEnrich: run } = await import('../enrich/run/command.ts');
  const { resumeCommand } = await import('../enrich/run/resume-command.ts');
  await run(app, file, flags, (...words) => resumeCommand(file, given, words));
}

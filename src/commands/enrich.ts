import { LEVELS } from '../api/types.ts';
import { nonEmpty, oneOf, wholeNumber } from '../config/values.ts';
import type { EnrichFlags } from '../enrich/options.ts';
import { LIST_FORMATS } from '../enrich/row.ts';
import type { App } from '../run/app.ts';
import type { CliCommand } from '../tree/command.ts';
import { flagValue } from '../tree/options.ts';

/** What `enrich --json` prints when the rows go into a file. */
const ENRICH_OUTPUT = {
  type: 'object',
  description: 'the summary of a run; with --dry-run the estimate',
  properties: {
    rows: { type: ['integer', 'null'] },
    done: { type: 'integer' },
    matched: { type: 'integer' },
    ambiguous: { type: 'integer' },
    not_found: { type: 'integer' },
    errors: { type: 'integer' },
    requests: { type: 'integer' },
    output: { type: ['string', 'null'] },
  },
  required: ['rows', 'done', 'requests'],
};

const collect = (value: string, sofar: string[] = []): string[] => [...sofar, value];

/** Adds `enrich` to the program. */
export function registerEnrich(program: CliCommand, app: App, action = runEnrich): void {
  program
    .command('enrich')
    .summary('a long list in, the same list with restaurant data out')
    .description('Add restaurant data to every row of a CSV, TSV or NDJSON list.')
    .argument('<file>', 'the list, or - for stdin')
    .option('--city <city>', 'city of all rows, for a list without a column', flagValue('--city', nonEmpty))
    .option('--name-column <column>', 'column with the name (default: name, restaurant or title)')
    .option('--city-column <column>', 'column with the city (default: city or town)')
    .option('--id-column <column>', 'column with ids, looked up directly (default: service_id)')
    .option(
      '--fields <level>',
      `look up each matched row too: ${LEVELS.join(', ')}`,
      flagValue('--fields', oneOf(LEVELS)),
    )
    .option('--add <column=path>', 'a column with a value out of the details; repeatable', collect)
    .option('--prefix <text>', 'what the new columns begin with (default restaurant_)', 'restaurant_')
    .option('--resume', 'go on with the output file of a run that was stopped')
    .option('--retry-errors', 'with --resume: ask failed rows again')
    .option(
      '--concurrency <n>',
      'rows under way at a time, 1 to 64 (default 4)',
      flagValue('--concurrency', wholeNumber(1, 64)),
      4,
    )
    .option(
      '--per-minute <n>',
      'requests a minute; 0 = no limit (default 100)',
      flagValue('--per-minute', wholeNumber(0, 1_000_000)),
    )
    .option(
      '--per-day <n>',
      'requests a day; 0 = no limit (default 2000)',
      flagValue('--per-day', wholeNumber(0, 1_000_000_000)),
    )
    .option('--wait', "when the day's budget is spent, sleep until there is room")
    .option(
      '--input-format <format>',
      `form of the list: ${LIST_FORMATS.join(', ')} (default: by extension)`,
      flagValue('--input-format', oneOf(LIST_FORMATS)),
    )
    .option('--delimiter <char>', 'comma, semicolon or tab (default: as the header line shows)')
    .option(
      '--progress <form>',
      'json: progress as JSON lines on stderr',
      flagValue('--progress', oneOf(['json'] as const)),
    )
    .obeys('service', 'request', 'cache', 'preview', 'json', 'records', 'file')
    .prints(ENRICH_OUTPUT)
    .examples(
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --demo',
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --fields standard --add phone=phone --demo',
      'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --dry-run',
    )
    .says(
      'restaurant enrich places.csv -o out.csv writes the rows of places.csv, in their order,\n' +
        'with restaurant_status (matched, ambiguous, not_found, error) and what was found behind\n' +
        'them. The output is the checkpoint: after a stop of any kind, --resume goes on with it\n' +
        'and asks nothing twice. --dry-run says what a list would cost, and sends nothing.\n' +
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
  const { runEnrich: run } = await import('../enrich/command.ts');
  const { commandToGoOn } = await import('../enrich/go-on.ts');
  await run(app, file, flags, (more) => commandToGoOn(file, given, more));
}

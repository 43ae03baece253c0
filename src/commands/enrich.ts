import type { App } from '../app/app.ts';
import { type CliCommand, CliOption, type JsonSchema } from '../cli/command.ts';
import { anyOf, boolean, list, object, text, textOrNull } from '../cli/schemas.ts';
import { LEVELS } from '../client/tools.ts';
import type { RefreshFlags } from '../lists/refresh/refresh.ts';
import { INPUT_FORMATS, LIST_FORMATS } from '../lists/row.ts';
import { nonEmpty, parseAge } from '../settings/values.ts';
import { DELIMITERS, type Delimiter } from '../util/csv.ts';

export function registerEnrich(command: CliCommand, app: App): void {
  const enrich = command
    .about(
      'Add restaurant data to a long list',
      'The list is CSV, TSV, NDJSON, GeoJSON, or an Excel workbook. Every row is written once, in order.',
    )
    .argument('<file>', 'List to read, or - for stdin');
  addRowOptions(enrich);
  addRunOptions(enrich);
  addFileOptions(enrich);
  enrich
    .usesOptions('service', 'request', 'cache', 'dry-run', 'json', 'csv', 'file', 'page')
    .overrideOption('--dry-run', { description: 'Count rows, queries, requests, and days; send nothing' })
    .overrideOption('--json', { description: 'Print the summary as JSON; rows go to -o' })
    .overrideOption('--format', {
      description: 'Row format; json prints only the summary',
      choices: [...LIST_FORMATS, 'json'],
      defaultText: 'by the extension of -o, else that of the list',
    })
    .outputSchema(ENRICH_OUTPUT)
    .progressSchema(ENRICH_EVENTS)
    .examples(...EXAMPLES)
    .notes(NOTES)
    .action(async (file: string, flags: RefreshFlags) => {
      if (flags.refresh || flags.older !== undefined || flags.changes !== undefined) {
        const { runRefresh } = await import('../lists/refresh/refresh.ts');
        return runRefresh(app, file, flags);
      }
      const { runEnrich } = await import('../lists/run/command.ts');
      await runEnrich(app, file, flags);
    });
}

function addRowOptions(enrich: CliCommand): void {
  enrich
    .valueOption('-c, --city <city>', 'City for rows without one', { read: nonEmpty })
    .option('--name-column <column>', 'Column with the name (default: name, restaurant, venue, place, title)')
    .option('--city-column <column>', 'Column with the city (default: city or town)')
    .option('--id-column <column>', 'Column with IDs to look up (default: service_id)')
    .option('--lat-column <column>', 'Column with the latitude (default: lat, latitude)')
    .option('--lng-column <column>', 'Column with the longitude (default: lng, lon, longitude)')
    .option('--address-column <column>', 'Column with the address (default: address, street)')
    .valueOption('--fields <level>', 'Include details for every matched row', { choices: LEVELS })
    .listOption('--add <column=path>', 'Add a column with a value from the details (repeatable)')
    .option('--no-details', 'Omit the column with all details')
    .option('--loose', 'Compare simplified names, and search by them if nothing is found')
    .valueOption('--first <n>', 'Process only the first n rows', { range: [1, 1e9], example: '10' })
    .valueOption('--prefix <text>', 'Prefix of the new columns', { default: 'restaurant_' });
}

function addRunOptions(enrich: CliCommand): void {
  enrich
    .addOption(new CliOption('--resume', 'Resume an interrupted run').conflicts('force'))
    .option('--retry-errors', 'Retry failed rows, with --resume')
    .valueOption('--concurrency <n>', 'Rows to process in parallel, 1 to 64', {
      range: [1, 64],
      default: 4,
    })
    .quotaOptions()
    .option('--wait', 'Wait when the daily quota is used up')
    .option('--refresh', 'Look up the matched rows of a finished list again')
    .valueOption('--older <time>', 'With --refresh: only if not looked up for so long, such as 7d', {
      read: parseAge,
      example: '7d',
    })
    .option('--changes <file>', 'With --refresh: add the changes to a CSV file');
}

function addFileOptions(enrich: CliCommand): void {
  enrich
    .valueOption('--input-format <format>', 'Input format', {
      choices: INPUT_FORMATS,
      defaultText: 'by extension',
    })
    .option('--sheet <name>', 'Sheet of an Excel workbook (default: the first)')
    .valueOption('--header-line <n>', 'Line with the column names', {
      range: [1, 1e6],
      defaultText: 'the first, below titles',
      example: '2',
    })
    .option('--encoding <label>', 'Input encoding, such as windows-1252 (default: utf-8)')
    .valueOption('--delimiter <char>', 'Field delimiter: comma, semicolon, tab, or pipe', {
      read: parseDelimiter,
      defaultText: 'detected in the first lines',
      example: ';',
    })
    .listOption(
      '--export <file>',
      'Also write the finished list as .xlsx, .parquet, or .geojson (repeatable)',
    )
    .option('--report <file>', 'Write an HTML page with a map of the finished list')
    .valueOption('--progress <format>', 'Progress as JSON lines on stderr', {
      choices: ['json'],
      conflicts: ['quiet'],
    });
}

const EXAMPLES = [
  'restaurant enrich places.csv --dry-run',
  'restaurant enrich places.csv -o out.csv',
  'restaurant enrich places.csv -o out.xlsx',
  'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --demo',
];
const NOTES =
  'restaurant enrich places.csv -o out.csv writes the rows of places.csv in order, followed by ' +
  'restaurant_status (matched, likely, ambiguous, not_found, skipped, error) and the data found. ' +
  'The output file is the checkpoint: after any stop, --resume continues where the run stopped, ' +
  'without repeating requests. --dry-run shows the cost of a list and sends nothing. ' +
  '-o out.xlsx (or .parquet, .geojson) is written when the list is finished; its rows are kept in out.xlsx.csv. ' +
  '--export writes such a file from a finished list, and sends nothing. ' +
  '--report out.html writes a page with a map when the list is finished; with --resume, also for a list ' +
  'that was finished before. --open shows the page in the browser. ' +
  'Exit codes: 0 if no row failed, 8 if some did, 5 if the quota is used up.';

const NAMED: Readonly<Record<string, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
  pipe: '|',
};

/** @throws {Error} naming the accepted values */
function parseDelimiter(value: string): Delimiter {
  const found = DELIMITERS.find((each) => each === (NAMED[value] ?? value));
  if (found === undefined) throw new Error("expected comma, semicolon, tab, or pipe (',', ';', '\\t', '|')");
  return found;
}

const count: JsonSchema = { type: 'integer', minimum: 0 };
const countOrNull: JsonSchema = { type: ['integer', 'null'], minimum: 0 };

const COUNTS = {
  done: count,
  matched: count,
  likely: { ...count, description: 'rows matched to a restaurant with another name' },
  ambiguous: count,
  not_found: count,
  skipped: { ...count, description: 'rows without a name, city, or id' },
  errors: count,
};

const SUMMARY = {
  rows: { ...countOrNull, description: 'rows of the list; null if the end was not read' },
  ...COUNTS,
  earlier: { ...count, description: 'rows done by an earlier run' },
  unknown_cities: {
    ...list(object({ city: text, rows: count })),
    description: 'cities of which no row was found',
  },
  loose_requests: { ...count, description: 'requests that --loose would send for rows not found' },
  missing_paths: { ...list(text), description: '--add paths not found in any response' },
  requests: count,
  finished: boolean,
  output: { ...textOrNull, description: 'the output file; null for stdout' },
  report: { ...textOrNull, description: 'the page of the list' },
  exports: { ...list(text), description: 'the files of --export' },
  next: { ...textOrNull, description: 'the command that continues; null if nothing can be retried' },
};

const ESTIMATE = object({
  rows: count,
  done: count,
  skipped: count,
  skipped_lines: { ...list(count), description: 'lines of the first ten of them' },
  distinct_queries: count,
  cached: count,
  requests: count,
  requests_at_most: { ...count, description: 'including the requests that depend on the results' },
  per_minute: count,
  per_day: count,
  left_today: countOrNull,
  minutes: { type: ['number', 'null'] },
  days: { type: ['number', 'null'] },
});

const REFRESH = object({
  rows: { ...count, description: 'matched rows' },
  restaurants: { ...count, description: 'restaurants to look up' },
  looked_up: count,
  changed_rows: count,
  changes: count,
  errors: count,
  requests: count,
  finished: boolean,
  changes_file: textOrNull,
  next: textOrNull,
});

/** The output of `enrich --json` if the rows are written to a file; with `--dry-run`, the estimate. */
const ENRICH_OUTPUT = anyOf(
  { ...object(SUMMARY), description: 'the summary of a run' },
  { ...ESTIMATE, description: 'with --dry-run: the cost of the run' },
  { ...REFRESH, description: 'with --refresh' },
);

const event = (name: string, keys: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ event: { const: name }, ...keys });

/** A line on stderr of `enrich --progress json`. If the run fails, the last line is an error. */
const ENRICH_EVENTS = anyOf(
  event('start', { rows: countOrNull }),
  event('progress', {
    rows: countOrNull,
    ...COUNTS,
    requests: count,
    left_today: countOrNull,
    seconds_left: countOrNull,
  }),
  event('waiting', { until: { type: 'string', format: 'date-time' }, why: text }),
  event('warning', { message: text }),
  event('summary', SUMMARY),
);

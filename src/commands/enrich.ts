import type { App } from '../app/app.ts';
import type { CliCommand, JsonSchema } from '../cli/command.ts';
import { anyOf, boolean, list, object, text, textOrNull } from '../cli/schemas.ts';
import { LEVELS } from '../client/tools.ts';
import type { EnrichFlags } from '../lists/list-state.ts';
import { DEFAULT_PREFIX, INPUT_FORMATS, LIST_FORMATS } from '../lists/row.ts';
import { nonEmpty, parseAge } from '../settings/values.ts';
import { DELIMITERS, type Delimiter } from '../util/csv.ts';

export function registerEnrich(command: CliCommand, app: App): void {
  const enrich = command
    .about(
      'Bring a list up to date with restaurant data',
      'The list is CSV, TSV, NDJSON, GeoJSON, Parquet, or an Excel workbook. Run the same command again to ask only for what is new or failed.',
    )
    .argument('<file>', 'List to read, or - for stdin');
  addRowOptions(enrich);
  addRunOptions(enrich);
  addFileOptions(enrich);
  enrich
    .usesOptions('service', 'request', 'cache', 'offline', 'dry-run', 'json', 'csv', 'file', 'page')
    .overrideOption('--output', {
      description: 'Write .csv, .tsv, .ndjson, .geojson, .xlsx, .parquet, or .html (repeatable)',
    })
    .overrideOption('--force', { description: 'Overwrite output files that exist or were edited' })
    .overrideOption('--dry-run', { description: 'Count due rows, requests, and days; send nothing' })
    .overrideOption('--json', { description: 'Print the summary as JSON; rows go to -o' })
    .overrideOption('--format', {
      description: 'Format of rows on stdout; json prints only the summary',
      choices: [...LIST_FORMATS, 'json'],
      defaultText: 'that of the list',
    })
    .outputSchema(ENRICH_OUTPUT)
    .progressSchema(ENRICH_EVENTS)
    .examples(...EXAMPLES)
    .notes(NOTES)
    .action(async (file: string, flags: EnrichFlags) => {
      const { runEnrich } = await import('../lists/enrich.ts');
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
    .option('--loose', 'Compare simplified names, and search by them if nothing is found')
    .valueOption('--first <n>', 'Ask only for the first n rows', { range: [1, 1e9], example: '10' })
    .valueOption('--prefix <text>', 'Prefix of the new columns', { default: DEFAULT_PREFIX });
}

function addRunOptions(enrich: CliCommand): void {
  enrich
    .valueOption('--older <time>', 'Refresh answers older than this, such as 7d (0s: all)', {
      read: parseAge,
      example: '7d',
    })
    .quotaOptions()
    .option('--wait', 'Wait when the daily quota is used up')
    .option('--answers <file>', 'File that keeps the answers (default: named after the first -o)')
    .valueOption('--progress <format>', 'Progress as JSON lines on stderr', {
      choices: ['json'],
      conflicts: ['quiet'],
    });
}

function addFileOptions(enrich: CliCommand): void {
  enrich
    .valueOption('--input-format <format>', 'Input format', {
      choices: INPUT_FORMATS,
      defaultText: 'by extension',
    })
    .option('--sheet <name>', 'Sheet of an Excel workbook (default: the first with a header)')
    .valueOption('--header-line <n>', 'Line with the column names', {
      range: [1, 1e6],
      defaultText: 'the first, below titles',
      example: '2',
    })
    .option('--encoding <label>', 'Input encoding, such as windows-1252 (default: detected)')
    .valueOption('--delimiter <char>', 'Field delimiter: comma, semicolon, tab, or pipe', {
      read: parseDelimiter,
      defaultText: 'detected in the first lines',
      example: ';',
    });
}

const EXAMPLES = [
  'restaurant enrich places.csv --dry-run',
  'restaurant enrich places.csv -o found.csv',
  'restaurant enrich places.csv -o found.csv --older 7d',
  'restaurant enrich places.csv -o found.csv -o found.xlsx -o map.html --fields standard',
  'restaurant find "Nopa" --city SF --demo --format csv | restaurant enrich - --demo',
];
const NOTES =
  'restaurant enrich places.csv -o found.csv writes the rows of places.csv in order, followed by ' +
  'restaurant_status (matched, likely, ambiguous, not_found, skipped, error, pending) and the data found. ' +
  'Answers are saved in found.answers.ndjson next to it. Run the same command again at any time: ' +
  'it asks only for rows that are new, corrected, failed, or left, and writes every -o again. ' +
  'Files that you have edited are not overwritten. --dry-run shows what is due and what it costs. ' +
  'Without -o, rows go to stdout, and answers are kept only with --answers. ' +
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
  matched: count,
  likely: { ...count, description: 'rows matched to a restaurant with another name' },
  ambiguous: count,
  not_found: count,
  skipped: { ...count, description: 'rows without a name, city, or id' },
  errors: { ...count, description: 'rows that failed; one with an older answer keeps its status' },
};

const SUMMARY = {
  rows: count,
  ...COUNTS,
  pending: { ...count, description: 'rows that were not asked yet' },
  unknown_cities: {
    ...list(object({ city: text, rows: count })),
    description: 'cities of which no row was found',
  },
  missing_paths: { ...list(text), description: '--add paths not found in any response' },
  loose_requests: { ...count, description: 'requests that --loose would send for rows not found' },
  requests: count,
  finished: { ...boolean, description: 'all that was due was asked, and no row is pending' },
  files: { ...list(text), description: 'the files of -o' },
  next: { ...textOrNull, description: 'the command to run next: the same one, or the review' },
};

const ESTIMATE = object({
  rows: count,
  due: count,
  requests: count,
  requests_at_most: { ...count, description: 'including the requests that depend on the answers' },
  reasons: object({ new: count, older: count, details: count, loose: count }),
  skipped: count,
  skipped_lines: { ...list(count), description: 'lines of the first ten of them' },
  due_rows: list(object({ row: { ...count, description: '1 is the first below the header' }, reason: text })),
  per_minute: count,
  per_day: count,
  left_today: countOrNull,
  minutes: countOrNull,
  days: countOrNull,
  minutes_at_most: countOrNull,
  days_at_most: countOrNull,
});

/** The output of `enrich --json` if the rows are written to a file; with `--dry-run`, the estimate. */
const ENRICH_OUTPUT = anyOf(
  { ...object(SUMMARY), description: 'the summary of a run' },
  { ...ESTIMATE, description: 'with --dry-run: the cost of the run' },
);

const event = (name: string, keys: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ event: { const: name }, ...keys });

/** A line on stderr of `enrich --progress json`. If the run fails, the last line is an error. */
const ENRICH_EVENTS = anyOf(
  event('start', { rows: countOrNull }),
  event('progress', {
    rows: { ...countOrNull, description: 'rows that are due' },
    done: count,
    ...COUNTS,
    requests: count,
    left_today: countOrNull,
    seconds_left: countOrNull,
  }),
  event('waiting', { until: { type: 'string', format: 'date-time' }, why: text }),
  event('warning', { message: text }),
  event('summary', SUMMARY),
);

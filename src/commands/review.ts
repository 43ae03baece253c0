import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, integer, list, object, RESTAURANT, text, textOrNull } from '../cli/schemas.ts';
import type { ReviewFlags } from '../lists/review/review.ts';
import { nonEmpty } from '../settings/values.ts';

const number = { type: 'number' };
const CANDIDATE = {
  ...RESTAURANT,
  properties: {
    ...Object(RESTAURANT.properties),
    similarity: { ...number, description: 'of the names, from 0 to 1' },
    distance_m: { type: ['number', 'null'], description: 'from the coordinates of the row' },
  },
};

const ROW = object({
  row: { ...integer, description: 'number of the row, from 1' },
  line: integer,
  status: text,
  name: text,
  city: text,
  restaurant_id: { ...textOrNull, description: 'the restaurant in the file' },
  list: { ...anyObject, description: 'the columns of the list' },
  candidates: list(CANDIDATE),
});

const TALLY = object({ rows: integer, confirmed: integer, other: integer, rejected: integer });

export function registerReview(command: CliCommand, app: App): void {
  command
    .about('Decide the doubtful rows of an enriched list', 'Every decision is saved at once.')
    .argument('<file>', 'Output file of enrich')
    .option('--not-found', 'Include rows that were not found')
    .option('--apply <file>', 'Apply the decisions in a CSV file (- reads stdin)')
    .valueOption('-c, --city <city>', 'City for rows without one', { read: nonEmpty })
    .option('--name-column <column>', 'Column with the name (default: as in enrich)')
    .option('--city-column <column>', 'Column with the city (default: as in enrich)')
    .valueOption('--prefix <text>', 'Prefix of the columns that enrich added', { default: 'restaurant_' })
    .quotaOptions()
    .usesOptions('service', 'request', 'cache', 'json', 'csv')
    .overrideOption('--json', { description: 'List the rows with their candidates as JSON' })
    .outputSchema(
      anyOf(
        { ...list(ROW), description: 'the rows to decide' },
        { ...TALLY, description: 'with --apply: the decisions' },
      ),
    )
    .examples('restaurant review results.csv --json --demo')
    .notes(
      'restaurant review out.csv shows the rows that are likely or ambiguous, with their candidates. Keys: y confirms ' +
        'the restaurant in the file, 1 to 9 choose a candidate, n rejects all of them, s searches with other words, ' +
        'space skips the row, u takes the last decision back, q quits. Decided rows become matched (confirmed) or ' +
        'not_found (rejected); all other cells stay as they are. ' +
        'The columns of --apply are row, name, decision (yes, other, none), and restaurant_id; the report of ' +
        'enrich --report makes such a file.',
    )
    .action(async (file: string, flags: ReviewFlags) => {
      const { runReview } = await import('../lists/review/review.ts');
      await runReview(app, file, flags);
    });
}

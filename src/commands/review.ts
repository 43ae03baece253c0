import type { App } from '../app/app.ts';
import { type CliCommand, CliOption } from '../cli/command.ts';
import { anyObject, anyOf, integer, list, object, RESTAURANT, text, textOrNull } from '../cli/schemas.ts';
import type { ReviewFlags } from '../lists/review/open.ts';

const number = { type: 'number' };
const CANDIDATE = {
  ...RESTAURANT,
  properties: {
    ...Object(RESTAURANT.properties),
    similarity: { ...number, description: 'of the names, from 0 to 1' },
    distance_m: { type: ['number', 'null'], description: 'from the coordinates of the row' },
    decided_earlier: { const: true, description: 'before the row was corrected' },
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

const FILES = { ...list(text), description: 'the output files, which are updated' };
const TALLY = object({
  ...{ rows: integer, confirmed: integer, other: integer, rejected: integer },
  never: { ...integer, description: 'not to be shown again' },
  files: FILES,
});
const UNDONE = object({ undone: { ...anyObject, description: 'the content of the rows' }, files: FILES });

export function registerReview(command: CliCommand, app: App): void {
  command
    .about('Decide the doubtful rows of an enriched list', 'Every decision is saved at once.')
    .argument('<file>', 'Output file of enrich, or its answers file')
    .option('--not-found', 'Include rows that were not found')
    .option('--apply <file>', 'Apply the decisions in a CSV file (- reads stdin)')
    .addOption(new CliOption('--undo', 'Undo the last decision').conflicts('apply'))
    .option('--list <file>', 'The list, if it has moved')
    .option('--answers <file>', 'File that keeps the answers (default: next to the output file)')
    .usesOptions('service', 'request', 'json', 'csv')
    .overrideOption('--json', { description: 'List the rows with their candidates as JSON' })
    .outputSchema(
      anyOf(
        { ...list(ROW), description: 'the rows to decide' },
        { ...TALLY, description: 'with --apply: the decisions' },
        { ...UNDONE, description: 'with --undo' },
      ),
    )
    .examples('restaurant review found.csv --json')
    .notes(
      'restaurant review found.csv shows the rows that are likely or ambiguous, with their candidates. Rows ' +
        'with the same content are decided together. Keys: y confirms the restaurant marked with *, 1 to 9 choose a candidate, n rejects all of them, ' +
        'm searches for parts of the name, s with other words, space skips the row, x never shows it again, u undoes the last decision, ' +
        'q quits. Decided rows become matched (confirmed) or not_found (rejected), and all output files are updated. ' +
        'The columns of --apply are row, name, decision (yes, other, none, never), and restaurant_id; a page of enrich ' +
        '(-o map.html) makes such a file.',
    )
    .action(async (file: string, flags: ReviewFlags) => {
      const { runReview } = await import('../lists/review/review.ts');
      await runReview(app, file, flags);
    });
}

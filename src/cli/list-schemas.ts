import type { JsonSchema } from './command.ts';
import { object } from './schemas.ts';

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
export const ENRICH_OUTPUT: JsonSchema = {
  anyOf: [
    { ...object(SUMMARY), description: 'the summary of a run' },
    { ...ESTIMATE, description: 'with --dry-run: what the run would take' },
  ],
};

const event = (name: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ event: { const: name }, ...properties });

/** A line on stderr of `enrich --progress json`; a failure is a last line in the form of errors. */
export const ENRICH_EVENTS: JsonSchema = {
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

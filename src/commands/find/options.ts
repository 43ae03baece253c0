import type { CliCommand } from '../../cli/command.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { nonEmpty } from '../../settings/values.ts';
import { parseMinGrade, parsePoint, type Refinement, SORT_KEYS } from './refine.ts';

/** Adds the options that filter, sort, and limit results, where a {@link Refinement} has them. */
export const resultOptions = (command: CliCommand): CliCommand =>
  command
    .listOption('--cuisine <text>', 'Filter by cuisine (repeatable)', { read: nonEmpty })
    .listOption('--neighborhood <text>', 'Filter by neighborhood (repeatable)', { read: nonEmpty })
    .listOption('--grade <grade>', 'Filter by grade (repeatable)', { read: nonEmpty })
    .valueOption('--min-grade <grade>', 'Filter by minimum grade', { read: parseMinGrade, example: 'B' })
    .valueOption('--sort <key>', 'Sort the results', { choices: SORT_KEYS })
    .valueOption('--near <lat,lng>', 'Add the distance from this location and sort by it', {
      read: parsePoint,
      example: '37.77,-122.43',
    })
    .valueOption('-n, --limit <n>', 'Maximum number of results, 1 to 1000', {
      range: [1, 1000],
      example: '10',
    });

/** @throws {AppError} `usage` for an order that needs a location */
export function checkResultOptions({ sort, near }: Refinement): void {
  if (sort !== 'distance' || near !== undefined) return;
  throw usage('--sort distance needs a location', { command: again({ '--near': '37.77,-122.43' }) });
}

import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { outputFormat, writesToTerminal } from '../../app/output.ts';
import type { FindResult } from '../../client/tools.ts';
import type { FindQuery } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { again, type Message, restaurant } from '../../hint.ts';
import type { Detailed } from './details.ts';
import { explainEmpty, type Refinement } from './refine.ts';

interface Results {
  readonly value: FindResult;
  readonly rows: readonly unknown[];
  readonly cachedAt?: number | undefined;
}

export async function footer(
  app: App,
  { value, rows, cachedAt }: Results,
  query: FindQuery,
  refinement: Refinement,
): Promise<Message | undefined> {
  if (!app.terminal.isInteractive) return undefined;
  const { results, output } = value;
  if (results.length === 0) return (await import('./suggest.ts')).nothingFound(app, query);
  if (rows.length === 0) return explainEmpty(results, refinement);
  // Row numbers refer to a table on the terminal.
  if (!writesToTerminal(app) || outputFormat(app) !== 'table') return undefined;
  const [count, total] = [rows.length, output.total_matches];
  const matches = count === 1 ? '1 match' : `${count} matches`;
  const parts = [
    total > count ? `${count} of ${total} matches` : matches,
    `${hintOf(app, { command: restaurant('lookup', '1') })} for details`,
    ...(cachedAt === undefined || app.globals.offline ? [] : ['from the cache (--max-age 0 refreshes)']),
  ];
  // As many as fit on one line.
  while (parts.length > 1 && parts.join(' · ').length >= app.context.stderr.columns) parts.pop();
  return parts.join(' · ');
}

/** @throws {AppError} `partial` when a result or its details are missing */
export function reportFailures(
  { results, unreadable }: FindResult,
  detailed: readonly Detailed[] = [],
): void {
  const failed = detailed.flatMap((each) => ('error' in each ? [each.error] : []));
  const [first] = failed;
  if (first !== undefined) {
    throw new AppError('partial', `${failed.length} of ${detailed.length} lookups failed: ${first.message}`, {
      hint: first.details.hint,
      retryable: failed.some(({ retryable }) => retryable),
    });
  }
  if (unreadable === 0) return;
  throw new AppError('partial', `${unreadable} of ${results.length} results cannot be read`, {
    hint: { text: 'to print them as received', command: again({ '--json': true }) },
  });
}

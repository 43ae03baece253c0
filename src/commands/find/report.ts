import type { App } from '../../app/app.ts';
import { writesToTerminal } from '../../app/output-file.ts';
import { outputFormat } from '../../app/output-format.ts';
import type { Received } from '../../app/service.ts';
import type { FindResult } from '../../client/tools.ts';
import type { FindQuery } from '../../client/types.ts';
import { restaurant } from '../../hint.ts';
import { explainEmpty, type Refinement, sawOnlyPart } from './refine.ts';

/** Says on stderr what the results do not show: that nothing was found, that there is more, what to type next. */
export async function reportSearch(
  app: App,
  { value, cachedAt }: Received<FindResult>,
  rows: readonly unknown[],
  query: FindQuery,
  refinement: Refinement,
): Promise<void> {
  const { results, output } = value;
  if (sawOnlyPart(output, refinement)) {
    await app.notes.report({
      code: 'partial_results',
      message: `the service returned ${results.length} of ${output.total_matches} matches; filters and order saw only these`,
      hint: 'search for a more specific name',
    });
  }
  if (rows.length > 0) return noteNext(app, rows.length, output.total_matches, cachedAt);
  const message = `no matches for ${query.name} in ${query.city}`;
  const hint =
    results.length === 0
      ? await (await import('./suggest.ts')).nothingFound(app, query)
      : explainEmpty(results, refinement);
  await app.notes.report({ code: 'no_match', message, hint });
}

async function noteNext(app: App, count: number, total: number, cachedAt: number | undefined): Promise<void> {
  // Row numbers refer to a table on the terminal.
  if (!app.terminal.isInteractive || !writesToTerminal(app) || outputFormat(app) !== 'table') return;
  const { hintOf } = await import('../../app/hints.ts');
  const matches = count === 1 ? '1 match' : `${count} matches`;
  const parts = [
    total > count ? `${count} of ${total} matches` : matches,
    `${hintOf(app, { command: restaurant('lookup', '1') })} for details`,
    ...(cachedAt === undefined || app.globals.offline ? [] : ['from the cache (--max-age 0 refreshes)']),
  ];
  // As many as fit on one line.
  while (parts.length > 1 && parts.join(' · ').length >= app.context.stderr.columns) parts.pop();
  await app.notes.note(parts.join(' · '));
}

import type { App } from '../../app/app.ts';
import { showsNumbers } from '../../app/output.ts';
import type { Received } from '../../app/responses.ts';
import { anyObject, anyOf, ERROR, integer, list, object, RESTAURANT, text } from '../../cli/schemas.ts';
import type { FindResult } from '../../client/tools.ts';
import type { FindQuery } from '../../client/types.ts';
import { failure } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import type { Presentation } from '../../output/presentation.ts';
import {
  DISTANCE,
  describeFilters,
  explainEmpty,
  partialText,
  type Refinement,
  withCounts,
} from './refine.ts';

export const FIND_OUTPUT = anyOf(
  object({
    'status?': text,
    results: list(RESTAURANT),
    'total_matches?': integer,
    'received?': integer,
    'shown?': integer,
  }),
  {
    ...list(
      anyOf(object({ result: RESTAURANT, details: anyObject }), object({ result: RESTAURANT, error: ERROR })),
    ),
    description: 'with --fields: the results with their details',
  },
);

export interface Listing {
  readonly json: unknown;
  /** The JSON text as received, if `json` is unchanged. */
  readonly received?: string | undefined;
  present(): Promise<Presentation>;
  /** @throws {AppError} `partial` when a result or its details are missing */
  assertComplete(): void;
}

export function summaries(
  app: App,
  { value, text: received, cachedAt }: Received<FindResult>,
  rows: readonly unknown[],
  query: FindQuery,
  options: Refinement,
): Listing {
  const { near, sort } = options;
  const { output, results } = value;
  const isReceived = rows.length === results.length && near === undefined && sort === undefined;
  const listed = isReceived ? output : { ...output, results: rows };
  const json = withCounts(listed, output, rows.length, options);
  return {
    json,
    received: json === output ? received : undefined,
    present: async () => {
      const { findPresentation } = await import('../../output/render/find.ts');
      const search = {
        ...query,
        filters: describeFilters(options),
        at: cachedAt ?? app.context.now(),
        total: output.total_matches,
      };
      return {
        ...findPresentation(listed, rows, search, near === undefined ? [] : [DISTANCE]),
        moreColumns: { text: 'details may have more', command: again({ '--fields': 'standard' }) },
      };
    },
    assertComplete: () => assertReadable(value),
  };
}

export function assertReadable({ results, unreadable }: FindResult): void {
  if (unreadable === 0) return;
  throw failure('partial', `${unreadable} of ${results.length} results cannot be read`, {
    text: 'to print them as received',
    command: again({ '--json': true }),
  });
}

/** Says on stderr what the results do not show: that nothing was found, that there is more, what to type next. */
export async function reportSearch(
  app: App,
  { value, cachedAt }: Received<FindResult>,
  rows: readonly unknown[],
  query: FindQuery,
  refinement: Refinement,
): Promise<void> {
  const { results, output } = value;
  const partial = partialText(output, refinement);
  if (partial !== undefined)
    await app.notes.report({
      code: 'partial_results',
      message: partial,
      hint: 'search for a more specific name',
    });
  if (rows.length > 0) return noteNext(app, rows.length, output.total_matches, cachedAt);
  const message = `no matches for ${query.name} in ${query.city}`;
  await app.notes.report(
    results.length === 0
      ? { code: 'no_match', message, hint: await (await import('./suggest.ts')).nothingFound(app, query) }
      : {
          code: 'no_match',
          message: `${message} with these filters`,
          hint: explainEmpty(results, refinement),
        },
  );
}

async function noteNext(app: App, count: number, total: number, cachedAt: number | undefined): Promise<void> {
  if (!app.terminal.isInteractive || !showsNumbers(app)) return;
  const { hintLine } = await import('../../app/hint-line.ts');
  const matches = count === 1 ? '1 match' : `${count} matches`;
  const parts = [
    total > count ? `${count} of ${total} matches` : matches,
    `${hintLine(app, { command: restaurant('lookup', '1') })} for details`,
    ...(cachedAt === undefined || app.globals.offline ? [] : ['from the cache (--max-age 0 refreshes)']),
  ];
  // As many as fit on one line.
  while (parts.length > 1 && parts.join(' · ').length >= app.context.stderr.columns) parts.pop();
  await app.notes.note(parts.join(' · '));
}

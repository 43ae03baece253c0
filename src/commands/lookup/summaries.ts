import type { App } from '../../app/app.ts';
import { seenResults } from '../../app/seen-results.ts';
import type { Lookup } from '../../client/types.ts';
import { again } from '../../hint.ts';
import { plural } from '../../util/format.ts';

/**
 * With --offline: replaces a lookup that has no cached response by the restaurant's result of a search. With JSON alone
 * and with --quiet nothing could say that it is only the summary, so nothing is replaced.
 */
export async function* withSummaries(
  app: App,
  outcomes: AsyncIterable<Lookup> | readonly Lookup[],
): AsyncGenerator<Lookup> {
  const { globals, terminal, notes } = app;
  const canSay = globals.quiet !== true && (!terminal.wantsJson || terminal.wantsJsonWarnings);
  if (globals.offline !== true || !canSay) return yield* outcomes;
  // Of several results of one restaurant, the latest is the first.
  const seen = seenResults(app).restaurants.toReversed();
  const rows = new Map<unknown, (typeof seen)[number]>(seen.map((row) => [row.service_id, row]));
  let count = 0;
  for await (const outcome of outcomes) {
    const { restaurantId, error } = outcome;
    // With --offline, this code means that no response is cached.
    const row = error?.code === 'network' ? rows.get(restaurantId) : undefined;
    if (row !== undefined) count += 1;
    yield row === undefined ? outcome : { restaurantId, output: row, text: JSON.stringify(row) };
  }
  if (count === 0) return;
  await notes.report({
    code: 'no_details',
    message: `summary only: details of ${plural(count, 'restaurant')} are not cached`,
    hint: { text: 'to look them up', command: again({}, { without: ['--offline'] }) },
  });
}

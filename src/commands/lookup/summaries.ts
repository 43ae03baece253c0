import type { App } from '../../app/app.ts';
import { seenResults } from '../../app/seen-results.ts';
import type { Lookup } from '../../client/types.ts';
import { again } from '../../hint.ts';
import { plural } from '../../util/format.ts';
import type { JsonObject } from '../../util/json.ts';

/** Replaces a lookup that has no cached response by the restaurant's result of a search. */
export interface Summaries {
  replace(outcome: Lookup): Lookup;
  /** Warns if one was replaced. */
  report(): Promise<void>;
}

/** With JSON alone and with --quiet nothing could say that it is only the summary, so nothing is replaced. */
export function openSummaries(app: App): Summaries {
  const { globals, terminal, notes } = app;
  const canSay = globals.quiet !== true && (!terminal.wantsJson || terminal.wantsJsonWarnings);
  let seen: ReadonlyMap<unknown, JsonObject> | undefined;
  let count = 0;
  const rowOf = (id: string): JsonObject | undefined => {
    // Of several results of one restaurant, the latest is the first.
    seen ??= new Map(
      seenResults(app)
        .restaurants.toReversed()
        .map((row) => [row.service_id, row]),
    );
    return seen.get(id);
  };
  return {
    replace(outcome) {
      const { restaurantId, error } = outcome;
      // With --offline, this code means that no response is cached.
      const row = canSay && error?.code === 'network' ? rowOf(restaurantId) : undefined;
      if (row === undefined) return outcome;
      count += 1;
      return { restaurantId, output: row, text: JSON.stringify(row) };
    },
    async report() {
      if (count === 0) return;
      await notes.report({
        code: 'no_details',
        message: `summary only: details of ${plural(count, 'restaurant')} are not cached`,
        hint: { text: 'to look them up', command: again({}, { without: ['--offline'] }) },
      });
    },
  };
}

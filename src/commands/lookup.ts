import type { App } from '../app/app.ts';
import { refuseKey } from '../app/credentials.ts';
import { describeRows, stayWithDemo } from '../app/last-results.ts';
import { checkOutput, outputFormat, selectedColumns, showsNumbers, writeResult } from '../app/output.ts';
import { openOutput } from '../app/output-file.ts';
import { previewOrOpen } from '../app/request.ts';
import { seenResults } from '../app/seen-results.ts';
import type { Service } from '../app/service.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, ERROR, list, object, text } from '../cli/schemas.ts';
import { LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again, type Hint } from '../hint.ts';
import { plural } from '../util/format.ts';
import { toJson } from '../util/json.ts';
import { chosenWords, nameHint, type Selection, selectRestaurants, stepBefore } from './lookup/select.ts';

const RESULT = anyOf(
  object({ restaurant_id: text, output: anyObject }),
  object({ restaurant_id: text, error: ERROR }),
);

const LOOKUP_OUTPUT = anyOf(
  { ...anyObject, description: 'one id: the output object; its fields are not documented' },
  { ...list(RESULT), description: 'several ids, in order' },
);

export function registerLookup(command: CliCommand, app: App): void {
  command.suggest = (isGuess) => stepBefore(app, command.args, isGuess);
  command
    .about('Show restaurant details by ID or row')
    .argument(
      '<id...>',
      'Restaurant ID, row number, range (1-3), or name from your last search; the beginning of an ID or name is enough (- reads stdin)',
    )
    .completeWith('id', 'row')
    .asksWhen(() => app.terminal.canChoose)
    .valueOption('--fields <level>', 'Level of detail; standard and premium require a paid key', {
      choices: LEVELS,
      defaultText: 'basic',
    })
    .usesOptions('service', 'request', 'cache', 'offline', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(LOOKUP_OUTPUT)
    .examples(
      'restaurant lookup 1 --demo',
      'restaurant lookup 1-2 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo | restaurant lookup - --demo',
    )
    .notes(
      'With -, IDs are read from stdin: one per line, or the output of find as JSON, NDJSON, CSV, or TSV. Row numbers ' +
        'refer to the last table shown in this terminal, which restaurant last shows again. Duplicate IDs are ' +
        'requested once. With several IDs, --json prints an array of {restaurant_id, output} or ' +
        '{restaurant_id, error}, in the order of the arguments.',
    )
    .action(async (words: string[], { fields = 'basic' }: { fields?: Level }) => {
      const chosen = await chosenWords(app, words);
      if (chosen.length > 0) await runLookup(app, chosen, fields);
    });
}

async function runLookup(app: App, words: readonly string[], level: Level): Promise<void> {
  await checkOutput(app, 'restaurants');
  await stayWithDemo(app, words);
  const { ids, search } = await readSelection(app, words);
  // If only one restaurant is requested, its error is the error of the run.
  const isOne = words.length === 1 && words[0] !== '-' && ids.length === 1;
  const preview = () => ids.map((id) => plannedCall(TOOLS.lookup, { id, level }));
  const patience = ids.length > 1 ? 'max-wait' : undefined;
  const service = await previewOrOpen(app, preview, { patience });
  if (service === undefined) return;
  const { lookupsFailed, withPlanHint } = await import('../app/lookup-many.ts');
  const isStreamed = !isOne && outputFormat(app) === 'ndjson';
  const received = receiveDetails(app, service, ids, level, isStreamed);
  const outcomes = await received.catch(withPlanHint(BASIC_DETAILS));
  if (!isStreamed) await writeDetails(app, outcomes, { isOne, level, search });
  if (search !== undefined) await app.notes.note(`rows of ${describeRows(app, search)}`);
  const [first] = outcomes;
  const isFromCache = isOne && first?.cachedAt !== undefined && app.globals.offline !== true;
  if (isFromCache) await app.notes.note('from the cache (--max-age 0 refreshes)');
  if (level === 'basic' && !words.includes('-')) await noteMore(app, words, outcomes);
  const failed = outcomes.filter(({ error }) => error !== undefined);
  if (failed.length > 0)
    throw lookupsFailed(app, failed, outcomes.length, (left) => again({}, { operands: left }));
}

async function readSelection(app: App, words: readonly string[]): Promise<Selection> {
  if (!words.includes('-')) return selectRestaurants(app, words);
  if (words.length > 1) {
    throw usage('- reads all IDs from stdin and cannot be combined with other IDs', {
      command: again({}, { operands: ['-'], stdin: 'ids.txt' }),
    });
  }
  const { readAllText } = await import('../app/input.ts');
  const { readIds } = await import('./lookup/stdin-ids.ts');
  const ids = readIds(await readAllText(app, 'ids, one per line'));
  refuseKey(app, 'an ID', ids);
  if (ids.length === 0) await app.notes.note('no IDs on stdin, nothing to look up');
  return { ids: [...new Set(ids)] };
}

/** Says how to see more than the basic details, unless columns were chosen. */
async function noteMore(app: App, words: readonly string[], outcomes: readonly Lookup[]): Promise<void> {
  const isWhole = showsNumbers(app) && selectedColumns(app) === undefined && app.globals.offline !== true;
  if (!isWhole || outcomes.every(({ output }) => output === undefined)) return;
  const command = again({ '--fields': 'premium' }, { operands: words });
  await app.notes.note({ text: 'more details, with a paid key', command });
}

const BASIC_DETAILS: Hint = {
  text: 'basic details work with every key',
  command: again({ '--fields': 'basic' }),
};

async function writeDetails(
  app: App,
  outcomes: readonly Lookup[],
  { isOne, level, search }: { isOne: boolean; level: Level; search: Selection['search'] },
): Promise<void> {
  const [first] = outcomes;
  const one = isOne ? first : undefined;
  const { error, restaurantId = '' } = one ?? {};
  if (error?.code === 'not_found') throw error.add({ hint: nameHint(app, [restaurantId]) });
  if (error !== undefined) throw error;
  const json = one?.output ?? (await import('../output/fields.ts')).lookupEntries(outcomes);
  const present = async () => {
    const { lookupPresentation, withSearchResults } = await import('../output/render/lookup.ts');
    // The fields of the last search complete the details for people.
    const isForPeople = ['table', 'list', 'html'].includes(outputFormat(app));
    const shown = isForPeople ? withSearchResults(outcomes, search?.rows) : outcomes;
    const presentation = lookupPresentation(shown, isOne, one?.cachedAt ?? app.context.now());
    const more = { text: 'details may have more', command: again({ '--fields': 'standard' }) };
    return level === 'basic' ? { ...presentation, moreColumns: more } : presentation;
  };
  await writeResult(app, json, present, one?.text);
}

/** Looks up the restaurants. @param isStreamed whether each is written when it is received, as NDJSON */
async function receiveDetails(
  app: App,
  service: Service,
  ids: readonly string[],
  level: Level,
  isStreamed: boolean,
): Promise<Lookup[]> {
  const { lookupAll, lookupMany } = await import('../app/lookup-many.ts');
  const stream = isStreamed ? await openEntries(app) : undefined;
  const received = isStreamed
    ? lookupMany(app, service, ids, level)
    : await lookupAll(app, service, ids, level);
  const outcomes: Lookup[] = [];
  for await (const outcome of withSummaries(app, received)) {
    await stream?.write(outcome);
    outcomes.push(outcome);
  }
  await stream?.finish();
  return outcomes;
}

/**
 * With --offline: replaces a lookup that has no cached response by the restaurant's result of a search. With JSON alone
 * and with --quiet nothing could say that it is only the summary, so nothing is replaced.
 */
async function* withSummaries(
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

async function openEntries(app: App) {
  const { lookupEntry } = await import('../output/fields.ts');
  const { write, finish } = openOutput(app);
  const columns = selectedColumns(app);
  return {
    write: (outcome: Lookup) => write(`${toJson(lookupEntry(outcome, columns), false)}\n`),
    finish,
  };
}

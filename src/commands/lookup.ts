import { refuseKey } from '../app/api-key.ts';
import type { App } from '../app/app.ts';
import { describeRows, stayWithDemo } from '../app/last-results.ts';
import { selectedColumns, writeResult } from '../app/output.ts';
import { openOutput } from '../app/output-file.ts';
import { outputFormat } from '../app/output-format.ts';
import { runServiceCommand } from '../app/request.ts';
import { exampleSearch } from '../app/seen-results.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, ERROR, list, object, text } from '../cli/schemas.ts';
import { LEVELS, plannedCall, TOOLS } from '../client/tools.ts';
import type { Level, Lookup } from '../client/types.ts';
import { AppError, failure, usage } from '../errors.ts';
import { again, type Hint, slot, type Word } from '../hint.ts';
import { toJson } from '../util/json.ts';
import type { Selection } from './lookup/ids.ts';
import { chosenWords } from './pick/words.ts';

const RESULT = anyOf(
  object({ restaurant_id: text, output: anyObject }),
  object({ restaurant_id: text, error: ERROR }),
);

const LOOKUP_OUTPUT = anyOf(
  { ...anyObject, description: 'one id: the output object; its fields are not documented' },
  { ...list(RESULT), description: 'several ids, in order' },
);

export function registerLookup(command: CliCommand, app: App): void {
  command
    .about('Show restaurant details by ID or row')
    .argument(
      '<id...>',
      'Restaurant ID or its beginning, row number, range (1-3), or name from your last search (- reads stdin)',
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
  const [word = ''] = words;
  await runServiceCommand(app, {
    output: 'restaurants',
    service: { paced: words.length > 1 || /^(?:-|#?\d+-#?\d+)$|,/.test(word), bounded: true },
    plan: async () => {
      if (app.program !== undefined && words.some((word) => /^[.[{]|^[a-z_,]+$/i.test(word)))
        (await import('../cli/stray-words.ts')).checkValues(app.program, words);
      await stayWithDemo(app, words);
      const selection = await readSelection(app, words);
      // If only one restaurant is requested, its error is the error of the run.
      const isOne = words.length === 1 && word !== '-' && selection.ids.length === 1;
      return { isOne, ...selection };
    },
    preview: ({ ids }) => ids.map((id) => plannedCall(TOOLS.lookup, { id, level })),
    send: async (service, { ids, isOne }) => {
      const { lookupAll, lookupMany, withPlanHint } = await import('../app/lookup-many.ts');
      const summaries =
        app.globals.offline === true ? (await import('./lookup/summaries.ts')).openSummaries(app) : undefined;
      const replace = (outcome: Lookup): Lookup => summaries?.replace(outcome) ?? outcome;
      const received =
        !isOne && isStreamed(app)
          ? streamEntries(app, lookupMany(app, service, ids, level), replace)
          : lookupAll(app, service, ids, level).then((all) => all.map(replace));
      const outcomes = await received.catch(withPlanHint(BASIC_DETAILS));
      await summaries?.report();
      return outcomes;
    },
    write: async (outcomes, { search, isOne }) => {
      const [first] = outcomes;
      if (isOne && first?.error?.code === 'not_found') {
        const { nameHint } = await import('./lookup/ids.ts');
        throw first.error.add({ hint: nameHint(app, first.restaurantId) });
      }
      return isOne && first !== undefined ? writeOne(app, first, search) : writeList(app, outcomes, search);
    },
  });
}

async function readSelection(app: App, words: readonly string[]): Promise<Selection> {
  const { readIds, selectRestaurants } = await import('./lookup/ids.ts');
  if (!words.includes('-')) return selectRestaurants(app, words);
  if (words.length > 1) {
    throw usage('- reads all IDs from stdin and cannot be combined with other IDs', {
      command: again({}, { operands: ['-'], stdin: 'ids.txt' }),
    });
  }
  const { readAllText } = await import('../app/input.ts');
  const ids = readIds(await readAllText(app, 'ids, one per line'));
  refuseKey(app, 'an ID', ids);
  if (ids.length === 0) await app.notes.note('no IDs on stdin, nothing to look up');
  return { ids: [...new Set(ids)] };
}

const BASIC_DETAILS: Hint = {
  text: 'basic details work with every key',
  command: again({ '--fields': 'basic' }),
};

async function writeOne(app: App, outcome: Lookup, search: Selection['search']): Promise<void> {
  const { output, text, error, cachedAt } = outcome;
  if (error !== undefined) throw error;
  const present = async () => {
    const { lookupPresentation, withSearchResults } = await import('../output/render/lookup.ts');
    const shown = isForPeople(app) ? withSearchResults([outcome], search?.rows) : [outcome];
    return lookupPresentation(shown, true, cachedAt ?? app.context.now());
  };
  await writeResult(app, output, present, text);
  await noteSearch(app, search);
  const isRefreshable = cachedAt !== undefined && app.globals.offline !== true;
  if (isRefreshable) await app.notes.note('from the cache (--max-age 0 refreshes)');
}

/** Writes a list of restaurants, unless it is streamed. @throws {AppError} `partial` if some lookups failed */
async function writeList(app: App, outcomes: readonly Lookup[], search: Selection['search']): Promise<void> {
  if (!isStreamed(app)) {
    const { lookupEntries } = await import('../output/lookup-entry.ts');
    await writeResult(app, lookupEntries(outcomes), async () => {
      const { lookupPresentation, withSearchResults } = await import('../output/render/lookup.ts');
      const shown = isForPeople(app) ? withSearchResults(outcomes, search?.rows) : outcomes;
      return lookupPresentation(shown, false, app.context.now());
    });
  }
  await noteSearch(app, search);
  reportFailures(app, outcomes);
}

/** Whether the fields of the last search complete the details. */
const isForPeople = (app: App): boolean => ['table', 'list', 'html'].includes(outputFormat(app));

const isStreamed = (app: App): boolean => outputFormat(app) === 'ndjson';

async function streamEntries(
  app: App,
  outcomes: AsyncIterable<Lookup>,
  replace: (outcome: Lookup) => Lookup,
): Promise<Lookup[]> {
  const { lookupEntry } = await import('../output/lookup-entry.ts');
  const target = openOutput(app);
  const columns = selectedColumns(app);
  const all: Lookup[] = [];
  for await (const received of outcomes) {
    const outcome = replace(received);
    await target.write(`${toJson(lookupEntry(outcome, columns), false)}\n`);
    all.push(outcome);
  }
  await target.finish();
  return all;
}

async function noteSearch(app: App, search: Selection['search']): Promise<void> {
  if (search !== undefined) await app.notes.note(`rows of ${describeRows(app, search)}`);
}

const MAX_NAMED = 3;

const named = (ids: readonly string[]): Word[] =>
  ids.length > MAX_NAMED ? [...ids.slice(0, MAX_NAMED), slot('…')] : [...ids];

/** Lists the failures by code, with the command that retries those that may succeed. @throws {AppError} `partial` */
function reportFailures(app: App, outcomes: readonly Lookup[]): void {
  const failed = outcomes.flatMap(({ restaurantId: id, error }) => (error ? [{ id, error }] : []));
  if (failed.length === 0) return;
  const causes = [...new Set(failed.map(({ error }) => error.code))].map((code) => {
    const ids = failed.filter(({ error }) => error.code === code).map(({ id }) => id);
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
    return `${code} (${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
  });
  const retryable = failed.filter(({ error }) => error.retryable).map(({ id }) => id);
  const message = `${failed.length} of ${outcomes.length} lookups failed: ${causes.join('; ')}`;
  const other = failed.find(({ error }) => error.code !== 'not_found')?.error;
  if (retryable.length === 0 && other !== undefined)
    throw failure('partial', `${message}: ${other.message}`, other.details.hint);
  throw new AppError('partial', message, {
    hint:
      retryable.length === 0
        ? { text: 'these IDs do not exist; search for valid ones', command: exampleSearch(app) }
        : { text: 'retry', command: again({}, { operands: named(retryable) }) },
    retryable: retryable.length > 0,
  });
}

import type { App } from '../app/app.ts';
import type { Outcome } from '../app/lookups.ts';
import type { ResultDocument } from '../app/output.ts';
import type { Service } from '../app/service.ts';
import type { CliCommand, JsonSchema } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { ERROR, object, text } from '../cli/schemas.ts';
import { LEVELS, type Level, type LookupOutput } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { LookupItem } from '../output/render/card.ts';
import { oneOf } from '../settings/values.ts';
import { shellWord } from '../util/shell.ts';
import type { Selection } from './lookup/ids.ts';

/** Maximum number of ids that a message names for each kind of failure. */
const MAX_NAMED = 3;

interface LookupOptions {
  fields: Level;
}

/** Schema of what `lookup --json` prints: the tool's output object, or for several ids a list. */
const LOOKUP_OUTPUT: JsonSchema = {
  anyOf: [
    { type: 'object', description: 'one id: the output object; its fields are up to the service' },
    {
      type: 'array',
      description: 'several ids, in the order asked',
      items: {
        anyOf: [
          object({ restaurant_id: text, output: { type: 'object' } }),
          object({ restaurant_id: text, error: ERROR }),
        ],
      },
    },
  ],
};

/** Adds `lookup` to the program. */
export function registerLookup(program: CliCommand, app: App, action = runLookup): void {
  program
    .command('lookup')
    .summary('Show the details of restaurants by id or row')
    .description('Show the details of one or several restaurants.')
    .argument('<id...>', 'Id (service_id), row (2), rows (1-3), or name from the last search; - for stdin')
    .completeWith('id', 'row')
    .addOption(
      valueOption('--fields <level>', 'Fields to request; standard and premium require a paid key', {
        read: oneOf(LEVELS),
        choices: LEVELS,
        defaultText: 'basic',
      }),
    )
    .usesOptions('service', 'request', 'cache', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(LOOKUP_OUTPUT)
    .examples(
      'restaurant lookup 1 --demo',
      'restaurant lookup 1-2 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo | restaurant lookup - --demo',
    )
    .notes(
      '- reads ids, one per line, or the output of find as JSON, NDJSON, CSV or TSV. Row numbers refer to the last ' +
        'table shown in this terminal: restaurant last. A repeated id is requested once. With several ids --json ' +
        'prints an array of {restaurant_id, output} or {restaurant_id, error}, in the order given.',
    )
    .action((words: string[], options: Partial<LookupOptions>) =>
      action(app, words, { fields: options.fields ?? 'basic' }),
    );
}

/** One restaurant whose failure is the run's, or a list in which some may fail. */
type Found =
  | { readonly one: LookupOutput; readonly cachedAt?: number }
  | { readonly list: readonly Outcome[] };

async function runLookup(app: App, words: readonly string[], { fields }: LookupOptions): Promise<void> {
  const { lookupCall, runServiceCommand } = await import('../app/request.ts');
  const isOne = (ids: readonly string[]): boolean =>
    words.length === 1 && words[0] !== '-' && ids.length === 1;
  await runServiceCommand(app, {
    service: { paced: words.length > 1 || /^(-|\d+-\d+)$/.test(words[0] ?? '') },
    plan: () => readSelection(app, words),
    preview: ({ ids }) => ids.map((id) => lookupCall(id, fields)),
    send: async (service, { ids }): Promise<Found> => {
      const [id = ''] = ids;
      if (!isOne(ids)) return { list: await lookupAll(app, service, ids, fields) };
      const { output, ...cached } = await app
        .withSpinner(`looking up ${id}`, () => service.lookup(id, fields))
        .catch((error: unknown) => Promise.reject(withPlanHint(app, error)));
      return { one: output, ...cached };
    },
    write: async (found, { ids: [id = ''], search }) => {
      if ('list' in found) {
        await noteSearch(app, search);
        return reportFailures(found.list, fields);
      }
      const items = [{ restaurantId: id, output: await withSummary(app, id, found.one, search) }];
      await writeLookups(app, items, found.one, found.cachedAt);
      await noteSearch(app, search);
      if (found.cachedAt !== undefined) await app.note('from the cache (--max-age 0 refreshes)');
    },
  });
}

async function readSelection(app: App, words: readonly string[]): Promise<Selection> {
  const { readIds, resolveWords } = await import('./lookup/ids.ts');
  if (!words.includes('-')) return resolveWords(app, words);
  if (words.length > 1) {
    throw new AppError('usage', '- reads all ids from stdin and cannot be combined with other ids', {
      hint: 'restaurant lookup - < ids.txt',
    });
  }
  const { readAllText } = await import('../app/input.ts');
  const ids = readIds(await readAllText(app, 'ids, one per line'));
  if (ids.length === 0) await app.note('no ids on stdin, nothing to look up');
  return { ids: [...new Set(ids)] };
}

/** Says at a terminal which search a row number came from. */
async function noteSearch(app: App, search: Selection['search']): Promise<void> {
  if (search === undefined) return;
  const { describeSearch } = await import('../app/last-results.ts');
  await app.note(`rows of ${describeSearch(app, search)}`);
}

/** Keys of a search result that basic details may lack. */
const SUMMARY_KEYS = ['address', 'neighborhood', 'city', 'coordinates'] as const;

/** Adds to the card what the search already knew of the restaurant. */
async function withSummary(
  app: App,
  id: string,
  output: LookupOutput,
  search: Selection['search'],
): Promise<LookupOutput> {
  const { outputFormat } = await import('../app/output.ts');
  const isForPeople = ['table', 'html'].includes(outputFormat(app));
  const row = search?.rows?.[search.ids.indexOf(id)];
  if (!isForPeople || typeof row !== 'object' || row === null) return output;
  const known = row as Record<string, unknown>;
  const missing = SUMMARY_KEYS.filter((key) => !Object.hasOwn(output, key) && Object.hasOwn(known, key));
  return { ...output, ...Object.fromEntries(missing.map((key) => [key, known[key]])) };
}

/** Suggests the same words with basic details when these need a paid key. */
function withPlanHint(app: App, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'plan_required') return error;
  const command = app.commandLine().replace(/ --fields[ =]\S+/, '');
  return error.withHint(`${command} works with every key`);
}

/** Looks up many restaurants, some at a time, and writes them in order. */
async function lookupAll(
  app: App,
  service: Service,
  ids: readonly string[],
  level: Level,
): Promise<Outcome[]> {
  const { lookupMany } = await import('../app/lookups.ts');
  const { outputFormat } = await import('../app/output.ts');
  const outcomes = lookupMany(service, ids, level);
  if (outputFormat(app) === 'ndjson') return streamRecords(app, outcomes);
  const all: Outcome[] = [];
  await app.withSpinner('looking up', async () => {
    for await (const outcome of outcomes) all.push(outcome);
  });
  const items = all.map(({ restaurantId, output, error }) =>
    output === undefined
      ? { restaurantId, failure: { code: error.code, message: error.message } }
      : { restaurantId, output },
  );
  await writeLookups(app, items, await Promise.all(all.map(asRecord)));
  return all;
}

async function asRecord({ restaurantId, output, error }: Outcome): Promise<Record<string, unknown>> {
  if (error === undefined) return { restaurant_id: restaurantId, output };
  const { errorFields } = await import('../output/problem.ts');
  return { restaurant_id: restaurantId, error: errorFields(error) };
}

/** Writes each record as soon as it and those before it are complete. */
async function streamRecords(app: App, outcomes: AsyncIterable<Outcome>): Promise<Outcome[]> {
  const { openOutput, selectedColumns } = await import('../app/output.ts');
  const { pick } = await import('../output/records.ts');
  const { toJson } = await import('../util/json.ts');
  const target = openOutput(app);
  const columns = selectedColumns(app);
  const all: Outcome[] = [];
  for await (const outcome of outcomes) {
    const record = await asRecord(outcome);
    if (columns !== undefined && outcome.output !== undefined) record.output = pick(outcome.output, columns);
    await target.write(`${toJson(record, false)}\n`);
    all.push(outcome);
  }
  await target.finish();
  return all;
}

async function writeLookups(
  app: App,
  items: readonly LookupItem[],
  json: unknown,
  cachedAt?: number,
): Promise<void> {
  const { writeResult } = await import('../app/output.ts');
  const document: ResultDocument = {
    json,
    present: async () => {
      const { lookupPresentation } = await import('../output/render/lookup.ts');
      return {
        ...lookupPresentation(items, json),
        page: async (columns) => {
          const { lookupPage } = await import('../output/html/rows.ts');
          return lookupPage(items, cachedAt ?? app.context.now(), columns);
        },
      };
    },
  };
  await writeResult(app, document);
}

/** @throws {AppError} `partial` when some lookups of a list failed */
function reportFailures(all: readonly Outcome[], level: Level): void {
  const failed = all.filter((outcome) => outcome.error !== undefined);
  if (failed.length === 0) return;
  throw new AppError('partial', `${failed.length} of ${all.length} lookups failed: ${causesOf(failed)}`, {
    hint: retryHint(failed, level),
    retryable: failed.some(({ error }) => error?.retryable === true),
  });
}

/** Returns the command that repeats what may work the next time; an id that does not exist never will. */
function retryHint(failed: readonly Outcome[], level: Level): string {
  const again = failed
    .filter(({ error }) => error?.retryable === true)
    .map(({ restaurantId }) => restaurantId);
  if (again.length === 0) {
    return 'these ids do not exist; use restaurant find <name> --city <city> to get valid ids';
  }
  const fields = level === 'basic' ? '' : ` --fields ${level}`;
  const more = again.length > MAX_NAMED ? ' …' : '';
  return `retry: restaurant lookup ${again.slice(0, MAX_NAMED).map(shellWord).join(' ')}${more}${fields}`;
}

/** Lists the failures by code, with the first ids of each, on one line. */
function causesOf(failed: readonly Outcome[]): string {
  const byCode = new Map<string, string[]>();
  for (const { restaurantId, error } of failed) {
    const code = error?.code ?? 'unexpected';
    byCode.set(code, [...(byCode.get(code) ?? []), restaurantId]);
  }
  const causes = [...byCode].map(([code, ids]) => {
    const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
    return `${code} (${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
  });
  return causes.join('; ');
}

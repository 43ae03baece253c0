import { checkId, isRowNumber, readIds } from '../actions/ids.ts';
import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { LOOKUP_OUTPUT } from '../cli/schemas.ts';
import { LEVELS, type Level } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { oneOf } from '../settings/values.ts';

interface LookupOptions {
  fields: Level;
}

/** Adds `lookup` to the program. */
export function registerLookup(program: CliCommand, app: App, action = runLookup): void {
  program
    .command('lookup')
    .summary('details of restaurants, by id or row number')
    .description('Show the details of one or several restaurants.')
    .argument('<id...>', 'a service_id, a row number of the last find, or - to read ids from stdin')
    .completeWith('id', 'row')
    .addOption(
      valueOption('--fields <level>', 'level of detail; beyond basic needs a paid key', {
        read: oneOf(LEVELS),
        choices: LEVELS,
        defaultText: 'basic',
      }),
    )
    .usesOptions('service', 'request', 'cache', 'preview', 'json', 'records', 'file', 'page')
    .outputSchema(LOOKUP_OUTPUT)
    .examples(
      'restaurant lookup 1 --demo',
      'restaurant lookup 1 2 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo --json | restaurant lookup - --demo',
    )
    .notes(
      'From stdin come ids, one a line, or what find --json prints. An id given twice is ' +
        'asked once. With several ids --json prints an array of {restaurant_id, output} or ' +
        '{restaurant_id, error}, in the order asked.',
    )
    .action((words: string[], options: Partial<LookupOptions>) =>
      action(app, words, { fields: options.fields ?? 'basic' }),
    );
}

async function runLookup(app: App, words: readonly string[], { fields }: LookupOptions): Promise<void> {
  const { checkOutput } = await import('../app/output.ts');
  checkOutput(app);
  const list = words.length > 1 || words[0] === '-';
  const ids = await gatherIds(app, words);
  const { lookupCall, printPreview } = await import('../app/request.ts');
  if (
    await printPreview(
      app,
      ids.map((id) => lookupCall(id, fields)),
    )
  )
    return;
  const { lookupAll, lookupOne } = await import('../actions/lookup.ts');
  const [only] = ids;
  if (!list && only !== undefined) return lookupOne(app, only, fields);
  await lookupAll(app, ids, fields);
}

/** The ids that the words stand for: checked, row numbers looked up, each once, in order. */
async function gatherIds(app: App, words: readonly string[]): Promise<string[]> {
  if (words.includes('-') && words.length > 1) {
    throw new AppError('usage', '- reads all ids from stdin, so no other can stand beside it', {
      hint: 'restaurant lookup - < ids.txt',
    });
  }
  if (words[0] === '-') {
    const { readAllText } = await import('../app/input.ts');
    return [...new Set(readIds(await readAllText(app, 'ids, one a line')))];
  }
  const rows = words.some(isRowNumber) ? await lastRows(app) : [];
  const ids = words.map((word) => (isRowNumber(word) ? rowId(rows, Number(word)) : checkId(word)));
  return [...new Set(ids)];
}

async function lastRows(app: App): Promise<readonly string[]> {
  const { requireLastResults } = await import('../app/last-results.ts');
  return requireLastResults(app);
}

function rowId(rows: readonly string[], number: number): string {
  const id = rows[number - 1];
  if (id !== undefined && id !== '') return id;
  const has =
    rows.length === 0
      ? 'it found nothing'
      : rows.length === 1
        ? 'it has 1 row'
        : `it has rows 1 to ${rows.length}`;
  throw new AppError('not_found', `no row ${number} in the last find: ${has}`, {
    hint: 'restaurant find <name> --city <city> makes a new list',
  });
}

import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, RESTAURANT, text } from '../cli/schemas.ts';
import { SUMMARY_COLUMNS } from '../util/summary-columns.ts';

const LAST_OUTPUT = object({ name: text, city: text, results: list(RESTAURANT) }, ['results']);

/** Adds `last` to the program. */
export function registerLast(program: CliCommand, app: App): void {
  program
    .command('last')
    .summary('Show the last table of this terminal again')
    .description('Show the rows of the last search again. Nothing is sent.')
    .usesOptions('json', 'records', 'file', 'page')
    .outputSchema(LAST_OUTPUT)
    .examples('restaurant last')
    .notes('The numbers are those that restaurant lookup takes: restaurant lookup 2.')
    .action(() => showLast(app));
}

async function showLast(app: App): Promise<void> {
  const { describeSearch, lastSearch } = await import('../app/last-results.ts');
  const { checkOutputOptions, writeResult } = await import('../app/output.ts');
  checkOutputOptions(app, SUMMARY_COLUMNS);
  const search = lastSearch(app) ?? { endpoint: '', at: 0, ids: [], names: [] };
  const {
    ids,
    names,
    query,
    rows = ids.map((id, index) => ({ service_id: id, name: names[index] })),
  } = search;
  const json = { ...query, results: rows };
  const { findPresentation } = await import('../output/render/find.ts');
  await writeResult(app, {
    ...findPresentation(json, rows),
    page: async (columns) => {
      const { findPage } = await import('../output/html/rows.ts');
      return findPage(
        rows,
        { name: query?.name ?? '', city: query?.city ?? '', at: search.at, total: rows.length },
        columns,
      );
    },
  });
  await app.note(
    ids.length === 0
      ? 'no search was made yet: restaurant find <name> --city <city>'
      : describeSearch(app, search),
  );
}

import type { App } from '../app/app.ts';
import { describeRows, lastSearch, numberSearchAgain } from '../app/last-results.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import { DEMO } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, RESTAURANT, text } from '../cli/schemas.ts';
import { exampleSearch } from '../hint.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';

export function registerLast(command: CliCommand, app: App): void {
  command
    .about('Show the results of your last search', 'Sends no request.')
    .usesOptions('demo', 'json', 'records', 'file', 'page')
    .outputSchema(object({ 'name?': text, 'city?': text, results: list(RESTAURANT) }))
    .examples('restaurant last')
    .notes('restaurant lookup 2 shows the details of row 2.')
    .action(() => showLast(app));
}

async function showLast(app: App): Promise<void> {
  await checkOutput(app, 'restaurants', SUMMARY_COLUMNS);
  const last = lastSearch(app);
  const search = app.globals.demo === true && last?.endpoint !== DEMO ? undefined : last;
  const { query, rows = [] } = search ?? {};
  const json = { ...query, results: rows };
  await writeResult(app, json, async () => {
    const { findPresentation } = await import('../output/render/find.ts');
    return findPresentation(json, rows, {
      name: '',
      city: '',
      ...query,
      at: search?.at ?? 0,
      total: rows.length,
    });
  });
  if (search !== undefined) numberSearchAgain(app);
  await app.notes.note(
    search === undefined
      ? { text: 'no earlier search', command: exampleSearch() }
      : describeRows(app, search),
  );
}

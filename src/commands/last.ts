import type { App } from '../app/app.ts';
import {
  describeRows,
  isWhole,
  lastSearch,
  numberSearch,
  type Search,
  stayWithDemo,
} from '../app/last-results.ts';
import { checkOutput, showsNumbers, writeResult } from '../app/output.ts';
import { exampleSearch } from '../app/seen-results.ts';
import { DEMO } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, RESTAURANT, text } from '../cli/schemas.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';
import {
  checkResultOptions,
  DISTANCE,
  describeFilters,
  explainEmpty,
  type Refinement,
  refine,
  resultOptions,
} from './find/refine.ts';

export function registerLast(command: CliCommand, app: App): void {
  resultOptions(command.about('Show the results of your last search', 'Sends no request.'))
    .usesOptions('demo', 'json', 'records', 'file', 'page')
    .outputSchema(object({ 'name?': text, 'city?': text, results: list(RESTAURANT) }))
    .examples('restaurant last', 'restaurant last --min-grade A --sort name')
    .notes('Filters apply to these results. restaurant lookup 2 shows the details of row 2.')
    .action((options: Refinement) => showLast(app, options));
}

async function showLast(app: App, options: Refinement): Promise<void> {
  const added = options.near === undefined ? [] : [DISTANCE];
  await checkOutput(app, 'restaurants', [...SUMMARY_COLUMNS, ...added]);
  checkResultOptions(options);
  await stayWithDemo(app, []);
  const last = lastSearch(app);
  const search = app.globals.demo === true && last?.endpoint !== DEMO ? undefined : last;
  const rows = refine(search?.rows ?? [], options);
  const json = { ...search?.query, results: rows };
  await writeResult(app, json, async () => {
    const { findPresentation } = await import('../output/render/find.ts');
    const filters = describeFilters(options);
    const { query, at = 0 } = search ?? {};
    const info = { name: '', city: '', ...query, filters, at, total: rows.length };
    return findPresentation(json, rows, info, added);
  });
  if (search === undefined) await app.notes.note({ text: 'no earlier search', command: exampleSearch(app) });
  else await reportLast(app, search, rows, options);
}

async function reportLast(
  app: App,
  search: Search,
  rows: Search['rows'],
  options: Refinement,
): Promise<void> {
  const what = describeRows(app, search);
  if (rows.length === 0) {
    const hint = explainEmpty(search.rows, options);
    return app.notes.report({ code: 'no_match', message: `no matches in ${what}`, hint });
  }
  if (isWhole(rows, search) || showsNumbers(app)) numberSearch(app, search, rows);
  const count =
    rows.length === search.rows.length ? '' : `${rows.length} of ${search.rows.length} results of `;
  await app.notes.note(`${count}${what}`);
}

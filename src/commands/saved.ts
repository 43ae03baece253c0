import type { App } from '../app/app.ts';
import { hintOf } from '../app/hints.ts';
import {
  checkJqFilter,
  checkOutputOptions,
  outputFormat,
  writeResult,
  writesToTerminal,
} from '../app/output.ts';
import { recordOf, savedStore, shownHere } from '../app/saved.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyOf, CHANGE, list, object, SAVED_RESTAURANT } from '../cli/schemas.ts';
import { LEVELS } from '../client/tools.ts';
import type { Level } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import { SAVED_COLUMNS, savedPresentation } from '../output/render/find.ts';
import { plural } from '../util/plural.ts';

interface SavedOptions {
  readonly refresh?: true;
  readonly exitCode?: true;
  readonly fields?: Level;
}

const SAVED_OUTPUT = anyOf(object({ results: list(SAVED_RESTAURANT) }), {
  ...object({ changes: list(CHANGE) }),
  description: 'with --refresh',
});

export function registerSaved(command: CliCommand, app: App): void {
  command
    .about('List saved restaurants, or check what changed', 'Sends no request without --refresh.')
    .option('--refresh', 'Look up every restaurant again and print what changed')
    .option('--exit-code', 'With --refresh: exit with 10 on changes')
    .valueOption('--fields <level>', 'With --refresh: level of detail', {
      choices: LEVELS,
      defaultText: 'basic',
    })
    .usesOptions('service', 'request', 'json', 'records', 'file', 'page')
    .outputSchema(SAVED_OUTPUT)
    .examples(
      'restaurant saved',
      'restaurant saved --refresh',
      'restaurant saved --refresh --exit-code --quiet',
    )
    .notes(
      '--refresh sends one request per restaurant within the quota, least recently checked first, and ' +
        'records the changes; restaurant changes prints them again. In a pipe, it prints nothing if nothing changed. ' +
        'With another level than last time, only the fields that both levels have are compared.',
    )
    .action((options: SavedOptions) => (options.refresh ? refresh(app, options) : listSaved(app, options)));
}

async function refresh(app: App, { exitCode, fields = 'basic' }: SavedOptions): Promise<void> {
  const { refreshSaved } = await import('./saved/refresh.ts');
  await refreshSaved(app, fields, exitCode === true);
}

async function listSaved(app: App, { exitCode, fields }: SavedOptions): Promise<void> {
  if (exitCode !== undefined || fields !== undefined) {
    const option = exitCode === undefined ? '--fields' : '--exit-code';
    throw usage(`${option} needs --refresh`, { command: again({ '--refresh': true }) });
  }
  checkOutputOptions(app, SAVED_COLUMNS);
  await checkJqFilter(app);
  const records = shownHere(app, savedStore(app).read()).map(recordOf);
  await writeResult(app, { results: records }, async () => savedPresentation(records, app.context.now()));
  await app.notes.note(footer(app, records.length));
}

function footer(app: App, count: number): string {
  const find = hintOf(app, { command: restaurant('save', '1') });
  if (count === 0) return `nothing is saved: after a search, ${find} saves its first result`;
  const check = `${plural(count, 'restaurant')}; ${hintOf(app, { command: restaurant('saved', '--refresh') })} checks what changed`;
  return writesToTerminal(app) && outputFormat(app) === 'table' ? check : plural(count, 'restaurant');
}

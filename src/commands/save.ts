import type { App } from '../app/app.ts';
import { stayWithDemo } from '../app/last-results.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SAVED_RESTAURANT, text } from '../cli/schemas.ts';
import { AppError, usage } from '../errors.ts';
import { again } from '../hint.ts';
import { namedBy, notSaved, openSaved, recordOf, savedRestaurants, severalNamed } from '../lists/saved.ts';
import { cleanLine } from '../util/text.ts';
import { chosenWords } from './pick/words.ts';
import { removeSaved, saveIds } from './save/store.ts';

interface SaveOptions {
  readonly note?: string;
}

export function registerSave(command: CliCommand, app: App): void {
  command
    .about('Save restaurants to watch them for changes')
    .argument('<id...>', 'ID, row number, range (1-3), or name, as for lookup')
    .completeWith('id', 'row')
    .asksWhen(() => app.terminal.canChoose)
    .valueOption('--note <text>', 'Note to keep (empty removes it)')
    .usesOptions('service', 'request', 'json')
    .outputSchema(object({ saved: list(SAVED_RESTAURANT) }))
    .examples('restaurant save 1 --note "for the anniversary" --demo')
    .notes(
      'A row of your last search is saved as it was found, without a request. Any other restaurant is looked up once. ' +
        'To change a note, save the restaurant again.',
    )
    .action(async (words: string[], options: SaveOptions) => {
      const chosen = await chosenWords(app, words);
      if (chosen.length > 0) await save(app, chosen, options);
    });
}

async function save(app: App, words: readonly string[], { note }: SaveOptions): Promise<void> {
  if (note !== undefined && app.secrets.redact(note) !== note) {
    throw usage('the note contains an API key', { command: again({}, { without: ['--note'] }) });
  }
  await stayWithDemo(app, words);
  const { selectRestaurants } = await import('./lookup/ids.ts');
  const { ids } = await selectRestaurants(app, words);
  const { saved, failed } = await saveIds(app, ids, note);
  await writeText(app, { saved: saved.map(recordOf) }, () =>
    saved.map(({ name }) => `${cleanLine(name)} is saved\n`).join(''),
  );
  const [first] = failed;
  if (first === undefined) return;
  const { error } = first;
  if (ids.length === 1) throw error;
  const message = `${failed.length} of ${ids.length} restaurants were not saved: ${error.message}`;
  throw new AppError('partial', message, { hint: error.details.hint, retryable: error.retryable });
}

export function registerUnsave(command: CliCommand, app: App): void {
  command
    .about('Remove saved restaurants', 'Keeps their changes.')
    .argument('<id...>', 'ID or its beginning, name, or row number')
    .completeWith('id', 'saved')
    .asksWhen(() => app.terminal.canChoose)
    .usesOptions('service', 'json')
    .outputSchema(object({ removed: list(object({ id: text, name: text })) }))
    .examples('restaurant unsave Nopa --demo')
    .notes('Row numbers refer to the last table shown in this terminal, usually that of restaurant saved.')
    .action(async (words: string[]) => {
      const chosen = await chosenWords(app, words, 'saved');
      if (chosen.length > 0) await unsave(app, chosen);
    });
}

async function unsave(app: App, words: readonly string[]): Promise<void> {
  const { idsOfRows } = await import('./lookup/ids.ts');
  const answers = openSaved(app, 'share');
  const all = savedRestaurants(answers);
  const named = words.flatMap((word) => {
    const isName = all.some(({ id, name }) => id === word || name === word);
    const rows = isName ? undefined : idsOfRows(app, word);
    return (rows ?? [word]).map((one) => {
      const [found, ...others] = namedBy(one, all);
      if (found === undefined) throw notSaved(word);
      if (others.length > 0) throw severalNamed(word, [found, ...others]);
      return { id: found.id, name: found.name };
    });
  });
  const removed = [...new Map(named.map((one) => [one.id, one])).values()];
  await removeSaved(
    answers,
    removed.map(({ id }) => id),
  );
  await writeText(app, { removed }, () =>
    removed.map(({ name }) => `${cleanLine(name)} is no longer saved\n`).join(''),
  );
}

import type { App } from '../app/app.ts';
import { stayWithDemo } from '../app/last-results.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SAVED_RESTAURANT, text } from '../cli/schemas.ts';
import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { removeSaved, saveIds } from '../lists/save.ts';
import { openSaved, recordOf, savedIfReadable, savedRestaurants, stayWithSavedDemo } from '../lists/saved.ts';
import { cleanLine } from '../util/text.ts';
import { chosenWords, selectRestaurants, stepBefore } from './lookup/select.ts';

interface SaveOptions {
  readonly note?: string;
}

export function registerSave(command: CliCommand, app: App): void {
  command.suggest = (isGuess) => stepBefore(app, command.args, isGuess);
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
  const { ids } = await selectRestaurants(app, words);
  const { saved, failed } = await saveIds(app, ids, note);
  await writeText(app, { saved: saved.map(recordOf) }, () =>
    saved.map(({ name }) => `${cleanLine(name)} is saved\n`).join(''),
  );
  if (failed.length === 0) return;
  if (ids.length === 1) throw failed[0]?.error;
  const { lookupsFailed } = await import('../app/lookup-many.ts');
  throw lookupsFailed(app, failed, ids.length, (left) => again({}, { operands: left }));
}

export function registerUnsave(command: CliCommand, app: App): void {
  command.suggest = (isGuess) => stepBefore(app, command.args, isGuess, savedIfReadable);
  command
    .about('Remove saved restaurants', 'Keeps their changes.')
    .argument('<id...>', 'ID, name, or the beginning of one, or row number')
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
  await stayWithSavedDemo(app);
  const answers = openSaved(app, 'share');
  const saved = savedRestaurants(answers);
  const { ids } = await selectRestaurants(app, words, saved);
  await removeSaved(answers, ids);
  const removed = ids.map((id) => ({ id, name: saved.find((one) => one.id === id)?.name ?? id }));
  await writeText(app, { removed }, () =>
    removed.map(({ name }) => `${cleanLine(name)} is no longer saved\n`).join(''),
  );
}
